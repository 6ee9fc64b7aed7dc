"""Replacement words that differ in their letters: one edit each, every variant.

With `inner`, the first and the last letter stay, and words too short for that are left alone. A letter is what a
reader sees as one, with its accents, also where `min_length` counts them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from string import ascii_lowercase
from typing import ClassVar

from mohs.space.services import Services
from mohs.space.sources import Offers
from mohs.text import Text, characters


@dataclass(frozen=True)
class SwapLetters:
    """Two neighbouring letters change places."""

    inner: bool = False
    min_length: int = 2

    needs: ClassVar[tuple[str, ...]] = ()

    async def __call__(self, text: Text, positions: Sequence[int], ask: Services) -> list[Offers]:
        """Every swap."""
        edit = partial(characters.swaps, inner=self.inner, min_length=self.min_length)
        return _each(text, positions, edit, "swap")


@dataclass(frozen=True)
class DropLetter:
    """One letter is left out."""

    inner: bool = False
    min_length: int = 2

    needs: ClassVar[tuple[str, ...]] = ()

    async def __call__(self, text: Text, positions: Sequence[int], ask: Services) -> list[Offers]:
        """Every deletion."""
        edit = partial(characters.deletions, inner=self.inner, min_length=self.min_length)
        return _each(text, positions, edit, "delete")


@dataclass(frozen=True)
class AddLetter:
    """One letter is put in."""

    inner: bool = False
    min_length: int = 1
    letters: str = ascii_lowercase

    needs: ClassVar[tuple[str, ...]] = ()

    async def __call__(self, text: Text, positions: Sequence[int], ask: Services) -> list[Offers]:
        """Every letter at every place."""
        edit = partial(characters.insertions, letters=self.letters, inner=self.inner, min_length=self.min_length)
        return _each(text, positions, edit, "insert")


@dataclass(frozen=True)
class ChangeLetter:
    """One letter becomes another."""

    inner: bool = False
    min_length: int = 1
    letters: str = ascii_lowercase

    needs: ClassVar[tuple[str, ...]] = ()

    async def __call__(self, text: Text, positions: Sequence[int], ask: Services) -> list[Offers]:
        """Every letter at every place."""
        edit = partial(characters.substitutions, letters=self.letters, inner=self.inner, min_length=self.min_length)
        return _each(text, positions, edit, "substitute")


@dataclass(frozen=True)
class Homoglyphs:
    """One letter becomes another that looks like it."""

    inner: bool = False
    min_length: int = 1

    needs: ClassVar[tuple[str, ...]] = ()

    async def __call__(self, text: Text, positions: Sequence[int], ask: Services) -> list[Offers]:
        """Every letter that has a look-alike."""
        edit = partial(characters.homoglyphs, inner=self.inner, min_length=self.min_length)
        return _each(text, positions, edit, "homoglyph")


@dataclass(frozen=True)
class Keyboard:
    """One letter becomes a neighbour on the keyboard."""

    inner: bool = False
    min_length: int = 1

    needs: ClassVar[tuple[str, ...]] = ()

    async def __call__(self, text: Text, positions: Sequence[int], ask: Services) -> list[Offers]:
        """Every slip."""
        edit = partial(characters.keyboard, inner=self.inner, min_length=self.min_length)
        return _each(text, positions, edit, "keyboard")


@dataclass(frozen=True)
class SplitWord:
    """A space is put into the word."""

    min_length: int = 2

    needs: ClassVar[tuple[str, ...]] = ()

    async def __call__(self, text: Text, positions: Sequence[int], ask: Services) -> list[Offers]:
        """Every split."""
        return _each(text, positions, partial(characters.splits, min_length=self.min_length), "split")


def _each(text: Text, positions: Sequence[int], edit: Callable[[str], list[str]], name: str) -> list[Offers]:
    return [dict.fromkeys(edit(text.words[position]), name) for position in positions]
