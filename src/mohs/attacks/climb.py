"""What is left to do when a budget cannot pay for a whole step: try replacements one at a time and keep what helps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress

from mohs.attacks.goal import Goal
from mohs.attacks.method import Ask
from mohs.engine import BudgetSpent
from mohs.space import Space
from mohs.text import Text

Move = Mapping[int, str]  # words by position that are put in together; nearly always one


def single_moves(space: Space) -> list[Move]:
    """Every replacement of one word: the last choice of each position, then the last but one, and so on.

    Sources give the likest words first, so this begins with those that change most.
    """
    longest = max(map(len, space.choices.values()), default=0)
    return [{p: words[-1 - rank]} for rank in range(longest) for p, words in space.choices.items() if rank < len(words)]


def still_open(x: Text, current: Text, move: Move) -> bool:
    """Whether none of the positions of a move is changed yet."""
    return all(current.words[p] == x.words[p] for p in move)


async def climb(
    x: Text, best: Text, score: float, moves: Iterable[Move], goal: Goal, space: Space, ask: Ask
) -> tuple[Text, float]:
    """From the best text so far, one question a move, in their order; the first success, or the best in the end.

    A search that compares all single replacements before it takes one gets nowhere on a budget under their number,
    where even a random walk has changed many words.
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
