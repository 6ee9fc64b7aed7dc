"""Replacement words that differ in their letters: one edit each, every variant.

With `inner`, the first and the last letter stay, and words too short for that are left alone. A letter is what a
reader sees as one, with its accents, also where `min_length` counts them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_lowercase
from typing import ClassVar

from mohs.space.services import Services
from mohs.space.sources import Offers
from mohs.text import Text, characters


class _Letters:
    """What the sources here have in common: they look at the word alone."""

    needs: ClassVar[tuple[str, ...]] = ()

    def spell(self, word: str) -> Offers:
        """The variants of a word."""
        raise NotImplementedError

    async def __call__(self, text: Text, positions: Sequence[int], ask: Services) -> list[Offers]:
        """The variants of each word."""
        return [self.spell(text.words[position]) for position in positions]


@dataclass(frozen=True)
class SwapLetters(_Letters):
    """Two neighbouring letters change places."""

    inner: bool = False
    min_length: int = 2

    def spell(self, word: str) -> Offers:
        """Every swap."""
        return dict.fromkeys(characters.swaps(word, inner=self.inner, min_length=self.min_length), "swap")


@dataclass(frozen=True)
class DropLetter(_Letters):
    """One letter is left out."""

    inner: bool = False
    min_length: int = 2

    def spell(self, word: str) -> Offers:
        """Every deletion."""
        return dict.fromkeys(characters.deletions(word, inner=self.inner, min_length=self.min_length), "delete")


@dataclass(frozen=True)
class AddLetter(_Letters):
    """One letter is put in."""

    inner: bool = False
    min_length: int = 1
    letters: str = ascii_lowercase

    def spell(self, word: str) -> Offers:
        """Every letter at every place."""
        return dict.fromkeys(
            characters.insertions(word, letters=self.letters, inner=self.inner, min_length=self.min_length), "insert"
        )


@dataclass(frozen=True)
class ChangeLetter(_Letters):
    """One letter becomes another."""

    inner: bool = False
    min_length: int = 1
    letters: str = ascii_lowercase

    def spell(self, word: str) -> Offers:
        """Every letter at every place."""
        return dict.fromkeys(
            characters.substitutions(word, letters=self.letters, inner=self.inner, min_length=self.min_length),
            "substitute",
        )


@dataclass(frozen=True)
class Homoglyphs(_Letters):
    """One letter becomes another that looks like it."""

    inner: bool = False
    min_length: int = 1

    def spell(self, word: str) -> Offers:
        """Every letter that has a look-alike."""
        return dict.fromkeys(characters.homoglyphs(word, inner=self.inner, min_length=self.min_length), "homoglyph")


@dataclass(frozen=True)
class Keyboard(_Letters):
    """One letter becomes a neighbour on the keyboard."""

    inner: bool = False
    min_length: int = 1

    def spell(self, word: str) -> Offers:
        """Every slip."""
        return dict.fromkeys(characters.keyboard(word, inner=self.inner, min_length=self.min_length), "keyboard")


@dataclass(frozen=True)
class SplitWord(_Letters):
    """A space is put into the word."""

    min_length: int = 2

    def spell(self, word: str) -> Offers:
        """Every split."""
        return dict.fromkeys(characters.splits(word, min_length=self.min_length), "split")
