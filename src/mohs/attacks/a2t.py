"""A2T, the attack made for adversarial training (Yoo and Qi 2021)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mohs.attacks.goal import Goal
from mohs.attacks.greedy_in_order import greedy_in_order
from mohs.attacks.importance import ranked
from mohs.attacks.method import Ask
from mohs.space import (
    Constraint,
    MaskedWords,
    Neighbours,
    SamePos,
    SentenceSimilarity,
    Source,
    Space,
    WordsBeyond,
)
from mohs.text import Text
from mohs.text.questions import Labelled
from mohs.text.stopwords import NLTK


@dataclass(frozen=True)
class GradientSize:
    """Importance of a word: the L1 norm of the mean gradient of its tokens, divided by the largest of the text.

    Dividing matters because the gradients of a confident victim are tiny, and numbers are rounded before comparison.
    """

    needs: ClassVar[tuple[str, ...]] = ("gradients",)

    async def __call__(self, x: Text, label: int, positions: Sequence[int], ask: Ask) -> dict[int, float]:
        """One gradient gives the importance of all words. A word without a token gets zero."""
        if not positions:
            return {}
        (slope,) = await ask.gradients([Labelled(x.fields, label)])
        rows = slope.by_word(x.spans())
        sizes = [float(np.abs(slope.gradient[rows[p]].mean(axis=0)).sum()) if rows[p] else 0.0 for p in positions]
        largest = max(sizes) or 1.0
        return {p: size / largest for p, size in zip(positions, sizes, strict=True)}


@dataclass(frozen=True)
class A2T:
    """Replace words in the order of their gradient's size, each by the near neighbour that hurts most.

    Yoo and Qi 2021, as in the recipe in TextAttack. That recipe is the authors' own: the paper's repository
    (QData/TextAttack-A2T) calls it for training and attacks. So the presets `paper` and `textattack` are the same. One
    gradient of the true label's log-probability gives the order of the words: it is averaged over the tokens of a word,
    and the absolute values are summed. Candidates are the 20 nearest words with cosine >= 0.8 and the same part of
    speech. At most 10% of the words change, rounded up and at least four. The sentence cosine to the original stays at
    0.9 or more. If candidates for a word fool the victim, the most similar is taken, and the strongest among equals.
    Otherwise the strongest is kept if it helps.
    A2T-MLM (`paper-mlm`, `textattack-mlm`) uses the 20 best guesses of a masked language model, which reads the text as
    changed so far.

    Differs from the recipe:
    - stopwords are never introduced, and guesses of the masked language model that are not whole words count among the
      20;
    - the gradient is that of the true label, not of the predicted one; the two are the same for every attacked text;
    - TextAttack checks only the strongest candidate of a word for success. With more than two classes it can miss
      another candidate that succeeds;
    - words without a token of their own come last, as in the recipe, but in the order of the text;
    - vectors, tagger, encoder (theirs: a DistilBERT trained on sentence similarity) and masked language model are the
      run's. We had the two repositories, but not the text of the paper.
    """

    paper: ClassVar[str] = "Yoo and Qi 2021"
    needs_scores: ClassVar[bool] = True
    cost: ClassVar[str] = "one gradient, then one per candidate until fooled"
    word_by_word: ClassVar[bool] = True

    source: Source = Neighbours(k=20, min_cosine=0.8)
    constraints: tuple[Constraint, ...] = (
        Constraint(WordsBeyond(share=0.1, up=True, least=4), at_most=0),
        Constraint(SamePos(noun_is_verb=False), at_least=1),
        Constraint(SentenceSimilarity(angular=False), at_least=0.9),
    )
    stopwords: frozenset[str] = NLTK
    similarity: SentenceSimilarity | None = SentenceSimilarity(angular=False)  # picks among winners
    living: bool = False  # candidates are read from the text as changed so far
    importance: GradientSize = GradientSize()

    @classmethod
    def masked(cls) -> A2T:
        """A2T-MLM."""
        return cls(source=MaskedWords(k=20), living=True)

    async def __call__(self, x: Text, goal: Goal, space: Space, ask: Ask) -> Text:
        """One pass over the words."""
        importance = await self.importance(x, goal.label, space.positions, ask)
        return await greedy_in_order(x, ranked(importance), None, goal, space, ask, self.similarity, of_step=True)
