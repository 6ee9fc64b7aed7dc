"""Natural neighbours of a text: Neighbor_k of Zhang et al. 2021 (Algorithm 1)."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Callable, Hashable, Iterator, Sequence
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

_WORDS_AT_ONCE = 1280  # in the texts of one step: many questions at once, few texts in memory
_WORDS_TIMES_CHANGES = 400_000  # limit for one step in a long text, whose neighbours are all as long


@dataclass(frozen=True)
class Neighbourhood:
    """The texts that a masked language model makes by changing one word: any word, without keeping the meaning.

    The source's settings are the paper's kappa and delta. A word may change again at a later step. `avoid` are
    lower-case words that are never inserted. `floor` drops texts whose perplexity under a causal language model is more
    than `floor` times that of the starting text.
    """

    source: Source = MaskedWords(k=20, gap=3.0)
    avoid: frozenset[str] = frozenset()
    floor: float | None = None

    def __post_init__(self) -> None:
        if self.floor is not None:
            at_least(0, floor=self.floor)

    @property
    def needs(self) -> tuple[str, ...]:
        """The services it uses."""
        return (*self.source.needs, *(() if self.floor is None else ("lm",)))

    @property
    def offers(self) -> int:
        """At most so many words stand at a position; 0 if the source does not say."""
        return int(getattr(self.source, "k", 0))

    async def step(
        self, texts: Sequence[Text], positions: Sequence[int], ask: Services, begun: Text | None = None
    ) -> list[list[Text]]:
        """Neighbor_1 of each text, changing only these positions; `begun` is the starting text (default: the first)."""
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


def room_for_all(texts: int) -> None:
    """Any number of texts may be held."""


def parts(
    texts: Sequence[Text], positions: Sequence[int], words: int
) -> Iterator[tuple[Sequence[Text], Sequence[int]]]:
    """Split one large step into smaller ones: over some of the texts, or some positions of a long text."""
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
    hold: Callable[[int], None] = room_for_all,
) -> AsyncIterator[tuple[int, bool, list[Text]]]:
    """Neighbor_1 to Neighbor_k of a text, in chunks: the level, whether the level is complete, and distinct texts.

    A level holds the texts that exactly that many steps lead to, so the text itself may come back. A level is complete
    as long as at most `most` texts are expected. Beyond that it holds only the neighbours of `breadth` texts, drawn at
    random from the level before, and later levels build on those.
    hold: told how many texts are about to be held for the next level; may refuse.
    """
    if k > 1:
        hold(len(positions) * near.offers)
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
                hold(len(frontier) + len(following))
            yield level, exact, fresh
        width = made / len(frontier) if frontier else 0.0
        frontier = following


async def size_of(x: Text, k: int, near: Neighbourhood, positions: Sequence[int], ask: Services) -> float:
    """An estimate of the size of Neighbor_k. It assumes that each step has as many choices as the first.

    It divides by the number of orders, since steps at different words lead to the same text in any order.
    """
    if near.floor is None:  # counts words, since the neighbours of a long text take minutes to make
        offers = await near.source(x, positions, ask)
        first = sum(sum(word.lower() not in near.avoid for word in words) for words in offers)
    else:
        steps = parts([x], positions, _WORDS_AT_ONCE)
        first = sum([len((await near.step(texts, places, ask))[0]) for texts, places in steps])
    return float(first**k) / math.factorial(min(k, len(positions)))
