"""Greedy search over any space."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mohs.attacks.beam import beam_search
from mohs.attacks.climb import single_moves
from mohs.attacks.goal import Goal
from mohs.attacks.method import Ask
from mohs.attacks.textfooler import TextFooler
from mohs.space import Constraint, Source, Space
from mohs.text import Text


@dataclass(frozen=True)
class Greedy:
    """At each step make the one replacement, of all words not changed yet, that brings the goal nearest.

    A beam search of width one. It goes on when no replacement helps, since the next one may, and gives back the best
    text that it saw. Same space and constraints as TextFooler and the random baseline unless others are given.
    """

    paper: ClassVar[str] = "search over any space"
    needs_scores: ClassVar[bool] = True
    cost: ClassVar[str] = "all replacements of all words a step"

    source: Source = TextFooler.source
    constraints: tuple[Constraint, ...] = TextFooler.constraints
    stopwords: frozenset[str] = TextFooler.stopwords

    async def __call__(self, x: Text, goal: Goal, space: Space, ask: Ask) -> Text:
        """One word a step, until fooled or nothing is left to change."""
        return await beam_search(x, goal, space, single_moves(space), 1, ask)
