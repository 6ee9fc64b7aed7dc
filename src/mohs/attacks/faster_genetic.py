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
    neighbours (squared distance at most 0.5) with which the original loses at most 5 of log-probability, read with 6
    words on each side. As in the released code, every word with swaps is drawn alike, changed or not, the best of its
    swaps and the original word is taken, parents are drawn in proportion to the probability of the wrong label, and
    any number of words may change. 60 members, 40 generations.

    Preset `no-lm` leaves out the language model, as the released code can.

    Differs from the paper:
    - at the edges of a text the window is shifted, not cut;
    - constraints that the user adds are decided like the language model's where they judge steps, once for the
      original; a child that breaks one on whole texts is bred again;
    - when the budget or the last generation ends the search, the best text ever asked is given back;
    - the vectors and the language model are the run's, where the paper has counter-fitted vectors and a recurrent
      model of its own time;
    - a query budget too small for these numbers makes the population smaller, then the number of swaps tried, and what
      is left of it goes to further populations.

    Preset `textattack` is another search: that of `genetic:textattack`, its sign included, with this language-model
    constraint in a window of 6 words, of the text as it stands against the original, and at most 20% of the words.
    Its recipe stops after 20 generations in the version that we read; 40 are the later one's.
    """

    paper: ClassVar[str] = "Jia et al. 2019"
    needs_scores: ClassVar[bool] = True
    cost: ClassVar[str] = "up to 9 a member (60) and generation (40)"

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
