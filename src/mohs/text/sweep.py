"""Many texts that differ from one text in one word each, and short keys that tell texts apart."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any, TypeVar, overload

from mohs.text.text import Text, brief, is_word

Texts = TypeVar("Texts", bound=Sequence[Text])  # a list, or a Sweep

_LONG = 64  # words; the keys of longer texts are digests, since a search keeps thousands of them


class Sweep(Sequence[Text]):
    """A text with one other word, once for each of some positions and words.

    The texts are made when they are looked at. A victim that takes rows is asked about them without any.
    """

    __slots__ = ("_made", "base", "positions", "words")

    def __init__(self, base: Text, positions: Sequence[int], words: Sequence[str]) -> None:
        self.base, self.positions, self.words = base, positions, words
        self._made: dict[int, Text] = {}

    @classmethod
    def at(cls, base: Text, position: int, words: Sequence[str]) -> Sweep:
        """A text with each of some words at a position."""
        return cls(base, (position,) * len(words), words)

    def pick(self, numbers: Iterable[int]) -> Sweep:
        """Some of them."""
        kept = list(numbers)
        return Sweep(self.base, [self.positions[n] for n in kept], [self.words[n] for n in kept])

    def __len__(self) -> int:
        return len(self.words)

    def __iter__(self) -> Iterator[Text]:
        return (self[number] for number in range(len(self.words)))

    @overload
    def __getitem__(self, at: int) -> Text: ...
    @overload
    def __getitem__(self, at: slice) -> Sweep: ...
    def __getitem__(self, at: int | slice) -> Text | Sweep:
        if isinstance(at, slice):
            return Sweep(self.base, self.positions[at], self.words[at])
        text = self._made.get(at)
        if text is None:
            text = self._made[at] = self.base.replace(self.positions[at], self.words[at])
        return text


def picked(texts: Texts, numbers: Iterable[int]) -> Texts:
    """Some of the texts; those of a sweep stay a sweep."""
    some: Any = texts.pick(numbers) if isinstance(texts, Sweep) else [texts[number] for number in numbers]
    return some  # type: ignore[no-any-return]


class Keys:
    """Keys for texts that were queried: two are equal if the strings are. Nearly all have the gaps of one text."""

    def __init__(self, usual: Text) -> None:
        self._gaps, self._bounds = usual.gaps, usual.bounds

    def __call__(self, texts: Sequence[Text]) -> list[Hashable]:
        """The key of each text."""
        if isinstance(texts, Sweep) and self._by_words(texts.base):
            words = texts.base.words
            around = {p: (words[:p], words[p + 1 :]) for p in dict.fromkeys(texts.positions)}
            if all(map(is_word, texts.words)):
                pairs = zip(map(around.__getitem__, texts.positions), texts.words, strict=True)
                return [(*before, word, *behind) for (before, behind), word in pairs]
        return [self.of(text) for text in texts]

    def of(self, text: Text) -> Hashable:
        """The key of a text: its words, if the rest is as usual."""
        if len(text.words) > _LONG:
            return brief(text.fields)
        if not text.clean:
            text = Text(*text.fields)
        return text.words if self._by_words(text) else (text.words, text.gaps, text.bounds)

    def _by_words(self, text: Text) -> bool:
        return text.clean and len(text.words) <= _LONG and text.gaps == self._gaps and text.bounds == self._bounds
