"""The faster genetic attack of Jia et al. 2019."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import mean
from typing import ClassVar

from mohs.attacks.genetic import Genetic
from mohs.attacks.goal import Goal
from mohs.attacks.method import Ask
from mohs.attacks.population import Member, Scout, judging_whole_texts, sized, strongest
from mohs.engine import together
from mohs.space import Constraint, LogProbDrop, Neighbours, Source, Space, WordsBeyond
from mohs.text import Text
from mohs.text.stopwords import NLTK


@dataclass(frozen=True)
class FasterGenetic:
    """Breed texts whose allowed swaps are fixed once, for the original, so that words do not drift.

    Jia et al. 2019, section 5 and appendix A.3 (preset `paper`). The swaps S(x, i) of a word are those of its 8 nearest
    neighbours (squared distance at most 0.5) that lower the original's log-probability by at most 5, read with 6 words
    on each side. As in the released code, every word with swaps is drawn with equal probability, whether it has changed
    or not; the best of its swaps and the original word is taken; parents are drawn in proportion to the probability of
    the wrong label; and any number of words may change. 60 members, 40 generations.

    Preset `no-lm` leaves out the language model, as the released code can.

    Differs from the paper:
    - at the edges of a text the window is shifted, not cut;
    - constraints that the user adds are applied once to the original if they judge steps, like the language model. A
      child that breaks a constraint on whole texts is bred again;
    - when the budget or the last generation ends the search, the best text ever queried is returned;
    - the vectors and the language model are the run's; the paper uses counter-fitted vectors and a recurrent model of
      its time;
    - if the query budget is too small, the population shrinks first, then the number of swaps tried. What is left of
      the budget goes to further populations.

    Preset `textattack` is a different search: that of `genetic:textattack`, including its sign. It uses this
    language-model constraint in a window of 6 words, comparing the current text with the original, and changes at most
    20% of the words. Its recipe stops after 20 generations in the version that we read; the later version has 40.
    """

    paper: ClassVar[str] = "Jia et al. 2019"
    needs_scores: ClassVar[bool] = True
    cost: ClassVar[str] = "up to 9 per member (60) and generation (40)"

    population: int = 60
    generations: int = 40
    source: Source = Neighbours(k=8, min_cosine=-1, max_distance=0.5)
    constraints: tuple[Constraint, ...] = (Constraint(LogProbDrop(window=13), at_most=5),)
    stopwords: frozenset[str] = frozenset()

    async def __call__(self, x: Text, goal: Goal, space: Space, ask: Ask) -> Text:
        """Fix S(x, i), then breed."""
        fixed = await self._fixed(x, space, ask)
        if not fixed.positions:
            return x
        size, tries = sized(ask, self.population, self.generations, mean(map(len, fixed.choices.values())))
        scout = Scout(x, goal, fixed, ask, fixed.positions, tries=tries, back=True)
        alike = dict.fromkeys(fixed.positions, 1)

        async def breed() -> None:
            members = await scout.perturbed([x] * size, [alike] * size)
            for _ in range(self.generations):
                elite = strongest(members)
                if elite.met:
                    break
                parents = self._parents(members, ask)
                masks = await scout.masks(parents, lambda _: scout.coins(), scout.either)
                children = [scout.mixed(*pair, mask) for pair, mask in zip(parents, masks, strict=True)]
                members = [elite, *await scout.perturbed(children, [alike] * len(children))]

        return await scout.run(breed, again=size < self.population)

    def _parents(self, members: Sequence[Member], ask: Ask) -> list[tuple[Text, Text]]:
        chances = [member.score + 1e-6 for member in members]
        drawn = [member.text for member in ask.random.choices(members, chances, k=2 * (len(members) - 1))]
        return list(zip(drawn[0::2], drawn[1::2], strict=True))

    async def _fixed(self, x: Text, space: Space, ask: Ask) -> Space:
        swaps = [[x.replace(p, word) for word in words] for p, words in space.choices.items()]
        kept = await together(*(space.allowed(x, texts, ask) for texts in swaps))
        choices = {p: tuple(text.words[p] for text in texts) for p, texts in zip(space.choices, kept, strict=True)}
        return replace(judging_whole_texts(space), choices={p: words for p, words in choices.items() if words})


def faster_genetic_without_lm() -> FasterGenetic:
    """The preset `no-lm`."""
    return FasterGenetic(constraints=())


def faster_genetic_textattack() -> Genetic:
    """The preset `textattack`."""
    return Genetic(
        generations=40,
        favour_weak=True,
        persist=True,
        source=Neighbours(k=8, min_cosine=-1, max_distance=0.5),
        constraints=(
            Constraint(WordsBeyond(0.2, up=True), at_most=0),
            Constraint(LogProbDrop(window=6), at_most=5),
        ),
        stopwords=NLTK,
    )
