"""CompAttack (Wang et al. 2021, AdvGLUE): typos, synonyms and words in context, all found by one optimisation."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from mohs.attacks.goal import Goal, Targeted, predicted
from mohs.attacks.method import Ask
from mohs.engine import BudgetSpent
from mohs.space import (
    Constraint,
    DropLetter,
    Homoglyphs,
    Keyboard,
    Source,
    Space,
    SwapLetters,
    Union,
    UnmaskedWords,
)
from mohs.space.heads import HeadLemmas, SomeOf
from mohs.text import Text
from mohs.text.kinds import KINDS
from mohs.text.questions import Labelled
from mohs.text.stopwords import NLTK

Floats = npt.NDArray[np.float64]
Moments = tuple[Floats, Floats]

TYPOS = Union(
    (
        SomeOf(DropLetter(inner=True, min_length=3)),
        SomeOf(SwapLetters(inner=True, min_length=5)),
        SomeOf(Union((Keyboard(min_length=3), Homoglyphs(min_length=3)))),
    )
)
KNOWLEDGE = HeadLemmas()
CONTEXT = UnmaskedWords(k=700, ranked=False)
ALL = Union((TYPOS, KNOWLEDGE, CONTEXT))


@dataclass(frozen=True)
class Adam:
    """Adam's step over one array (Kingma and Ba 2015)."""

    rate: float = 0.1
    first: float = 0.9
    second: float = 0.999

    def step(
        self, moments: tuple[Floats, Floats], gradient: Floats, number: int
    ) -> tuple[Floats, tuple[Floats, Floats]]:
        """What to add to the array, and the new moments. number: of the step, from 1."""
        one = self.first * moments[0] + (1 - self.first) * gradient
        two = self.second * moments[1] + (1 - self.second) * gradient**2
        straight = one / (1 - self.first**number)
        return -self.rate * straight / (np.sqrt(two / (1 - self.second**number)) + 1e-8), (one, two)


@dataclass(frozen=True)
class Margin:
    """How the loss constant * max(log p(label) - log p(best other) + confidence, 0) rises with each word's vector."""

    constant: float = 10.0
    confidence: float = 0.0

    needs: ClassVar[tuple[str, ...]] = ("gradients",)

    async def __call__(
        self, text: Text, scores: tuple[float, ...], goal: Goal, places: list[Candidates], ask: Ask
    ) -> list[Floats]:
        """One gradient for each place; all 0 where the loss is at its least."""
        label, other = _pair(goal, scores)
        lead = np.log(scores[label] + 1e-300) - np.log(scores[other] + 1e-300)
        if goal.met(scores) and (not self.confidence or lead + self.confidence <= 0):
            return [np.zeros(place.vectors.shape[1]) for place in places]
        down, up = await ask.gradients([Labelled(text.fields, label), Labelled(text.fields, other)])
        rows = down.by_word(text.spans())
        moved = down.gradient.astype(np.float64) - up.gradient.astype(np.float64)
        return [np.round(self.constant * moved[rows[place.position]].sum(0), 8) for place in places]


@dataclass(frozen=True)
class Candidates:
    """The words that may stand at one position, the old one first, and their vectors."""

    position: int
    words: tuple[str, ...]
    vectors: Floats

    def nearest(self, point: Floats) -> int:
        """The candidate nearest to a point; the first of several."""
        apart = ((self.vectors - point) ** 2).sum(1)
        return int(np.argmin(np.round(apart, 6)))


