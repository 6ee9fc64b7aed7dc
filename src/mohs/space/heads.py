"""Sources for the union of candidates of AdvGLUE's CompAttack: heads of WordNet's synsets, and some of many typos."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from mohs.space.services import Services
from mohs.space.settings import at_least
from mohs.space.sources import Offers, Source, in_order, offers
from mohs.text import Text


@dataclass(frozen=True)
class HeadLemmas:
    """The first lemma of each of a word's synsets in WordNet, within its commonest part of speech there."""

    needs: ClassVar[tuple[str, ...]] = ("wordnet",)

    async def __call__(self, text: Text, positions: Sequence[int], ask: Services) -> list[Offers]:
        """The heads for each word."""
        words = [text.words[position] for position in positions]
        return [offers(word, ask.wordnet.heads(word.lower()), "wordnet") for word in words]


@dataclass(frozen=True)
class SomeOf:
    """A few offers of a source for each position, drawn with the search's own seed."""

    source: Source
    n: int = 3

    def __post_init__(self) -> None:
        at_least(1, n=self.n)

    @property
    def needs(self) -> tuple[str, ...]:
        """What the source needs."""
        return self.source.needs

    async def __call__(self, text: Text, positions: Sequence[int], ask: Services) -> list[Offers]:
        """At most n words for each position."""
        found = [await in_order(offered, ask) for offered in await self.source(text, positions, ask)]
        return [dict(ask.random.sample(list(offered.items()), min(self.n, len(offered)))) for offered in found]
