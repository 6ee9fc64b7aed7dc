"""Copies of training texts in which words change places with their counterparts (he and she), for a fairer classifier.

After Zhao et al. 2018 (WinoBias) and Zhang et al. 2021 (double perturbation), section 4.2.1. `Whole` is what the second
says, `Combinations` what its released code does. In both a word goes to the first partner that the pairs give it
(both him and his go to her, and her goes to whichever of them the pairs name first: him in the released list, his in
the bundled one, so that the other of the two is swapped away and never in), the words of both texts of a pair are
swapped, and labels are copied.

Differs from the released code: the case of a word is kept (He, She), what follows an apostrophe stays (he's, she's),
and combinations have a limit.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from random import Random
from typing import Protocol

from mohs.errors import BadInput
from mohs.text import Example, Text
from mohs.text.text import like

Pairs = tuple[tuple[str, str], ...]
_APOSTROPHES = "'’"


class Swap(Protocol):
    """A way to make copies."""

    @property
    def pairs(self) -> Pairs:
        """Words that stand for each other."""
        ...

    @property
    def name(self) -> str:
        """What the user calls it."""
        ...

    def __call__(self, text: Text, chance: Random) -> list[Text]:
        """The copies of a text, without the text itself; none where nothing can be swapped."""
        ...


@dataclass(frozen=True)
class _Words:
    pairs: Pairs
    name: str = "pairs"

    @cached_property
    def partners(self) -> dict[str, str]:
        """For each word, in lower case, the first partner seen."""
        found: dict[str, str] = {}
        for one, other in self.pairs:
            if one.lower() != other.lower():
                found.setdefault(one.lower(), other)
                found.setdefault(other.lower(), one)
        return found


@dataclass(frozen=True)
class Whole(_Words):
    """Each text once more, with all of its words swapped."""

    def __call__(self, text: Text, chance: Random) -> list[Text]:
        """One copy, or none."""
        words = swappable(text, self.partners)
        return [text.replace_all(words)] if words else []


@dataclass(frozen=True)
class Combinations(_Words):
    """Each text in all 2^n combinations of its n words swapped or not.

    Beyond `most` (of which the text itself is one) so many are drawn: the text and the one with all words swapped, and
    others together with their opposites, so that every word still stands in exactly half of them. In a pair of texts a
    combination may swap one text and not the other, which can make the label wrong.
    """

    most: int = 64

    def __post_init__(self) -> None:
        if self.most < 2 or self.most % 2:
            raise BadInput(f"most is {self.most}; combinations come with their opposites: give an even number from 2.")

    def __call__(self, text: Text, chance: Random) -> list[Text]:
        """At most `most` - 1 copies."""
        words = list(swappable(text, self.partners).items())
        return [
            text.replace_all(dict(pair for place, pair in enumerate(words) if chosen >> place & 1))
            for chosen in self._chosen(len(words), chance)
        ]

    def _chosen(self, count: int, chance: Random) -> list[int]:
        """Which of so many words are swapped, one bit each."""
        if 1 << count <= self.most:
            return list(range(1, 1 << count))
        drawn = {0}
        while len(drawn) < self.most // 2:
            drawn.add(chance.getrandbits(count - 1))  # the last word stays; it is swapped in the opposite
        every = (1 << count) - 1
        return sorted((drawn - {0}) | {every - chosen for chosen in drawn})


PRESETS: Mapping[str, type[Whole] | type[Combinations]] = {"paper": Whole, "released": Combinations}


def swappable(text: Text, partners: Mapping[str, str]) -> dict[int, str]:
    """The positions of words that have a partner, with that partner in their case."""
    found = {}
    for position, word in enumerate(text.words):
        low = word.lower()
        stem = len(word)
        if low not in partners:
            stem = min((word.find(mark) for mark in _APOSTROPHES if mark in word), default=stem)
            low = word[:stem].lower()
        if low in partners:
            other = like(partners[low], word[:stem]) + word[stem:]
            if other != word:
                found[position] = other
    return found


def with_copies(examples: Iterable[Example], swap: Swap, seed: int) -> Iterator[Example]:
    """Each example, followed by its copies."""
    for example in examples:
        yield example
        for number, text in enumerate(swap(example.text, Random(f"{seed}/swap/{example.id}")), 1):
            yield replace(example, id=f"{example.id}/swap {number}", text=text)


def swapped(examples: list[Example], swap: Swap, source: str, seed: int) -> list[Example]:
    """The examples and their copies; pairs that never occur are refused."""
    found = list(with_copies(examples, swap, seed))
    if len(found) == len(examples):
        count = len({word.lower() for pair in swap.pairs for word in pair})
        raise BadInput(
            f"None of the {count} words of --swap {swap.name} occurs in the training data {source}; "
            "name pairs of words that do, or leave --swap out."
        )
    return found


def digest(swap: Swap) -> str:
    """Equal for equal pairs swapped in the same way."""
    return hashlib.sha256(repr(swap).encode()).hexdigest()[:16]
