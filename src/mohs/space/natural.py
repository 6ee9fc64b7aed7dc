"""Natural neighbours of a text: Neighbor_k of Zhang et al. 2021 (Algorithm 1)."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from mohs.engine import together
from mohs.space.fluency import perplexity
from mohs.space.masked import MaskedWords
from mohs.space.services import Services
from mohs.space.settings import at_least
from mohs.space.sources import Source
from mohs.text import Text
from mohs.text.text import brief

_WORDS_AT_ONCE = 1280  # of texts whose neighbours are asked for: many questions at once, few texts in memory
_WORDS_TIMES_CHANGES = 400_000  # in a long text, at once: its neighbours are all as long


@dataclass(frozen=True)
class Neighbourhood:
    """What a masked language model makes of a text by changing one word: any word, and no meaning is kept.

    The source's settings are the paper's kappa and delta. A word may change again at a later step. `avoid` are words
    that are never brought in, in lower case. `floor` leaves out texts whose perplexity to a causal language model is
    more than so many times that of the text where the walk began.
    """

    source: Source = MaskedWords(k=20, gap=3.0)
    avoid: frozenset[str] = frozenset()
    floor: float | None = None

    def __post_init__(self) -> None:
        if self.floor is not None:
            at_least(0, floor=self.floor)

    @property
    def needs(self) -> tuple[str, ...]:
        """What it asks."""
        return (*self.source.needs, *(() if self.floor is None else ("lm",)))

    async def step(
        self, texts: Sequence[Text], positions: Sequence[int], ask: Services, begun: Text | None = None
    ) -> list[list[Text]]:
        """Neighbor_1 of each text, where these words may change; `begun`: where the walk began, if not there."""
        found: list[list[Text]] = []
        for text, places in zip(
            texts, await together(*(self.source(text, positions, ask) for text in texts)), strict=True
        ):
            made = [
                text.replace(position, word)
                for position, offers in zip(positions, places, strict=True)
                for word in offers
                if word.lower() not in self.avoid
            ]
            found.append(list(dict.fromkeys(made)))
        if self.floor is None:
            return found
        return await self._fluent(found, texts[0] if begun is None else begun, ask)

    async def _fluent(self, found: list[list[Text]], begun: Text, ask: Services) -> list[list[Text]]:
        assert self.floor is not None
        distinct = list(dict.fromkeys([begun, *(text for group in found for text in group)]))
        scored = await ask.lm([" ".join(text.fields) for text in distinct])
        ratio = dict(zip(distinct, map(perplexity, scored), strict=True))
        most = self.floor * ratio[begun]
        return [[text for text in group if not ratio[text] > most] for group in found]


def parts(
    texts: Sequence[Text], positions: Sequence[int], words: int
) -> Iterator[tuple[Sequence[Text], Sequence[int]]]:
    """Steps one after the other instead of one large one: from some texts, or from some places of a long text."""
    length = max(map(len, texts), default=0) or 1
    some = max(1, words // length)
    few = max(1, _WORDS_TIMES_CHANGES // length) if some == 1 else len(positions) or 1
    for start in range(0, len(texts), some):
        for first in range(0, max(1, len(positions)), few):
            yield texts[start : start + some], positions[first : first + few]


async def levels(
    x: Text,
    k: int,
    near: Neighbourhood,
    positions: Sequence[int],
    ask: Services,
    *,
    most: int,
    breadth: int,
) -> AsyncIterator[tuple[int, bool, list[Text]]]:
    """Neighbor_1 to Neighbor_k of a text, in chunks: the level, whether all of it is given, and distinct texts.

    A level is what exactly so many steps lead to, so the text itself may come back. All of it is given as long as it
    is expected to have at most `most` texts; beyond that come the neighbours of `breadth` texts of the level before,
    drawn at random, and what follows is built on those.
    """
    frontier, exact, width = [x], True, 1.0
    for level in range(1, k + 1):
        if len(frontier) * width > most and len(frontier) > breadth:
            frontier, exact = sorted(ask.random.sample(sorted(frontier), breadth)), False
        seen: set[Hashable] = set()
        following: list[Text] = []
        made = 0
        for texts, places in parts(frontier, positions, _WORDS_AT_ONCE):
            fresh: list[Text] = []
            for group in await near.step(texts, places, ask, x):
                made += len(group)
                for text in group:
                    key: Any = brief(text.fields)
                    if key not in seen:
                        seen.add(key)
                        fresh.append(text)
            if level < k:
                following += fresh
            yield level, exact, fresh
        width = made / len(frontier) if frontier else 0.0
        frontier = following


async def size_of(x: Text, k: int, near: Neighbourhood, positions: Sequence[int], ask: Services) -> float:
    """About how many texts Neighbor_k has: each step is taken to have as many choices as the first.

    Steps at different words can be taken in any order, and lead to the same text.
    """
    first = sum(
        [len((await near.step(texts, places, ask))[0]) for texts, places in parts([x], positions, _WORDS_AT_ONCE)]
    )
    return float(first**k) / math.factorial(min(k, len(positions)))
