"""Random substitution: the baseline that any search has to beat."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import ClassVar

from mohs.attacks.goal import Goal
from mohs.attacks.method import Ask
from mohs.attacks.textfooler import TextFooler
from mohs.engine import BudgetSpent
from mohs.space import Constraint, Source, Space
from mohs.text import Text


@dataclass(frozen=True)
class RandomWords:
    """Visit the words in random order and replace each by a random neighbour, until the model is fooled.

    Uses the space and constraints of TextFooler, but ignores the scores, so a victim that gives only labels is enough.
    Each walk starts from the original.
    """

    paper: ClassVar[str] = "baseline"
    needs_scores: ClassVar[bool] = False
    cost: ClassVar[str] = "one per word, four times"
    word_by_word: ClassVar[bool] = True

    walks: int = 4
    source: Source = TextFooler.source
    constraints: tuple[Constraint, ...] = TextFooler.constraints
    stopwords: frozenset[str] = TextFooler.stopwords

    async def __call__(self, x: Text, goal: Goal, space: Space, ask: Ask) -> Text:
        """One query per step. If none succeeds, the last text queried is returned."""
        current = x
        with suppress(BudgetSpent):
            for _ in range(self.walks):
                current = x
                for p in ask.random.sample(space.positions, len(space.positions)):
                    word = ask.random.choice(space.choices[p])
                    for candidate in await space.allowed(current, [current.replace(p, word)], ask):
                        (probs,) = await ask.victim([candidate])
                        current = candidate
                        if goal.met(probs):
                            return candidate
        return current
