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
    """How much each word matters: the L1 norm of the mean gradient of its tokens, relative to the largest.

    Relative, because the gradient of a sure victim is tiny and numbers are rounded before they are compared.
    """

    needs: ClassVar[tuple[str, ...]] = ("gradients",)

    async def __call__(self, x: Text, label: int, positions: Sequence[int], ask: Ask) -> dict[int, float]:
        """One gradient for all words; a word without a token counts nought."""
        if not positions:
            return {}
        (slope,) = await ask.gradients([Labelled(x.fields, label)])
        rows = slope.by_word(x.spans())
        sizes = [float(np.abs(slope.gradient[rows[p]].mean(axis=0)).sum()) if rows[p] else 0.0 for p in positions]
        largest = max(sizes) or 1.0
        return {p: size / largest for p, size in zip(positions, sizes, strict=True)}


@dataclass(frozen=True)
class A2T:
    """Replace words in the order of the gradient's size, each by the near neighbour that hurts most.

    Yoo and Qi 2021, as in the recipe in TextAttack, which is the authors' own: the repository of the paper
    (QData/TextAttack-A2T) trains and attacks by calling it. So `paper` and `textattack` are one and the same. One
    gradient of the true label's log-probability gives the order: of a word's tokens the mean, of that the sum of
    absolute values. Candidates are the 20 nearest words with cosine >= 0.8, of the same part of speech. At most 10% of
    the words change, rounded up and at least four, and the sentence cosine to the original stays at 0.9 or more. Of the
    candidates for a word that fool the victim the most similar is taken, of equals the strongest; if none fools, the
    strongest is kept if it helps.
    A2T-MLM (`paper-mlm`, `textattack-mlm`) takes the 20 best guesses of a masked language model, which reads the text
    as changed so far.

    Differs from the recipe:
    - stopwords are not brought in, and guesses of the masked language model that are no whole words count among the 20;
    - the gradient is that of the true label, not of the predicted one: the same for every text that is attacked;
    - TextAttack looks at the strongest candidate of a word alone to see whether the model is fooled, which can miss
      another that does with more than two classes;
    - words without a token of their own to the victim come last, as there, but in the order of the text;
    - vectors, tagger, encoder (theirs: a DistilBERT trained on sentence similarity) and masked language model are the
      run's. The paper's text was not at hand, only the two repositories.
    """

    paper: ClassVar[str] = "Yoo and Qi 2021"
    needs_scores: ClassVar[bool] = True
    cost: ClassVar[str] = "one gradient, then one a candidate until fooled"

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
