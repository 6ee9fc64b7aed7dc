"""Lazily made offers: an attack looks at only a few of the misspellings of a long text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from typing import Protocol, runtime_checkable

from mohs.space.sources import Offers

MOST_WORDS_KEPT = 4096  # per space, some 0.5 MB; hundreds of spaces are open at once


@runtime_checkable
class Speller(Protocol):
    """A source that looks only at the word itself."""

    def spell(self, word: str) -> Offers:
        """The replacements of a word."""
        ...


class Spellings(MutableMapping[int, Offers]):
    """The offers of each position: made on demand, and dropped when there are many. Added offers stay."""

    def __init__(self, make: Callable[[int], Offers], positions: Sequence[int]) -> None:
        self._make = make
        self._made: dict[int, Offers] = dict.fromkeys(positions, _NONE)
        self._there: dict[int, None] = {}  # positions whose offers are in memory, the oldest first
        self._count = 0  # the number of their words
        self._entered: dict[int, Offers] = {}

    def made(self, position: int) -> Offers:
        """The initial offers of a position."""
        found = self._made[position]
        if found is _NONE:
            found = self._made[position] = self._make(position)
            self._there[position] = None
            self._count += len(found)
            while self._count > MOST_WORDS_KEPT and len(self._there) > 1:
                oldest = next(iter(self._there))
                del self._there[oldest]
                self._count -= len(self._made[oldest])
                self._made[oldest] = _NONE
        return found

    def leave_out(self, position: int) -> None:
        """Remove a position that has no offers."""
        del self._made[position]
        self._there.pop(position, None)

    def __getitem__(self, position: int) -> Offers:
        found = self._entered.get(position)
        return self.made(position) if found is None else found

    def __setitem__(self, position: int, offers: Offers) -> None:
        self._entered[position] = offers

    def __delitem__(self, position: int) -> None:
        raise TypeError("offers cannot be deleted")

    def setdefault(self, position: int, default: Offers | None = None) -> Offers:
        """The offers of a position, as a dict to add more to."""
        if position not in self._entered:
            self._entered[position] = dict(self.made(position)) if position in self._made else default or {}
        return self._entered[position]

    def __contains__(self, position: object) -> bool:
        return position in self._made or position in self._entered

    def __iter__(self) -> Iterator[int]:
        yield from self._made
        yield from (position for position in self._entered if position not in self._made)

    def __len__(self) -> int:
        return len(self._made.keys() | self._entered.keys())

    def words(self) -> Words:
        """The initial offers, words only."""
        return Words(self, tuple(self._made))


class Words(Mapping[int, tuple[str, ...]]):
    """The words that may stand at each position, made lazily."""

    def __init__(self, spellings: Spellings, positions: tuple[int, ...]) -> None:
        self._spellings = spellings
        self._positions = positions

    def __getitem__(self, position: int) -> tuple[str, ...]:
        return tuple(self._spellings.made(position))

    def __iter__(self) -> Iterator[int]:
        return iter(self._positions)

    def __len__(self) -> int:
        return len(self._positions)


_NONE: Offers = {}  # marks offers that are not in memory; compared by identity
