"""Counting one search's questions, and stopping it when its budget is spent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic

from mohs.engine.ask import Answer, Item
from mohs.engine.service import Service


class BudgetSpent(Exception):
    """Raised where a search asks for more than its budget allows."""


class Meter(Generic[Item, Answer]):
    """One search's view of a service: remembers its answers and counts distinct questions.

    An answer that comes from a cache, or was already given to another search, counts like a fresh one,
    so the count is a property of the search and not of the schedule.
    """

    __slots__ = ("_asked", "_known", "budget", "service", "spent")

    def __init__(self, service: Service[Item, Answer], budget: int | None = None) -> None:
        self.service = service
        self.budget = budget
        self.spent = False
        self._known: dict[Item, Answer] = {}
        self._asked: set[Item] = set()

    def remember(self, item: Item, answer: Answer) -> None:
        """Enter an answer that is known already; it counts as a query, since the search will rely on it."""
        self._asked.add(item)
        self._known[item] = answer

    @property
    def queries(self) -> int:
        """How many distinct items were asked."""
        return len(self._asked)

    def affordable(self, items: Sequence[Item]) -> int:
        """How many items, from the first on, the budget still allows; those asked before are free.

        If that is not all of them the budget counts as spent.
        """
        if self.budget is None:
            return len(items)
        new: set[Item] = set()
        for count, item in enumerate(items):
            if item not in self._asked:
                new.add(item)
            if len(self._asked) + len(new) > self.budget:
                self.spent = True
                return count
        return len(items)

    async def __call__(self, items: Sequence[Item]) -> list[Answer]:
        """Answers in item order; raises BudgetSpent, asking nothing, if the new items do not all fit."""
        known = self._known
        if self.affordable(items) < len(items):
            raise BudgetSpent
        fresh = [item for item in dict.fromkeys(items) if item not in known]
        if fresh:
            self._asked.update(fresh)  # what another branch of this search is asking now is shared by the service
            known.update(zip(fresh, await self.service.ask(fresh), strict=True))
        return [known[item] for item in items]
