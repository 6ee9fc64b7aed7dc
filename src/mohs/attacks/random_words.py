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
    """Walk through the words in random order and replace each by a random neighbour, until the model is fooled.

    Same space and constraints as TextFooler, but the scores are not looked at, so a victim that only gives labels will
    do. Each walk starts from the original.
    """

    paper: ClassVar[str] = "baseline"
    needs_scores: ClassVar[bool] = False
    cost: ClassVar[str] = "one a word, four times"

    walks: int = 4
    source: Source = TextFooler.source
    constraints: tuple[Constraint, ...] = TextFooler.constraints
    stopwords: frozenset[str] = TextFooler.stopwords

    async def __call__(self, x: Text, goal: Goal, space: Space, ask: Ask) -> Text:
        """One text a step; the last one asked is returned if none succeeds."""
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
