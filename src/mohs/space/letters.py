"""Misspellings: every variant of a word with one edit to its letters.

With `inner`, the first and last letters stay, and words too short for that are left alone. A letter is what a reader
sees as one, including its accents; `min_length` counts letters in this sense too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from string import ascii_lowercase
from typing import ClassVar

from mohs.space.services import Services
from mohs.space.sources import Offers
from mohs.text import Text, characters


@dataclass(frozen=True)
class _Letters:
    """The base of these sources. They look only at the word; their fields are the settings of `variants`."""

    needs: ClassVar[tuple[str, ...]] = ()
    kind: ClassVar[str]  # the name of the edit in records
    variants: ClassVar[Callable[..., list[str]]]

    def spell(self, word: str) -> Offers:
        """Every variant of a word."""
        settings = {field.name: getattr(self, field.name) for field in fields(self)}
        return dict.fromkeys(type(self).variants(word, **settings), self.kind)

    async def __call__(self, text: Text, positions: Sequence[int], ask: Services) -> list[Offers]:
        """The variants of each word."""
        return [self.spell(text.words[position]) for position in positions]


@dataclass(frozen=True)
class _Anywhere(_Letters):
    """Edits that can be restricted to the inside of the word."""

    inner: bool = False
    min_length: int = 1


@dataclass(frozen=True)
class SwapLetters(_Anywhere):
    """Two neighbouring letters are swapped."""

    min_length: int = 2

    kind = "swap"
    variants = characters.swaps


@dataclass(frozen=True)
class DropLetter(_Anywhere):
    """One letter is left out."""

    min_length: int = 2

    kind = "delete"
    variants = characters.deletions


@dataclass(frozen=True)
class AddLetter(_Anywhere):
    """Any letter is inserted, at any place."""

    letters: str = ascii_lowercase

    kind = "insert"
    variants = characters.insertions


@dataclass(frozen=True)
class ChangeLetter(_Anywhere):
    """Any letter is replaced by any other."""

    letters: str = ascii_lowercase

    kind = "substitute"
    variants = characters.substitutions


@dataclass(frozen=True)
class Homoglyphs(_Anywhere):
    """One letter is replaced by one that looks like it."""

    kind = "homoglyph"
    variants = characters.homoglyphs


@dataclass(frozen=True)
class Keyboard(_Anywhere):
    """One letter is replaced by a neighbour on the keyboard."""

    kind = "keyboard"
    variants = characters.keyboard


@dataclass(frozen=True)
class SplitWord(_Letters):
    """A space is inserted into the word."""

    min_length: int = 2

    kind = "split"
    variants = characters.splits
