"""TextAttack's greedy search: visit words in a fixed order, and give each its best candidate in the current text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress

from mohs.attacks.goal import Goal
from mohs.attacks.method import Ask
from mohs.attacks.tried import tried
from mohs.attacks.winner import pick_winner
from mohs.engine import BudgetSpent
from mohs.space import SentenceSimilarity, Space
from mohs.text import Text
from mohs.text.sweep import Sweep


async def greedy_in_order(
    x: Text,
    order: Iterable[int],
    words: Callable[[int], Sequence[str]] | None,  # None: those of the space for the current text
    goal: Goal,
    space: Space,
    ask: Ask,
    similarity: SentenceSimilarity | None = None,
    *,
    of_step: bool = False,  # the similarity judges steps, and is not computed for a single winner
) -> Text:
    """Replace word by word until the model is fooled. A replacement that does not help is not kept.

    If candidates of a word fool the model, the one most similar to the original is taken, or the strongest if there is
    no similarity. (TextAttack checks only the strongest candidate for success. With more than two classes it can miss
    another that succeeds.)
    """
    (clean,) = await ask.victim([x])
    best, best_score = x, goal.score(clean)
    with suppress(BudgetSpent):
        for p in order:
            new = words(p) if words else (await space.words(best, [p], ask))[0]
            found = await tried(await space.allowed(best, Sweep.at(best, p, new), ask), ask)
            if winners := found.winners(goal):
                current = best if of_step else None
                return await pick_winner(x, current, winners, similarity, ask, weigh_one=not of_step)
            strongest = found.strongest(goal)
            if strongest is not None and strongest.score > best_score:
                best, best_score = strongest
    return best
