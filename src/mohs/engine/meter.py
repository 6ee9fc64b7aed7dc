"""Counting one search's questions, and stopping it when its budget is spent."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable, Sequence
from typing import Generic, Protocol, TypeVar

from mohs.engine.question import Answer, Item

ItemIn = TypeVar("ItemIn", contravariant=True)
AnswerOut = TypeVar("AnswerOut", covariant=True)


class Answers(Protocol[ItemIn, AnswerOut]):
    """Whatever answers questions: a service, or a memory of one."""

    def ask(self, items: Sequence[ItemIn]) -> Awaitable[Sequence[AnswerOut]]:
        """The answers in item order, once they are there."""
        ...


def itself(item: Hashable) -> Hashable:
    """An item that stands for itself in a memory."""
    return item


class BudgetSpent(Exception):
    """Raised where a search asks for more than its budget allows."""


class Meter(Generic[Item, Answer]):
    """One search's view of a service: remembers its answers and counts distinct questions.

    An answer that comes from a cache, or was already given to another search, counts like a fresh one,
    so the count is a property of the search and not of the schedule. `key` says what stands for an item in the
    memory, where whole items would be too large to keep.
    """

    __slots__ = ("_asked", "_key", "_known", "budget", "service", "spent")

    def __init__(
        self,
        service: Answers[Item, Answer],
        budget: int | None = None,
        key: Callable[[Item], Hashable] = itself,
    ) -> None:
        self.service = service
        self.budget = budget
        self.spent = False
        self._key = key
        self._known: dict[Hashable, Answer] = {}
        self._asked: set[Hashable] = set()

    def remember(self, item: Item, answer: Answer) -> None:
        """Enter an answer that is known already; it counts as a query, since the search will rely on it."""
        key = self._key(item)
        self._asked.add(key)
        self._known[key] = answer

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
        new: set[Hashable] = set()
        for count, item in enumerate(items):
            key = self._key(item)
            if key not in self._asked:
                new.add(key)
            if len(self._asked) + len(new) > self.budget:
                self.spent = True
                return count
        return len(items)

    async def __call__(self, items: Sequence[Item]) -> list[Answer]:
        """Answers in item order; raises BudgetSpent, asking nothing, if the new items do not all fit."""
        if self.affordable(items) < len(items):
            raise BudgetSpent
        keys = list(map(self._key, items))
        fresh = _fresh(keys, items, self._known)
        if fresh:
            self._asked.update(fresh)  # what another branch of this search is asking now is shared by the service
            await _learn(self._known, fresh, self.service)
        return [self._known[key] for key in keys]


class Memory(Generic[Item, Answer]):
    """A service that is not asked the same twice, for searches that follow one another: they count as if it were."""

    __slots__ = ("_key", "_known", "service")

    def __init__(self, service: Answers[Item, Answer], key: Callable[[Item], Hashable] = itself) -> None:
        self.service = service
        self._key = key
        self._known: dict[Hashable, Answer] = {}

    async def ask(self, items: Sequence[Item]) -> list[Answer]:
        """Answers in item order; only what is new is asked."""
        keys = list(map(self._key, items))
        if fresh := _fresh(keys, items, self._known):
            await _learn(self._known, fresh, self.service)
        return [self._known[key] for key in keys]


def _fresh(keys: Sequence[Hashable], items: Sequence[Item], known: dict[Hashable, Answer]) -> dict[Hashable, Item]:
    return {key: item for key, item in zip(keys, items, strict=True) if key not in known}


async def _learn(known: dict[Hashable, Answer], fresh: dict[Hashable, Item], service: Answers[Item, Answer]) -> None:
    known.update(zip(fresh, await service.ask(list(fresh.values())), strict=True))
