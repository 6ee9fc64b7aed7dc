"""Long texts in slices: candidates are as long as the text, so that all of them would take the square of its words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Generic, TypeVar, overload

from mohs.tasks.memory import bytes_of
from mohs.text import Text

Key = TypeVar("Key")
Item = TypeVar("Item")

_BYTES = 8 << 20  # of a slice; the candidates of ordinary texts are one slice
_FEWEST = 16  # a model should have some texts for a batch


def slices(x: Text, keys: Sequence[Key]) -> list[Sequence[Key]]:
    """The keys of candidates of a text, cut so that the candidates of a slice take little memory."""
    size = max(_FEWEST, _BYTES // bytes_of(x))
    return [keys[start : start + size] for start in range(0, len(keys), size)]


class Made(Sequence[Item], Generic[Key, Item]):
    """What a function makes of each key, made when it is looked at."""

    def __init__(self, keys: Sequence[Key], make: Callable[[Key], Item]) -> None:
        self._keys, self._make = keys, make

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[Item]:
        return map(self._make, self._keys)

    @overload
    def __getitem__(self, at: int) -> Item: ...
    @overload
    def __getitem__(self, at: slice) -> list[Item]: ...
    def __getitem__(self, at: int | slice) -> Item | list[Item]:
        return list(map(self._make, self._keys[at])) if isinstance(at, slice) else self._make(self._keys[at])
