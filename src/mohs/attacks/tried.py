"""Candidates that the victim was asked about, and the best of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from mohs.attacks.goal import Goal
from mohs.attacks.method import Ask, Scores
from mohs.text import Text


class Strongest(NamedTuple):
    """The candidate nearest to the goal, and its score."""

    text: Text
    score: float


class Tried(NamedTuple):
    """Candidates and the victim's probabilities for each."""

    texts: Sequence[Text]
    probs: Sequence[Scores]

    def winners(self, goal: Goal) -> dict[Text, float]:
        """Those that reach the goal, with their scores."""
        return {self.texts[number]: goal.score(self.probs[number]) for number in goal.reached(self.probs)}

    def strongest(self, goal: Goal) -> Strongest | None:
        """The one nearest to the goal, the first by its string among equals; None if there are none."""
        if not self.probs:
            return None
        scores = goal.each(self.probs)
        top = max(scores)
        return Strongest(min(self.texts[number] for number, score in enumerate(scores) if score == top), top)


async def tried(candidates: Sequence[Text], ask: Ask) -> Tried:
    """Ask about candidates, from the first on, as far as the budget allows; BudgetSpent if it allows none."""
    if not candidates:
        return Tried((), ())
    asked = ask.affordable(candidates) or candidates
    return Tried(asked, await ask.victim(asked))
