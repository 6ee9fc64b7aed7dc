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
    """Breed texts: parents by their scores, words from either, then the best replacement of one random word.

    Alzantot et al. 2018. A word is drawn by its number of neighbours (squared distance at most 0.5), among
    those that are still as in the original; of its 8 nearest, the 4 that a language model finds likeliest in place are
    tried (preset `paper`), and the one nearest to the goal is taken if it helps. Parents are drawn by
    exp(score / 0.3); the best member goes on as it is. At most 20% of the words change.

    The default preset, `no-lm`, leaves out the language model and is the same otherwise, so that it needs none.

    Differs from the paper:
    - a text over 20% is never made (a child that would be is bred again, at most 20 times), where the paper counts it
      as a failure in the end;
    - when the budget or the last generation ends the search, the best text ever asked is given back;
    - the language model reads the word with one on each side, as the released code does where it looks ahead, and is
      the one that the run names; the vectors are the run's too, and the stopword list, which stands for the released
      code's 26 most frequent words, is our own;
    - the released code tries 20 neighbours and keeps 5 unless told otherwise; where every word has been changed, it
      changes one again, as none is here;
    - a query budget too small for these numbers makes the population smaller, then the number of neighbours tried, and
      what is left of it goes to further populations.

    Preset `textattack`: parents are drawn by exp(-score / 0.3), which favours the weak, a fault imitated knowingly;
    where a replacement does not help, another word is drawn until one does; the number of neighbours counted is that
    of the 8 nearest (there: of those that the constraints leave, at most 4); 20% are rounded up; NLTK's stopwords; the
    language model reads the whole text (there: all before the word). There, crossovers are not checked at all, and
    words without neighbours can be drawn in vain.

    Preset `adjusted`, AlzAdjusted of Morris et al. 2020 ("Reevaluating Adversarial Examples in Natural Language") by
    its recipe: TextAttack's search without its language model and its 20%; the 50 nearest words with cosine >= 0.9, a
    cosine >= 0.98 in a window of 15 words with the text before the step, short texts included, no new grammar errors.
    The recipe names NLTK's stopwords and no word twice, then drops both from its list; here they hold. The encoder and
    the grammar checker are the run's (there: BERT sentence vectors and LanguageTool).
    """

    paper: ClassVar[str] = "Alzantot et al. 2018"
    needs_scores: ClassVar[bool] = True
    cost: ClassVar[str] = "up to 9 a member (60) and generation (20)"

    population: int = 60  # S
    generations: int = 20  # G
    nearest: int = 8  # N: of the neighbours that count for drawing a word, so many are tried
    temperature: float = 0.3
    favour_weak: bool = False  # TextAttack's sign
    persist: bool = False  # draw another word where the first did not help
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
    """With the language model: the preset `paper`."""
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
    """The preset `adjusted`. That no word changes twice is in the search itself."""
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
