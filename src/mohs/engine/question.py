"""A question to a service, and awaiting several questions together."""

from __future__ import annotations

from collections.abc import Awaitable, Generator, Hashable, Sequence
from types import TracebackType
from typing import Any, Generic, TypeVar

Item = TypeVar("Item", bound=Hashable)
Answer = TypeVar("Answer")

Questions = tuple["Question[Any, Any]", ...]


class Question(Generic[Item, Answer]):
    """A list of items sent to a service. Awaiting it gives the answers in item order."""

    __slots__ = ("answers", "failure", "items", "missing", "waiter")

    def __init__(self, items: Sequence[Item]) -> None:
        self.items = items
        self.answers: list[Any] = [None] * len(items)
        self.missing = len(items)
        self.failure: tuple[int, Exception, TracebackType | None] | None = None  # of the first item that failed
        self.waiter: Any = None  # the search that waits for it, set by the run loop

    def __await__(self) -> Generator[Questions, None, list[Answer]]:
        if self.missing:
            yield (self,)
        if self.failure is not None:
            _, error, trace = self.failure
            raise error.with_traceback(trace)  # the same error may reach several searches
        return self.answers


class _Together:
    """Drives several awaitables in rounds. Each round waits for the questions of all of them."""

    def __init__(self, awaitables: Sequence[Awaitable[Any]]) -> None:
        self.awaitables = awaitables

    def __await__(self) -> Generator[Questions, None, list[Any]]:
        branches = [awaitable.__await__() for awaitable in self.awaitables]
        results: list[Any] = [None] * len(branches)
        going = list(range(len(branches)))
        try:
            while going:
                questions: list[Question[Any, Any]] = []
                still = []
                for number in going:
                    try:
                        questions.extend(next(branches[number]))
                        still.append(number)
                    except StopIteration as stop:
                        results[number] = stop.value
                going = still
                if going:
                    yield tuple(questions)
        finally:
            for number in going:  # only when a branch failed or the search was closed
                close = getattr(branches[number], "close", None)
                if close is not None:
                    close()
        return results


async def together(*awaitables: Awaitable[Any]) -> list[Any]:
    """Await several things at once, so that their questions share batches."""
    return await _Together(awaitables)


class _Others:
    """Gives every other search one turn."""

    def __await__(self) -> Generator[Questions, None, None]:
        yield ()


async def others_first() -> None:
    """Let every other search that is ready run first.

    All searches can then announce what they need from outside the engine before the first one asks for it.
    """
    await _Others()
