"""The genetic attack of Alzantot et al. 2018."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean
from typing import ClassVar

from mohs.attacks.goal import Goal
from mohs.attacks.method import Ask
from mohs.attacks.population import Member, Scout, sized, strongest
from mohs.space import (
    Constraint,
    FluencyRank,
    GrammarErrors,
    Neighbours,
    SentenceSimilarity,
    Source,
    Space,
    WordsBeyond,
)
from mohs.text import Text
from mohs.text.stopwords import ENGLISH, NLTK


@dataclass(frozen=True)
class Genetic:
    """Breed texts: draw parents by score, mix their words, then take the best replacement of one random word.

    Alzantot et al. 2018. A word is drawn in proportion to its number of neighbours (squared distance at most 0.5),
    among those still unchanged. Of its 8 nearest neighbours, the 4 that a language model finds most likely in place are
    tried (preset `paper`), and the one nearest to the goal is taken if it helps. Parents are drawn by exp(score / 0.3).
    The best member survives unchanged. At most 20% of the words change.

    The default preset, `no-lm`, needs no language model. It is otherwise the same.

    Differs from the paper:
    - a text over 20% is never made; such a child is bred again, at most 20 times. The paper counts it as a failure in
      the end;
    - when the budget or the last generation ends the search, the best text ever queried is returned;
    - the language model reads the word with one word on each side, as the released code does where it looks ahead, and
      is the one that the run names. The vectors are the run's too. The stopword list is ours and stands in for the
      released code's 26 most frequent words;
    - by default, the released code tries 20 neighbours and keeps 5. When every word has changed, it changes one again;
      here none is;
    - if the query budget is too small, the population shrinks first, then the number of neighbours tried. What is left
      of the budget goes to further populations.

    Preset `textattack`: parents are drawn by exp(-score / 0.3), which favours the weak (a bug, imitated on purpose). If
    a replacement does not help, other words are drawn until one does. Words are weighted by their neighbours among the
    8 nearest (in TextAttack: by those that the constraints leave, at most 4). The 20% is rounded up. Stopwords are
    NLTK's. The language model reads the whole text (in TextAttack: all before the word). TextAttack does not check
    crossovers at all, and can draw words without neighbours in vain.

    Preset `adjusted` is AlzAdjusted of Morris et al. 2020 ("Reevaluating Adversarial Examples in Natural Language"),
    following its recipe: TextAttack's search without its language model and its 20%. It uses the 50 nearest words with
    cosine >= 0.9, a cosine >= 0.98 to the text before the step in a window of 15 words (short texts included), and no
    new grammar errors. The recipe names NLTK's stopwords and no word twice, then drops both from its list; here they
    apply. The encoder and the grammar checker are the run's (in the recipe: BERT sentence vectors and LanguageTool).
    """

    paper: ClassVar[str] = "Alzantot et al. 2018"
    needs_scores: ClassVar[bool] = True
    cost: ClassVar[str] = "up to 9 per member (60) and generation (20)"

    population: int = 60  # S
    generations: int = 20  # G
    nearest: int = 8  # N: how many neighbours are tried, of all those that count for drawing a word
    temperature: float = 0.3
    favour_weak: bool = False  # TextAttack's sign
    persist: bool = False  # draw another word if the first did not help
    source: Source = Neighbours(k=50, min_cosine=-1, max_distance=0.5)
    constraints: tuple[Constraint, ...] = (Constraint(WordsBeyond(0.2), at_most=0),)
    stopwords: frozenset[str] = ENGLISH

    async def __call__(self, x: Text, goal: Goal, space: Space, ask: Ask) -> Text:
        """Perturb the original, then breed generations."""
        if not space.positions:
            return x
        counts = {p: len(words) for p, words in space.choices.items()}
        size, tries = sized(ask, self.population, self.generations, min(self.nearest, mean(counts.values())))
        scout = Scout(x, goal, space, ask, space.positions, nearest=self.nearest, tries=tries)

        async def perturb(texts: Sequence[Text]) -> list[Member]:
            weights = [{p: counts[p] for p in scout.unchanged(text)} for text in texts]
            return await scout.perturbed(texts, weights, persist=self.persist)

        async def breed() -> None:
            members = await perturb([x] * size)
            for _ in range(self.generations):
                elite = strongest(members)
                if elite.met:
                    break
                parents = self._parents(members, ask)
                masks = await scout.masks(parents, lambda _: scout.coins(), scout.either)
                children = [scout.mixed(*pair, mask) for pair, mask in zip(parents, masks, strict=True)]
                members = [elite, *await perturb(children)]

        return await scout.run(breed, again=size < self.population)

    def _parents(self, members: Sequence[Member], ask: Ask) -> list[tuple[Text, Text]]:
        sign = -1 if self.favour_weak else 1
        chances = [math.exp(sign * member.score / self.temperature) for member in members]
        drawn = [member.text for member in ask.random.choices(members, chances, k=2 * (len(members) - 1))]
        return list(zip(drawn[0::2], drawn[1::2], strict=True))


def genetic_paper() -> Genetic:
    """The preset `paper`, with the language model."""
    likeliest = Constraint(FluencyRank(window=3), at_most=4)  # K
    return Genetic(constraints=(*Genetic.constraints, likeliest))


def genetic_textattack() -> Genetic:
    """The preset `textattack`."""
    return Genetic(
        favour_weak=True,
        persist=True,
        source=Neighbours(k=8, min_cosine=-1, max_distance=0.5),
        constraints=(Constraint(WordsBeyond(0.2, up=True), at_most=0), Constraint(FluencyRank(), at_most=4)),
        stopwords=NLTK,
    )


def genetic_adjusted() -> Genetic:
    """The preset `adjusted`. The search itself never changes a word twice."""
    return Genetic(
        nearest=50,
        favour_weak=True,
        persist=True,
        source=Neighbours(k=50, min_cosine=0.9),
        constraints=(
            Constraint(SentenceSimilarity(angular=False, window=15, previous=True), at_least=0.98),
            Constraint(GrammarErrors(), at_most=0),
        ),
        stopwords=NLTK,
    )
