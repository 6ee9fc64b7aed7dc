"""The run loop: advance every search that is ready; when none is, let the fullest service answer."""

from __future__ import annotations

from collections import deque
from collections.abc import Coroutine, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from mohs.engine.question import Question
from mohs.engine.service import Service

Key = TypeVar("Key")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Finished(Generic[Key, Result]):
    """A search that ended: with a result, or with the exception it raised."""

    key: Key
    result: Result | None
    error: Exception | None


class _Search(Generic[Key, Result]):
    __slots__ = ("coroutine", "key", "pending")

    def __init__(self, key: Key, coroutine: Coroutine[Any, None, Result]) -> None:
        self.key = key
        self.coroutine = coroutine
        self.pending = 0


def run(
    searches: Iterable[tuple[Key, Coroutine[Any, None, Result]]],
    services: Sequence[Service[Any, Any]],
    at_once: int = 256,
) -> Iterator[Finished[Key, Result]]:
    """Run searches, at most `at_once` at a time, and yield each one when it ends.

    Answers are taken in launch order, and every choice depends only on the inputs. So the same searches and models
    give the same results in any process. A search that raises ends with that error and does not affect the others.
    A service that stops answering raises ServiceFailed here.
    """
    source = iter(searches)
    more = True
    ready: deque[_Search[Key, Result]] = deque()
    launched: deque[Service[Any, Any]] = deque()  # one entry per batch, oldest first
    alive = 0
    try:
        while True:
            while more and alive < at_once:
                following = next(source, None)
                if following is None:
                    more = False
                else:
                    ready.append(_Search(*following))
                    alive += 1
            if not alive:
                return
            while ready:
                search = ready.popleft()
                try:
                    questions: tuple[Question[Any, Any], ...] = search.coroutine.send(None)
                except StopIteration as stop:
                    alive -= 1
                    yield Finished(search.key, stop.value, None)
                except Exception as error:
                    alive -= 1
                    yield Finished(search.key, None, error)
                else:
                    for question in questions:
                        if question.missing and question.waiter is None:
                            question.waiter = search
                            search.pending += 1
                    if not search.pending:
                        ready.append(search)
            if not alive or (more and alive < at_once):
                continue
            ready.extend(_pump(services, launched))
            if not (ready or launched or any(service.waiting or service.planned for service in services)):
                raise AssertionError("a search waits for a service that is not part of this run")
    finally:
        for search in ready:
            search.coroutine.close()
        for service in services:
            service.reset()


def _pump(services: Sequence[Service[Any, Any]], launched: deque[Service[Any, Any]]) -> Iterator[_Search[Any, Any]]:
    """Launch as many batches as fit, then collect the oldest. Yields the searches that can continue."""
    if launched or any(service.planned for service in services):
        flying = sum(service.rows_flying for service in services)
        for service in services:
            if service.planned or service.flying or service.waiting >= max(flying, 1):  # the last: or it would starve
                yield from _launch(service, launched)
    else:
        fullest = max(services, key=lambda service: service.waiting)  # ties: the first
        yield from _launch(fullest, launched)
    if launched:
        yield from _freed(launched.popleft().collect())


def _launch(service: Service[Any, Any], launched: deque[Service[Any, Any]]) -> Iterator[_Search[Any, Any]]:
    before = service.flying
    yield from _freed(service.launch())
    launched.extend([service] * (service.flying - before))


def _freed(questions: Iterable[Question[Any, Any]]) -> Iterator[_Search[Any, Any]]:
    for question in questions:
        search = question.waiter
        if search is not None:  # None: its search was closed in the meantime
            question.waiter = None
            search.pending -= 1
            if not search.pending:
                yield search
