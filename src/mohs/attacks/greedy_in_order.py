"""Words in a fixed order, each given its best candidate on the text as it stands: the greedy search of TextAttack."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from mohs.attacks.goal import Goal
from mohs.attacks.method import Ask
from mohs.attacks.winner import pick_winner
from mohs.engine import BudgetSpent
from mohs.space import SentenceSimilarity, Space
from mohs.text import Text


async def greedy_in_order(
    x: Text,
    order: Iterable[int],
    words: Callable[[int], Sequence[str]],
    goal: Goal,
    space: Space,
    ask: Ask,
    similarity: SentenceSimilarity | None = None,
) -> Text:
    """Replace word by word until the model is fooled; what does not help is not kept.

    Among the candidates of a word that fool the model the one most similar to the original is taken, or without a
    similarity the strongest. (TextAttack looks at the strongest alone to see whether the model is fooled, which can
    miss another that does with more than two classes.)
    """
    (clean,) = await ask.victim([x])
    best, best_score = x, goal.score(clean)
    try:
        for p in order:
            candidates = await space.allowed(best, [best.replace(p, word) for word in words(p)], ask)
            if not candidates:
                continue
            candidates = ask.affordable(candidates) or candidates  # none fits: asking raises BudgetSpent
            probs_of = dict(zip(candidates, await ask.victim(candidates), strict=True))
            winners = {c: goal.score(probs_of[c]) for c in candidates if goal.met(probs_of[c])}
            if winners:
                return await pick_winner(x, None, winners, similarity, ask, weigh_one=True)
            strongest = min(candidates, key=lambda c: (-goal.score(probs_of[c]), c))
            if goal.score(probs_of[strongest]) > best_score:
                best, best_score = strongest, goal.score(probs_of[strongest])
    except BudgetSpent:
        pass
    return best
