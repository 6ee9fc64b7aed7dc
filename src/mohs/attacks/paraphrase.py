"""Paraphrases of the whole text by any sequence-to-sequence model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mohs.attacks.goal import Goal
from mohs.attacks.method import Ask
from mohs.attacks.rewriting import best_rewrite
from mohs.space import Constraint, Rewriter, SentenceSimilarity, Source, Space
from mohs.space import Paraphrase as Paraphrases
from mohs.text import Text


@dataclass(frozen=True)
class Paraphrase:
    """Try the paraphrases that a sequence-to-sequence model writes, those that keep the meaning.

    `--paraphraser hf:PATH` names the model, and `--source paraphrase:k=20,sampled=yes` says how many it writes and how.
    A sentence encoder must find them similar to the text (a cosine of 0.8).
    """

    paper: ClassVar[str] = "plain paraphrases"
    needs_scores: ClassVar[bool] = False
    cost: ClassVar[str] = "one per paraphrase"
    rewrites: ClassVar[bool] = True
    replaces: ClassVar[bool] = False

    source: Source | Rewriter = Paraphrases()
    constraints: tuple[Constraint, ...] = (Constraint(SentenceSimilarity(angular=False), at_least=0.8),)
    stopwords: frozenset[str] = frozenset()

    async def __call__(self, x: Text, goal: Goal, space: Space, ask: Ask) -> Text:
        """Every paraphrase by itself."""
        return await best_rewrite(x, goal, space, ask)