@dataclass(frozen=True)
class CompAttack:
    """Move the vectors of all words at once, and put the nearest candidate in the place of each.

    Wang et al. 2021, 3.2.1: typos, synonyms and words in context in one attack. The optimisation is that of Carlini and
    Wagner: Adam on a change of every word's vector, with the loss
    constant * max(log p(label) - log p(best other) + confidence, 0) + size of the change. After each step every word is
    projected on its nearest candidate; the victim reads the projected text, and its gradients are taken there. Of the
    texts that reach the goal, the one with the smallest change of vectors is kept.

    Preset `paper` joins three spaces: `typo` (three each of: a deleted inner letter, two swapped inner letters, another
    letter that is near on the keyboard or looks alike), `knowledge` (heads of WordNet's synsets) and `context`.

    The appendix with the details is missing from the paper; step size, constant and number of steps are those of the
    authors' SemAttack. Differs from it:
    - a word of several tokens counts as one at their mean, and moves as a whole; SemAttack moves single tokens;
    - words in context come from a masked language model that reads the word; SemAttack takes the 700 nearest vectors of
      a corpus in context, and words that it has seen eight times;
    - swapped letters are neighbours; there, any two;
    - typos may be of any number of tokens; there, one that is no word adds exactly one unknown token.

    Gradients do not count as queries: each new text costs one query and as many gradients as the loss has classes (2).
    """

    paper: ClassVar[str] = "Wang et al. 2021 (AdvGLUE)"
    needs_scores: ClassVar[bool] = True
    cost: ClassVar[str] = "at most one per step (100), and two gradients per step"
    keeps_label_of: ClassVar[frozenset[str]] = frozenset(KINDS)  # Wang et al. 2021 use it for all, and ask people

    source: Source = ALL
    constraints: tuple[Constraint, ...] = ()
    stopwords: frozenset[str] = NLTK
    steps: int = 100
    clip: float = 0.5  # the longest gradient of a step
    loss: Margin = Margin()
    adam: Adam = Adam()

    @classmethod
    def typo(cls) -> CompAttack:
        """With typos alone."""
        return cls(source=TYPOS)

    @classmethod
    def knowledge(cls) -> CompAttack:
        """With WordNet alone."""
        return cls(source=KNOWLEDGE)

    @classmethod
    def context(cls) -> CompAttack:
        """With words in context alone."""
        return cls(source=CONTEXT)

    async def __call__(self, x: Text, goal: Goal, space: Space, ask: Ask) -> Text:
        """Optimise, project, ask; keep the smallest change that reaches the goal."""
        (clean,) = await ask.victim([x])
        (first,) = await ask.gradients([Labelled(x.fields, goal.label)])
        places = candidates_of(x, space, ask, first.by_word(x.spans()), first.embedding)
        if not places:
            return x
        change = [np.zeros(one.vectors.shape[1]) for one in places]
        moments = [(np.zeros_like(one), np.zeros_like(one)) for one in change]
        best, best_size = x, np.inf
        near, near_score = x, goal.score(clean)
        current, scores = x, clean
        with suppress(BudgetSpent):
            for number in range(1, self.steps + 1):
                slopes = await self.loss(current, scores, goal, places, ask)
                gradient = [2 * moved + slope for moved, slope in zip(change, slopes, strict=True)]
                length = float(np.sqrt(sum(float((one**2).sum()) for one in gradient)))
                shrunk = min(1.0, self.clip / length) if length else 1.0
                for at, one in enumerate(gradient):
                    step, moments[at] = self.adam.step(moments[at], shrunk * one, number)
                    change[at] = change[at] + step
                chosen = [place.nearest(place.vectors[0] + moved) for place, moved in zip(places, change, strict=True)]
                text = x.replace_all(
                    {place.position: place.words[at] for place, at in zip(places, chosen, strict=True) if at}
                )
                if text == current:
                    continue
                current = text
                (scores,) = await ask.victim([text])
                if text == x or not await space.allowed(x, [text], ask):
                    continue
                size = round(sum(_apart(place, at) for place, at in zip(places, chosen, strict=True)), 6)
                if goal.met(scores):
                    if size < best_size:
                        best, best_size = text, size
                elif goal.score(scores) > near_score:
                    near, near_score = text, goal.score(scores)
        return best if best_size < np.inf else near


def candidates_of(
    x: Text, space: Space, ask: Ask, rows: list[list[int]], embedding: npt.NDArray[np.float32]
) -> list[Candidates]:
    """The positions whose words the victim reads, each with its candidates that have a vector."""
    found = []
    for p in space.positions:
        if not rows[p]:
            continue
        vectors = ask.mean_embeddings(space.choices[p])
        kept = [(word, vector) for word, vector in zip(space.choices[p], vectors, strict=True) if vector is not None]
        if kept:
            own = embedding[rows[p]].mean(0)
            table = np.stack([own, *(vector for _, vector in kept)]).astype(np.float64)
            found.append(Candidates(p, (x.words[p], *(word for word, _ in kept)), table))
    return found


def _pair(goal: Goal, scores: tuple[float, ...]) -> tuple[int, int]:
    """The class that must lose, and the one that must win."""
    if isinstance(goal, Targeted):
        rivals = [number for number in range(len(scores)) if number != goal.target]
        return max(rivals, key=lambda number: (scores[number], -number)), goal.target
    others = [-1.0 if number == goal.label else score for number, score in enumerate(scores)]
    return goal.label, predicted(others)


def _apart(place: Candidates, chosen: int) -> float:
    return float(((place.vectors[chosen] - place.vectors[0]) ** 2).sum())
