"""Counting one search's questions, and stopping it when its budget is spent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic

from mohs.engine.ask import Answer, Item
from mohs.engine.service import Service


class BudgetSpent(Exception):
    """Raised where a search asks for more than its budget allows."""


class Meter(Generic[Item, Answer]):
    """One search's view of a service: remembers its answers and counts distinct questions.

    An answer that comes from a cache, or was already given to another search, counts like a fresh one,
    so the count is a property of the search and not of the schedule.
    """

    __slots__ = ("_known", "_open", "budget", "queries", "service", "spent")

    def __init__(self, service: Service[Item, Answer], budget: int | None = None) -> None:
        self.service = service
        self.budget = budget
        self.queries = 0
        self.spent = False
        self._known: dict[Item, Any] = {}
        self._open = 0  # asks of this search that are under way (more than one inside `together`)

    def remember(self, item: Item, answer: Answer) -> None:
        """Enter an answer that is known already; it counts as a query, since the search will rely on it."""
        if item not in self._known:
            self.queries += 1
        self._known[item] = answer

    async def __call__(self, items: Sequence[Item]) -> list[Answer]:
        """Answers in item order; raises BudgetSpent, asking nothing, if the new items do not all fit."""
        known = self._known
        fresh = [item for item in dict.fromkeys(items) if item not in known]
        if fresh:
            if self.budget is not None and self.queries + len(fresh) > self.budget:
                self.spent = True
                raise BudgetSpent
            self.queries += len(fresh)
            known.update(dict.fromkeys(fresh, _PENDING))
            await self._fetch(fresh)
        if self._open:  # another branch of the same search may be asking some of these right now
            late = [item for item in items if known[item] is _PENDING]
            if late:
                await self._fetch(late)
        return [known[item] for item in items]

    async def _fetch(self, items: list[Item]) -> None:
        self._open += 1
        try:
            self._known.update(zip(items, await self.service.ask(items), strict=True))
        finally:
            self._open -= 1


_PENDING: Any = object()  # an item that was asked and not answered yet
