"""Counts the queries of one search, and stops it when its budget is spent."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from typing import Any, Generic, Protocol, TypeVar

from mohs.engine.question import Answer, Item

ItemIn = TypeVar("ItemIn", contravariant=True)
AnswerOut = TypeVar("AnswerOut", covariant=True)


class Answers(Protocol[ItemIn, AnswerOut]):
    """Anything that answers queries: a service, or a memory of one."""

    def ask(self, items: Sequence[ItemIn]) -> Awaitable[Sequence[AnswerOut]]:
        """Await the answers, in item order."""
        ...


def itself(item: Hashable) -> Hashable:
    """The default key: the item itself."""
    return item


Keys = Callable[[Sequence[Item]], Sequence[Hashable]]


class BudgetSpent(Exception):
    """A search asked for more than its budget allows."""


class Meter(Generic[Item, Answer]):
    """One search's view of a service: remembers its answers and counts distinct queries.

    An answer from a cache, or one already given to another search, counts as a query too. So the count depends on
    the search, not on the schedule. `key` maps an item to its key in the memory, for items too large to keep; `keys`
    does so for many items at once.
    """

    __slots__ = ("_asked", "_keys", "_known", "budget", "service", "spent")

    def __init__(
        self,
        service: Answers[Item, Answer],
        budget: int | None = None,
        key: Callable[[Item], Hashable] = itself,
        keys: Keys[Item] | None = None,
    ) -> None:
        self.service = service
        self.budget = budget
        self.spent = False
        self._keys = keys or _one_by_one(key)
        self._known: dict[Hashable, Answer] = {}
        self._asked: set[Hashable] = set()

    def remember(self, item: Item, answer: Answer) -> None:
        """Store a known answer. It counts as a query, because the search will use it."""
        (key,) = self._keys([item])
        self._asked.add(key)
        self._known[key] = answer

    def known(self, item: Item) -> Answer | None:
        """The answer to an item that was asked; None if it was not."""
        return self._known.get(self._keys([item])[0])

    @property
    def queries(self) -> int:
        """The number of distinct items asked."""
        return len(self._asked)

    def affordable(self, items: Sequence[Item]) -> int:
        """How many items, counted from the first, the budget still allows. Items asked before are free.

        If the budget does not allow all of them, it counts as spent.
        """
        if self.budget is None or len(self._asked) + len(items) <= self.budget:
            return len(items)
        new: set[Hashable] = set()
        for count, key in enumerate(self._keys(items)):
            if key not in self._asked:
                new.add(key)
            if len(self._asked) + len(new) > self.budget:
                self.spent = True
                return count
        return len(items)

    async def __call__(self, items: Sequence[Item]) -> list[Answer]:
        """Answers in item order. If the new items exceed the budget, asks nothing and raises BudgetSpent."""
        if self.affordable(items) < len(items):
            raise BudgetSpent
        keys = self._keys(items)
        fresh = _fresh(keys, self._known)
        if fresh:
            self._asked.update(fresh)  # the service shares rows with other branches of this search
            await _learn(self._known, fresh, items, self.service)
        return list(map(self._known.__getitem__, keys))


class Memory(Generic[Item, Answer]):
    """A service with a memory, shared by consecutive searches.

    No item is asked twice. Each search still counts its queries as if it had asked them all.
    """

    __slots__ = ("_keys", "_known", "service")

    def __init__(
        self,
        service: Answers[Item, Answer],
        key: Callable[[Item], Hashable] = itself,
        keys: Keys[Item] | None = None,
    ) -> None:
        self.service = service
        self._keys = keys or _one_by_one(key)
        self._known: dict[Hashable, Answer] = {}

    async def ask(self, items: Sequence[Item]) -> list[Answer]:
        """Answers in item order; only new items are asked."""
        keys = self._keys(items)
        if fresh := _fresh(keys, self._known):
            await _learn(self._known, fresh, items, self.service)
        return [self._known[key] for key in keys]


def _one_by_one(key: Callable[[Item], Hashable]) -> Keys[Item]:
    return lambda items: list(map(key, items))


def _fresh(keys: Sequence[Hashable], known: Mapping[Hashable, Any]) -> dict[Hashable, int]:
    """The keys that are not known, each once, with the number of an item."""
    return {key: number for number, key in enumerate(keys) if key not in known}


async def _learn(
    known: dict[Hashable, Answer], fresh: dict[Hashable, int], items: Sequence[Item], service: Answers[Item, Answer]
) -> None:
    if len(fresh) < len(items):  # a sequence of a kind of its own keeps its kind
        pick = getattr(items, "pick", None)
        items = pick(fresh.values()) if pick else [items[number] for number in fresh.values()]
    known.update(zip(fresh, await service.ask(items), strict=True))
