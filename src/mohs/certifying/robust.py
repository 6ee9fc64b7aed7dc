"""The strongest attack over one space: the worst of several searches, or all texts where there are few."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from heapq import nlargest
from itertools import islice
from typing import ClassVar

from mohs.attacks.goal import Goal
from mohs.attacks.method import Ask, Attack
from mohs.engine import BudgetSpent
from mohs.space import Constraint, Services, Space
from mohs.space.extent import WordsChanged
from mohs.space.sources import Offers
from mohs.text import Text

EVERY = "every text"
_SOME = 512  # texts that are asked together


@dataclass(frozen=True)
class Given:
    """Stands where an attack has its own source of words: here it searches the space of the certificate."""

    needs: ClassVar[tuple[str, ...]] = ()

    async def __call__(self, text: Text, positions: Sequence[int], ask: Services) -> list[Offers]:
        """Nothing: the space is made already."""
        raise AssertionError("an attack asked for words outside the space of the certificate")


def within(space: Space, budget: int | None) -> Space:
    """The space of the certificate with at most so many changed words: the object that attacks search."""
    if budget is None or budget >= len(space.choices):
        return space
    return replace(space, constraints=(*space.constraints, Constraint(WordsChanged(), at_most=budget)))


async def nearest(space: Space, budget: int | None, goal: Goal, ask: Ask, most: int = 1) -> list[Text]:
    """The texts that come nearest to the goal, of all. If one is wanted, the first that reaches it ends the search."""
    best: list[tuple[float, bool, Text]] = []
    texts = space.points(len(space.choices) if budget is None else budget)
    next(texts)  # the original
    while (some := list(islice(texts, _SOME))) and not (most == 1 and best and best[0][1]):
        answers = zip(some, await ask.victim(some), strict=True)
        rated = [(goal.score(scores), goal.met(scores), text) for text, scores in answers]
        best = nlargest(most, [*best, *rated], key=lambda one: (one[1], one[0]))
    return [text for _, _, text in best]


async def proposal_of(attack: Attack, space: Space, budget: int | None, goal: Goal, ask: Ask) -> list[Text]:
    """What an attack proposes within a budget of words; nothing if that is a text outside."""
    own = within(space, budget)
    try:
        found = await attack(space.text, goal, own, ask)
    except BudgetSpent:
        return []
    inside = found != space.text and found in own
    return [found] if inside and (budget is None or len(space.edits(found)) <= budget) else []


def members(attacks: Sequence[tuple[str, Attack]], size: int, most: int) -> Iterator[tuple[str, Attack | None]]:
    """The searches of a space of that size: asking all texts if they are few enough, or else each attack in turn."""
    if size <= most:
        yield EVERY, None
    else:
        yield from attacks
