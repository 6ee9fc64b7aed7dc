"""Where replacement words come from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from mohs.text import pocket
from mohs.text.text import like


class Source(Protocol):
    """Gives the words that may stand in place of a word, best first, in the case pattern of that word."""

    def __call__(self, word: str) -> list[str]:
        """The replacements of one word; never the word itself."""
        ...


@dataclass(frozen=True)
class Neighbours:
    """The k nearest words by cosine in the bundled counter-fitted vectors, at least that close."""

    k: int = 50
    min_cosine: float = 0.5

    def __call__(self, word: str) -> list[str]:
        """Neighbours of the lower-cased word."""
        found = [like(other, word) for other, _ in pocket.lexicon().near(word.lower(), self.k, self.min_cosine)]
        return [other for other in dict.fromkeys(found) if other != word]
