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
    """At each step, make the one replacement among all unchanged words that brings the goal nearest.

    A beam search of width one. It continues even if no replacement helps, since a later one may, and returns the best
    text it saw. Uses the space and constraints of TextFooler and the random baseline unless others are given.
    """

    paper: ClassVar[str] = "search over any space"
    needs_scores: ClassVar[bool] = True
    cost: ClassVar[str] = "all replacements of all words per step"

    source: Source = TextFooler.source
    constraints: tuple[Constraint, ...] = TextFooler.constraints
    stopwords: frozenset[str] = TextFooler.stopwords

    async def __call__(self, x: Text, goal: Goal, space: Space, ask: Ask) -> Text:
        """One word per step, until the victim is fooled or nothing is left to change."""
        return await beam_search(x, goal, space, single_moves(space), 1, ask)
