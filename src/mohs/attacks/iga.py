"""The improved genetic attack (Wang, Jin and He 2019)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean
from typing import ClassVar

from mohs.attacks.goal import Goal
from mohs.attacks.method import Ask
from mohs.attacks.population import Member, Scout, sized
from mohs.space import Constraint, Neighbours, Source, Space, WordsBeyond
from mohs.text import Text
from mohs.text.stopwords import ENGLISH, NLTK

Left = tuple[int, ...]  # for each position, how often it may still change


@dataclass(frozen=True)
class IGA:
    """Breed texts from the best swap of every word; cut and join parents, and let words change again.

    Wang et al. 2019, the improved genetic algorithm (preset `paper`). The first generation has one member for each
    word, with that word's best swap. Parents are drawn with equal probability and joined at one random cut. Then one
    random word of the child is replaced by the best synonym of the current word (squared distance at most 0.5) if that
    helps. Each position changes at most 5 times. The best member survives unchanged. 60 members, 20 generations.

    Differs from the paper:
    - written from the paper's description and TextAttack's code, without the authors' code. Where the two are silent or
      differ, it follows the paper's text;
    - at most 20% of the words change, rounded up: this limit is TextAttack's. A child over it is cut again, at most 20
      times;
    - if the first generation exceeds 60, the best 60 survive;
    - a word without synonyms in the original is never drawn;
    - when the budget or the last generation ends the search, the best text ever queried is returned;
    - the vectors are the run's, and the stopword list is ours;
    - if the query budget is too small, the population shrinks first, then the number of synonyms tried. What is left of
      the budget goes to further populations.

    Preset `textattack`: parents are drawn by exp(-score / 0.3), which favours the weak (a bug, imitated on purpose).
    Words are drawn in proportion to how often they may still change, and if no swap helps, others are drawn until one
    does. Stopwords are NLTK's. In TextAttack, only the first 60 words make the first generation, including those
    without synonyms; the very first word gives way to a random one; and a child over the limit is not cut again.
    """

    paper: ClassVar[str] = "Wang et al. 2019"
    needs_scores: ClassVar[bool] = True
    cost: ClassVar[str] = "one per synonym, then up to 51 per member (60) and generation (20)"
    living: ClassVar[bool] = True

    population: int = 60  # S
    generations: int = 20  # M
    replacements: int = 5  # lambda: how often one position may change
    favour_weak: bool = False  # TextAttack's parents
    persist: bool = False  # draw another word if the first did not help
    source: Source = Neighbours(k=50, min_cosine=-1, max_distance=0.5)
    constraints: tuple[Constraint, ...] = (Constraint(WordsBeyond(0.2, up=True), at_most=0),)
    stopwords: frozenset[str] = ENGLISH

    async def __call__(self, x: Text, goal: Goal, space: Space, ask: Ask) -> Text:
        """Start with the best swap of each word, then breed generations."""
        found = await space.words(x, space.positions, ask)
        synonyms = {p: len(words) for p, words in zip(space.positions, found, strict=True) if words}
        if not synonyms:
            return x
        size, tries = sized(ask, self.population, self.generations, mean(synonyms.values()))
        scout = Scout(x, goal, space, ask, tuple(synonyms), tries=tries)
        fresh = (self.replacements,) * len(synonyms)

        async def breed() -> None:
            whole = size == self.population or size >= len(synonyms)
            first = scout.positions if whole else ask.random.sample(scout.positions, size)
            members = await scout.best_swaps([x] * len(first), first)
            bred = [(member, self._left(scout, x, fresh, member)) for member in members]
            for _ in range(self.generations):
                bred = sorted(bred, key=lambda pair: pair[0].order)[:size]
                if bred[0][0].met:
                    break
                bred = [bred[0], *await self._children(bred, scout)]

        return await scout.run(breed, again=size < self.population)

    async def _children(self, bred: Sequence[tuple[Member, Left]], scout: Scout) -> list[tuple[Member, Left]]:
        """Crossover and mutation. There is one child fewer than members."""
        chances = [math.exp(-member.score / 0.3) if self.favour_weak else 1.0 for member, _ in bred]
        drawn = scout.ask.random.choices(bred, chances, k=2 * max(1, len(bred) - 1))
        pairs = list(zip(drawn[0::2], drawn[1::2], strict=True))
        parents = [(one.text, other.text) for (one, _), (other, _) in pairs]
        masks = await scout.masks(parents, lambda _: scout.cut(), scout.either)
        texts = [scout.mixed(*pair, mask) for pair, mask in zip(parents, masks, strict=True)]
        lefts = [
            tuple(b if taken else a for a, b, taken in zip(one, other, mask, strict=True))
            for ((_, one), (_, other)), mask in zip(pairs, masks, strict=True)
        ]
        weights = [
            {p: n if self.favour_weak else 1 for p, n in zip(scout.positions, left, strict=True) if n} for left in lefts
        ]
        members = await scout.perturbed(texts, weights, persist=self.persist)
        return [
            (member, self._left(scout, text, left, member))
            for member, text, left in zip(members, texts, lefts, strict=True)
        ]

    def _left(self, scout: Scout, text: Text, left: Left, member: Member) -> Left:
        """How often each position may still change after a text has become a member."""
        changed = zip(scout.positions, left, strict=True)
        return tuple(n - (text.words[p] != member.text.words[p]) for p, n in changed)


def iga_textattack() -> IGA:
    """The preset `textattack`."""
    return IGA(favour_weak=True, persist=True, stopwords=NLTK)
