"""How many worker processes a run gets with `--workers auto`.

A run begins alone, for half of the time that it would take to start workers. So a short run never starts any, and a
long one loses little. Workers are started if what is left is long enough to pay for them. If all share a network, what
counts is also how long the first searches waited for it: workers only take the rest of the time off each other.
"""

from __future__ import annotations

import os
import time
from collections.abc import Generator, Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from math import ceil
from typing import Any

from mohs.engine import Service
from mohs.models.device import room_on
from mohs.records import Record
from mohs.runs.job import Job
from mohs.tasks import memory

AUTO = "auto"
_IMPORTS = 2.0  # seconds until a new process begins to load models
_ALONE = 0.5  # the share of the time that starting workers takes
_WORTH = 2.0  # how many times as long as it took to start must a worker have work
_SHARE_AT_ONCE = 64  # few searches at once at first, since those that are begun are finished alone
_FRESH = 3.0  # how many times as long workers take for a text, since each meets all words for the first time
_IDLE = 0.5  # a process that waits for longer than this share of the time waits for something elsewhere


@dataclass(frozen=True)
class Choice:
    """A number of workers, and why it is no larger."""

    workers: int
    why: str

    @property
    def note(self) -> str:
        """What the user is told."""
        return f"Workers: {self.workers} ({self.why})."


@dataclass
class Measured:
    """What the first searches took. They waited on a device only if the models run on one."""

    seconds: float = 0.0
    finished: int = 0
    on_device: float = 0.0  # seconds that the process waited for answers from a device
    idle: float = 0.0  # the share of the time in which the process did nothing, not even wait for a device


def cores() -> int:
    """The processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def most_of(workers: int | str | None) -> int | None:
    """The most workers that may be started; None if that is not said."""
    if isinstance(workers, str):
        return int(workers.removeprefix(f"{AUTO}:")) if ":" in workers else None
    return workers or 1


def divided(workers: int | str | None, runs: int) -> int | str | None:
    """What each of several runs at once may ask for: with auto, its share of the cores."""
    if not isinstance(workers, str):
        return workers
    share = max(1, cores() // runs)
    return f"{AUTO}:{min(most_of(workers) or share, share)}"


def ceiling(job: Job, left: int, asked: int | None, devices: int) -> Choice:
    """The most workers that can be of use, whatever is measured. asked: the most that the user wants."""
    found = [Choice(left, "one for each attempt")]
    if asked is not None:
        found.append(Choice(asked, "no more were asked for"))
    if job.lender is not None:
        found.append(Choice(cores() - 1, f"there are {cores()} cores, and one is for the network"))
    else:
        found.append(Choice(cores(), "one for each core"))
    room = memory.room()
    if room is not None:
        found.append(Choice(room + 1, f"free memory has room for {room} more processes like the first"))
    for device in dict.fromkeys(map(device_of, loaded_by_each(job))):
        room = room_on(device)
        if room is not None:
            found.append(Choice(room * devices, f"{device} has room for {room} more copies of the models"))
    return _least(found)


def chosen(seen: Measured, left: int, loading: float, most: Choice, devices: int, shared: bool) -> Choice:
    """The number of workers for the examples that are left.

    loading: the seconds it took to load the models here. most: see `ceiling`. devices: the number of devices.
    shared: whether workers share the victim's network.
    """
    if not left:
        return Choice(1, "all was done before others could have started")
    start = loading + _IMPORTS
    rest = left * seen.seconds / max(1, seen.finished)
    found = [most, Choice(int(rest / (_WORTH * start)), f"about {rest:.0f} s of work, and {start:.0f} s to start each")]
    if not shared and seen.idle > _IDLE:
        found.append(Choice(1, f"for {seen.idle:.0%} of the time it did nothing: models elsewhere, or a busy machine"))
    waited = seen.on_device / seen.seconds if seen.seconds else 0.0
    if waited:
        enough = devices * ceil(_FRESH * (1 - waited) / waited)
        found.append(Choice(enough, f"alone, {waited:.0%} of the time went by with waiting for the device"))
    return _least(found)


def _least(found: Sequence[Choice]) -> Choice:
    least = min(found, key=lambda choice: choice.workers)
    return Choice(max(1, least.workers), least.why)


def device_of(service: Service[Any, Any]) -> str:
    """The device of a service's model, or of the victim that it looks into; `cpu` if it does not say."""
    model: Any = service.model
    while model is not None:
        found = getattr(model, "_device", None) or getattr(model, "device", None)
        if isinstance(found, str):
            return found
        model = getattr(model, "victim", None) or getattr(model, "_victim", None)
    return "cpu"


def loaded_by_each(job: Job) -> list[Service[Any, Any]]:
    """The services whose models every worker loads."""
    return [*job.others.values(), *(job.victims if job.lender is None else ())]


class Trial(Measured):
    """The first searches of a run, alone in this process."""

    def records(self, job: Job, done: AbstractSet[tuple[str, str]]) -> Generator[tuple[int, Record], None, None]:
        """Their records."""
        numbers = count()
        long = _ALONE * (job.loading + _IMPORTS)
        began, cpu = time.perf_counter(), time.process_time()

        def claim() -> int | None:
            number = next(numbers)
            return number if number == 0 or time.perf_counter() - began < long else None

        shared = job.lender is not None
        waited_for = [s for s in job.victims if shared or device_of(s).startswith("cuda")]
        with timed(waited_for) as clocks:
            for found in job.records(done, claim, max(1, job.at_once // _SHARE_AT_ONCE)):
                self.finished += 1
                yield found
        self.seconds = time.perf_counter() - began
        self.on_device = sum(clock.seconds for clock in clocks)
        spent = time.process_time() - cpu + self.on_device  # most drivers also count waiting as work
        self.idle = max(0.0, 1 - spent / self.seconds) if self.seconds else 0.0


@contextmanager
def timed(services: Sequence[Service[Any, Any]]) -> Iterator[list[Clocked]]:
    """Measure how long the answers of these services are waited for."""
    models = [service.model for service in services]
    clocks = [Clocked(model) for model in models]
    for service, clock in zip(services, clocks, strict=True):
        service.model = clock
    try:
        yield clocks
    finally:
        for service, model in zip(services, models, strict=True):
            service.model = model


class Clocked:
    """A model, with the seconds that collecting its answers took."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self.seconds = 0.0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def collect(self, ticket: Any) -> Any:
        """The answers."""
        began = time.perf_counter()
        try:
            return self._model.collect(ticket)
        finally:
            self.seconds += time.perf_counter() - began
