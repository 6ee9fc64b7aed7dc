"""HotFlip on words (Ebrahimi et al. 2018)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mohs.attacks.goal import Goal, Targeted
from mohs.attacks.method import Ask
from mohs.engine import BudgetSpent
from mohs.space import Constraint, Neighbours, SamePos, Services, Source, Space
from mohs.space.sources import Offers, some_of
from mohs.text import Text
from mohs.text.inflection import INFLECTED, bases
from mohs.text.questions import Labelled
from mohs.text.stopwords import ENGLISH


@dataclass(frozen=True)
class FirstOrder:
    """First-order estimate of how much a replacement raises the loss: gradient . (new vector - old vector).

    The loss is minus the log-probability of the true label. For a targeted goal it is the log-probability of the
    target. A word of several tokens counts as one token at their mean, which moves as a whole. A replacement that is
    not a single token of the victim has no vector and no estimate.
    """

    needs: ClassVar[tuple[str, ...]] = ("gradients",)

    async def __call__(self, text: Text, goal: Goal, space: Space, ask: Ask) -> dict[Text, float]:
        """All texts with one more replacement at an unchanged position, each with its estimate."""
        label, sign = (goal.target, 1) if isinstance(goal, Targeted) else (goal.label, -1)
        (slope,) = await ask.gradients([Labelled(text.fields, label)])
        rows = slope.by_word(text.spans())
        found: dict[Text, float] = {}
        for p in space.positions:
            if rows[p] and text.words[p] == space.text.words[p]:
                gradient, old = slope.gradient[rows[p]].sum(0), slope.embedding[rows[p]].mean(0)
                for word, new in zip(space.choices[p], ask.embeddings(space.choices[p]), strict=True):
                    if new is not None:
                        found[text.replace(p, word)] = _rounded(sign * float(np.dot(gradient, new - old)))
        return found


def _rounded(value: float) -> float:
    """Five significant digits. A confident victim has tiny gradients that still differ."""
    return float(f"{value:.5g}")


@dataclass(frozen=True)
class OtherLexemes:
    """Filters a source: leaves out other forms of the same word, such as film for films or went for go."""

    source: Source

    @property
    def needs(self) -> tuple[str, ...]:
        """What the source needs, plus vectors: their vocabulary says which guessed forms exist."""
        return tuple(dict.fromkeys((*self.source.needs, "vectors")))

    async def __call__(self, text: Text, positions: Sequence[int], ask: Services) -> list[Offers]:
        """The source's offers without words that can share a base form with the original."""
        exists = ask.vectors.index.__contains__
        found = []
        for position, offered in zip(positions, await self.source(text, positions, ask), strict=True):
            old = _lexemes(text.words[position], exists)
            found.append(some_of(offered, [word for word in offered if not old & _lexemes(word, exists)]))
        return found


def _lexemes(word: str, exists: Callable[[str], bool]) -> set[str]:
    plain = word.lower()
    return {plain}.union(*(bases(plain, tag, exists, exists) for tags in INFLECTED.values() for tag in tags))


@dataclass(frozen=True)
class HotFlip:
    """Flip the words whose change hurts most according to the gradient, by a beam search over few flips.

    Ebrahimi et al. 2018, sections 3 and 5 (words). The loss after a replacement is estimated to first order. The
    estimates of several flips add up, and a beam of ten keeps the best sums. Each step takes one gradient for each text
    of the beam. At most two words are flipped. Constraints: word cosine >= 0.8, the same part of speech, no stopwords,
    no other form of the same word. The victim is queried only about the beam.

    Differs from the paper:
    - candidates are neighbours by the run's vectors; the paper compares the victim's vectors over its vocabulary;
    - forms of a word are recognised by spelling rules;
    - a word of several tokens counts as one (see FirstOrder); the paper's victim reads whole words.

    Differs from TextAttack, which picks the one best word of the whole vocabulary before it checks the constraints, so
    that hardly any step is allowed, and which lets nouns replace verbs. Here the constraints come first. There is no
    preset that imitates it.

    Gradients do not count as queries: each text of the beam costs one query and one gradient.
    """

    paper: ClassVar[str] = "Ebrahimi et al. 2018"
    needs_scores: ClassVar[bool] = True
    cost: ClassVar[str] = "the beam (10) per step, and as many gradients"

    width: int = 10
    flips: int = 2
    source: Source = OtherLexemes(Neighbours(k=50, min_cosine=0.8))
    constraints: tuple[Constraint, ...] = (Constraint(SamePos(noun_is_verb=False), at_least=1),)
    stopwords: frozenset[str] = ENGLISH
    estimate: FirstOrder = FirstOrder()

    async def __call__(self, x: Text, goal: Goal, space: Space, ask: Ask) -> Text:
        """Section 3.3."""
        (clean,) = await ask.victim([x])
        beam, best, best_score = {x: 0.0}, x, goal.score(clean)
        with suppress(BudgetSpent):
            for _ in range(self.flips):
                sums: dict[Text, float] = {}
                for text, so_far in beam.items():
                    gains = await self.estimate(text, goal, space, ask)
                    for candidate in await space.allowed(text, list(gains), ask):
                        total = _rounded(so_far + gains[candidate])
                        sums[candidate] = max(total, sums.get(candidate, total))
                beam = dict(sorted(sums.items(), key=lambda item: (-item[1], item[0]))[: self.width])
                if not beam:
                    break
                probs_of = await ask.scores_of(list(beam))
                strongest = min(probs_of, key=lambda c: (not goal.met(probs_of[c]), -goal.score(probs_of[c]), c))
                if goal.met(probs_of[strongest]):
                    return strongest
                if goal.score(probs_of[strongest]) > best_score:
                    best, best_score = strongest, goal.score(probs_of[strongest])
        return best
