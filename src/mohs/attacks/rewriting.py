"""Tries every rewrite of a text, each by itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mohs.attacks.goal import Goal
from mohs.attacks.method import Ask
from mohs.space import Constraint, Links, Rewriter, Source, Space, Tautologies, Union
from mohs.space.extent import words_changed
from mohs.text import Text


@dataclass(frozen=True)
class Rewriting:
    """Rewrite one field of the text by the rules of a source, and see whether one of the rewrites fools the victim.

    Every rewrite that obeys the constraints is asked, of one field at a time. It replaces no single words. The source
    can be any rewriters, also of your own: `--source tautology+mine.py:MyRewriter`.
    """

    paper: ClassVar[str] = "search over any rewrites"
    needs_scores: ClassVar[bool] = False
    cost: ClassVar[str] = "one per rewrite"
    rewrites: ClassVar[bool] = True
    replaces: ClassVar[bool] = False

    source: Source | Rewriter = Union((Tautologies(), Links()))
    constraints: tuple[Constraint, ...] = ()
    stopwords: frozenset[str] = frozenset()

    async def __call__(self, x: Text, goal: Goal, space: Space, ask: Ask) -> Text:
        """The nearest rewrite that reaches the goal, else the strongest."""
        return await best_rewrite(x, goal, space, ask)


async def best_rewrite(x: Text, goal: Goal, space: Space, ask: Ask) -> Text:
    """Ask all rewrites of a space, as far as the budget allows.

    Of those that reach the goal, the one with the fewest changed words is taken, then the strongest, then the first by
    its string. If none does, the strongest that brings the goal nearer, and the original if none does.
    """
    found = space.rewrites.in_order() if space.rewrites is not None else []
    candidates = await space.allowed(x, found, ask)
    if not candidates:
        return x
    (clean,) = await ask.victim([x])
    probs_of = await ask.scores_of(candidates)
    score = {text: goal.score(probs) for text, probs in probs_of.items()}
    met = [text for text, probs in probs_of.items() if goal.met(probs)]
    if met:
        return min(met, key=lambda text: (words_changed(x, text), -score[text], text))
    return min(
        (text for text in score if score[text] > goal.score(clean)), key=lambda text: (-score[text], text), default=x
    )
