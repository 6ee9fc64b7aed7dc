"""Beam search over any space."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mohs.attacks.climb import Move, climb, single_moves, still_open
from mohs.attacks.goal import Goal
from mohs.attacks.method import Ask
from mohs.attacks.textfooler import TextFooler
from mohs.space import Constraint, Source, Space
from mohs.text import Text


@dataclass(frozen=True)
class Beam:
    """Change one more word at each step, and continue with the best few of all texts made that way.

    Each step queries every allowed replacement of every unchanged word, in each text of the beam. The search returns
    the strongest text that reaches the goal. So it misses no success with fewer changed words among the texts seen. A
    beam of one is greedy search. Without a width nothing is cut off: the search then sees every text that allowed steps
    can reach, which can be as many as the space holds.

    Uses the space and constraints of TextFooler and the random baseline unless others are given. If the budget cannot
    pay for a whole step, the rest goes into single replacements, starting with those that gained most before (`climb`).
    """

    paper: ClassVar[str] = "search over any space"
    needs_scores: ClassVar[bool] = True
    cost: ClassVar[str] = "all replacements of all words, times the beam, per step"

    width: int | None = 5  # None keeps every text
    source: Source = TextFooler.source
    constraints: tuple[Constraint, ...] = TextFooler.constraints
    stopwords: frozenset[str] = TextFooler.stopwords

    async def __call__(self, x: Text, goal: Goal, space: Space, ask: Ask) -> Text:
        """One word per step, until the victim is fooled or nothing is left to change."""
        return await beam_search(x, goal, space, single_moves(space), self.width, ask)


async def beam_search(x: Text, goal: Goal, space: Space, moves: list[Move], width: int | None, ask: Ask) -> Text:
    """The strongest text of the first step with a success, or the strongest text seen if there is none."""
    (clean,) = await ask.victim([x])
    beam, best, best_score = [x], x, goal.score(clean)
    gains: dict[int, float] = {}  # of each move, from its last query
    while True:
        steps: dict[Text, int] = {}
        for text in beam:
            made = {text.replace_all(move): i for i, move in enumerate(moves) if still_open(x, text, move)}
            new = [candidate for candidate in made if candidate not in steps]
            steps |= {candidate: made[candidate] for candidate in await space.allowed(text, new, ask)}
        candidates = list(steps)
        if not candidates:
            return best
        if len(ask.affordable(candidates)) < len(candidates):
            order = sorted(range(len(moves)), key=lambda i: (-gains.get(i, 0.0), i))
            best, _ = await climb(x, best, best_score, [moves[i] for i in order], goal, space, ask)
            return best
        probs_of = dict(zip(candidates, await ask.victim(candidates), strict=True))
        ranked = sorted(candidates, key=lambda c: (-goal.score(probs_of[c]), c))
        winner = next((c for c in ranked if goal.met(probs_of[c])), None)
        if winner is not None:
            return winner
        for candidate in reversed(ranked):
            gains[steps[candidate]] = goal.score(probs_of[candidate])
        if goal.score(probs_of[ranked[0]]) > best_score:
            best, best_score = ranked[0], goal.score(probs_of[ranked[0]])
        beam = ranked[:width]
