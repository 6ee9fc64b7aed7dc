"""A fallback for a budget that cannot pay for a whole step: try replacements one at a time and keep what helps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress

from mohs.attacks.goal import Goal
from mohs.attacks.method import Ask
from mohs.engine import BudgetSpent
from mohs.space import Space
from mohs.text import Text

Move = Mapping[int, str]  # position -> new word; replaced together, nearly always just one


def single_moves(space: Space) -> list[Move]:
    """Every replacement of one word: first the last choice of each position, then the last but one, and so on.

    Sources give the most similar words first, so this starts with the words that change most.
    """
    longest = max(map(len, space.choices.values()), default=0)
    return [{p: words[-1 - rank]} for rank in range(longest) for p, words in space.choices.items() if rank < len(words)]


def still_open(x: Text, current: Text, move: Move) -> bool:
    """Whether all positions of a move still have their original words."""
    return all(current.words[p] == x.words[p] for p in move)


async def climb(
    x: Text, best: Text, score: float, moves: Iterable[Move], goal: Goal, space: Space, ask: Ask
) -> tuple[Text, float]:
    """Try the moves in order, one query each, starting from the best text so far.

    Returns the first success, or the best text in the end. A search that compares all single replacements before it
    takes one gets nowhere if the budget is below their number. Even a random walk changes many words on such a budget.
    """
    with suppress(BudgetSpent):
        for move in moves:
            if still_open(x, best, move):
                for candidate in await space.allowed(best, [best.replace_all(move)], ask):
                    (probs,) = await ask.victim([candidate])
                    if goal.met(probs):
                        return candidate, goal.score(probs)
                    if goal.score(probs) > score:
                        best, score = candidate, goal.score(probs)
    return best, score
