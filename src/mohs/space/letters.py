"""Replacement words that differ in their letters: one edit each, every variant.

With `inner`, the first and the last letter stay, and words too short for that are left alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
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
        return _each(text, positions, lambda word: characters.swaps(word, inner=self.inner), "swap", self.min_length)


@dataclass(frozen=True)
class DropLetter:
    """One letter is left out."""

    inner: bool = False
    min_length: int = 2

    needs: ClassVar[tuple[str, ...]] = ()

    async def __call__(self, text: Text, positions: Sequence[int], ask: Services) -> list[Offers]:
        """Every deletion."""
        edit: _Edit = lambda word: characters.deletions(word, inner=self.inner)  # noqa: E731
        return _each(text, positions, edit, "delete", self.min_length)


@dataclass(frozen=True)
class AddLetter:
    """One letter is put in."""

    inner: bool = False
    min_length: int = 1
    letters: str = ascii_lowercase

    needs: ClassVar[tuple[str, ...]] = ()

    async def __call__(self, text: Text, positions: Sequence[int], ask: Services) -> list[Offers]:
        """Every letter at every place."""
        edit: _Edit = lambda word: characters.insertions(word, self.letters, inner=self.inner)  # noqa: E731
        return _each(text, positions, edit, "insert", self.min_length)


@dataclass(frozen=True)
class ChangeLetter:
    """One letter becomes another."""

    inner: bool = False
    min_length: int = 1
    letters: str = ascii_lowercase

    needs: ClassVar[tuple[str, ...]] = ()

    async def __call__(self, text: Text, positions: Sequence[int], ask: Services) -> list[Offers]:
        """Every letter at every place."""
        edit: _Edit = lambda word: characters.substitutions(word, self.letters, inner=self.inner)  # noqa: E731
        return _each(text, positions, edit, "substitute", self.min_length)


@dataclass(frozen=True)
class Homoglyphs:
    """One letter becomes another that looks like it."""

    inner: bool = False
    min_length: int = 1

    needs: ClassVar[tuple[str, ...]] = ()

    async def __call__(self, text: Text, positions: Sequence[int], ask: Services) -> list[Offers]:
        """Every letter that has a look-alike."""
        edit: _Edit = lambda word: characters.homoglyphs(word, inner=self.inner)  # noqa: E731
        return _each(text, positions, edit, "homoglyph", self.min_length)


@dataclass(frozen=True)
class Keyboard:
    """One letter becomes a neighbour on the keyboard."""

    inner: bool = False
    min_length: int = 1

    needs: ClassVar[tuple[str, ...]] = ()

    async def __call__(self, text: Text, positions: Sequence[int], ask: Services) -> list[Offers]:
        """Every slip."""
        edit: _Edit = lambda word: characters.keyboard(word, inner=self.inner)  # noqa: E731
        return _each(text, positions, edit, "keyboard", self.min_length)


@dataclass(frozen=True)
class SplitWord:
    """A space is put into the word."""

    min_length: int = 2

    needs: ClassVar[tuple[str, ...]] = ()

    async def __call__(self, text: Text, positions: Sequence[int], ask: Services) -> list[Offers]:
        """Every split."""
        return _each(text, positions, characters.splits, "split", self.min_length)


_Edit = Callable[[str], list[str]]


def _each(text: Text, positions: Sequence[int], edit: _Edit, name: str, min_length: int) -> list[Offers]:
    words = [text.words[position] for position in positions]
    return [dict.fromkeys(edit(word), name) if len(word) >= min_length else {} for word in words]
