"""The geometry-inspired attack (Meng and Wattenhofer 2020)."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mohs.attacks.goal import Goal
from mohs.attacks.importance import ranked
from mohs.attacks.method import Ask
from mohs.attacks.pwws import salience
from mohs.engine import BudgetSpent
from mohs.space import Constraint, Neighbours, Source, Space, Synonyms
from mohs.text import Text
from mohs.text.questions import Sentence, SentenceVector
from mohs.text.stopwords import NLTK


@dataclass(frozen=True)
class Projection:
    """How far a change moves the victim's sentence vector along the normal of its nearest decision boundary.

    The normal is that of the text as changed so far, found by DeepFool in the space of the sentence vectors.
    """

    needs: ClassVar[tuple[str, ...]] = ("gradients",)

    async def __call__(self, here: Sentence, candidates: Sequence[Text], ask: Ask) -> dict[Text, float]:
        """(new - old vector) . normal for each candidate."""
        assert here.normal is not None
        moved = await ask.sentence_vectors([SentenceVector(False, candidate.fields) for candidate in candidates])
        found = [float(np.dot(there.vector - here.vector, here.normal)) for there in moved]
        return {text: float(f"{size:.5g}") for text, size in zip(candidates, found, strict=True)}


@dataclass(frozen=True)
class Geometry:
    """Replace words so that the sentence vector moves towards the decision boundary.

    Meng and Wattenhofer 2020. Words are visited once, in the order of their saliency: the drop in the true label's
    probability with [UNK] in their place. At each word, DeepFool finds the nearest boundary from the current text's
    sentence vector. The synonym whose new vector has the largest projection on the boundary's normal is kept if that
    is above zero, until the victim is fooled or `loops` words were visited. The sentence vector is what the victim's
    last layers read: the first token's last state of an encoder, and what the reader of a word model gives.

    Preset `paper` takes synonyms from WordNet, `neighbours` from word vectors.

    Differs from the released code:
    - only words that have candidates are visited, and the saliency of others is not asked;
    - DeepFool considers every class; there, the two most likely;
    - the head of an LSTM, CNN or transformer of `mohs train` is one linear layer. DeepFool then ends after one step;
    - a text that fools the victim although its projection is not above zero is not taken;
    - synonyms need not be in the victim's vocabulary.

    Sentence vectors do not count as queries: each visited word costs one query, and a pass for each candidate.
    """

    paper: ClassVar[str] = "Meng and Wattenhofer 2020"
    needs_scores: ClassVar[bool] = True
    cost: ClassVar[str] = "one per word, then one per visited word until fooled, and a pass per candidate"
    word_by_word: ClassVar[bool] = True

    loops: int = 50
    source: Source = Synonyms()
    constraints: tuple[Constraint, ...] = ()
    stopwords: frozenset[str] = NLTK
    projection: Projection = Projection()
    unknown: str = "[UNK]"

    @classmethod
    def neighbours(cls, loops: int = 50) -> Geometry:
        """With neighbours by word vectors in place of synonyms."""
        return cls(loops, source=Neighbours())

    async def __call__(self, x: Text, goal: Goal, space: Space, ask: Ask) -> Text:
        """Algorithm 1: greedy in the order of saliency."""
        saliency = await salience(x, tuple(space.choices), self.unknown, goal, ask)
        current = x
        (here,) = await ask.sentence_vectors([SentenceVector(True, x.fields)])
        with suppress(BudgetSpent):
            for p in ranked(saliency)[: self.loops]:
                candidates = await space.allowed(current, [current.replace(p, word) for word in space.choices[p]], ask)
                sizes = await self.projection(here, candidates, ask)
                best = min(sizes, key=lambda text: (-sizes[text], text), default=None)
                if best is None or sizes[best] <= 0:
                    continue
                (probs,) = await ask.victim([best])
                current = best
                if goal.met(probs):
                    break
                (here,) = await ask.sentence_vectors([SentenceVector(True, current.fields)])
        return current
