"""A run shared between the machines of a cluster, each worker with its own copy of the models.

The process that was started hands out the examples, a block at a time, and is the only one that writes the run folder.
Blocks shrink towards the end, so that fast workers take over from slow ones. What a worker held when it died goes back
to the others. Which worker gets an example depends on their speed; the results do not.
"""

from __future__ import annotations

import os
import platform
import sys
import time
from collections import Counter, deque
from collections.abc import Generator, Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from queue import SimpleQueue
from typing import Any, NoReturn

from mohs import __version__
from mohs.errors import BadInput, MohsError, ServiceFailed
from mohs.records import Record
from mohs.records.store import differences
from mohs.runs.cluster import joined
from mohs.runs.containment import no_sudden_end
from mohs.runs.job import Job, job_of
from mohs.runs.settings import Settings, head_count
from mohs.runs.workers import Order

Place = tuple[int, int]  # the number of a task and of an example

_SHARES = 4  # a worker searches at most this part of its fair share at once; the rest waits for who is free first
_MOST_DEATHS = 3  # of workers that held one example, or in a row before their first record
_SECONDS_TO_START = 120.0  # for a worker, if there is no other
_INBOX = "inbox"  # the thread of a worker that receives blocks while another searches


class Hand:
    """A worker: makes the job once, then searches the examples that it is given."""

    def __init__(self, folder: str, path: list[str]) -> None:
        os.environ.setdefault("RAYON_NUM_THREADS", "1")  # the tokenizers' threads; Ray sets those of arrays
        with suppress(OSError):  # names of files mean the same as where the run was started
            os.chdir(folder)
        sys.path.extend(place for place in path if place not in sys.path)
        self._inbox: SimpleQueue[list[Place] | None] = SimpleQueue()
        self._job: Job | None = None
        self._before: Mapping[str, float] = {}
        self._cpu = 0.0

    def where(self) -> tuple[str, str]:
        """Its machine, and the version of mohs there. It answers as soon as it has a place in the cluster."""
        return platform.node(), __version__

    def load(self, order: Order) -> Any:
        """Make the job. Returns how many searches suit it and what a resumed run must match, or what went wrong."""
        try:
            with no_sudden_end():
                self._job = job_of(order.settings, order.verb, order.survey)
        except MohsError as error:
            return error
        except Exception as error:
            return _failed(error)
        self._before, self._cpu = self._job.effort(), time.process_time()
        return self._job.at_once, dict(self._job.identity)

    def give(self, block: list[Place] | None) -> None:
        """Examples to search; None: there are no more."""
        self._inbox.put(block)

    def search(self, at_once: int) -> Iterator[tuple[Place | None, Any, Mapping[str, float]]]:
        """Each record as it is finished, or what went wrong; with it, all effort so far."""
        job = self._job
        assert job is not None
        examples = list(job.subject.data)

        def searches() -> Iterator[tuple[Place, Any]]:
            while (block := self._inbox.get()) is not None:
                for task, number in block:
                    yield (task, number), job.tasks[task](examples[number])

        try:
            with no_sudden_end():
                for place, record in job.carried_out(searches(), at_once):
                    yield place, record.to_json(), self._effort(job)
        except MohsError as error:
            yield None, error, self._effort(job)
        except Exception as error:
            yield None, _failed(error), self._effort(job)
        else:
            yield None, None, self._effort(job)

    def _effort(self, job: Job) -> Mapping[str, float]:
        spent = {name: value - self._before.get(name, 0) for name, value in job.effort().items()}
        return {**spent, "cpu_seconds": time.process_time() - self._cpu}


def _failed(error: Exception) -> ServiceFailed:
    return ServiceFailed(f"A worker process failed: {type(error).__name__}: {error}")


@dataclass(eq=False)
class _Member:
    """A worker, as seen from here."""

    hand: Any
    waits: Any  # for what it was asked last: a reference, or the stream of its records
    placed: bool = False
    loaded: bool = False
    searching: bool = False
    fruitful: bool = False  # it has given a record
    at_once: int = 1
    searches: int = 1  # at most, in the present stream
    held: dict[Place, None] = field(default_factory=dict)  # given to it, and not back yet
    ended: bool = False  # it knows that there are no more examples
    effort: Mapping[str, float] = field(default_factory=dict)
    node: str = ""


def spread(
    order: Order, job: Job, done: AbstractSet[tuple[str, str]], spent: dict[str, float]
) -> Generator[tuple[int, Record], None, None]:
    """The records of a job as its workers finish them. Their effort is added to `spent` at the end."""
    settings, kind = order.settings, order.verb.finding()
    assert settings.on is not None
    examples = list(job.subject.data)
    left = [
        (task, number)
        for task, each in enumerate(job.tasks)
        for number, example in job.subject.numbered()
        if (each.name, example.id) not in done
    ]
    began = time.perf_counter()
    with joined(settings.on, number_of(settings)) as ray:
        crew = _Crew(ray, order, job, examples, left)
        try:
            for place, record in crew.records():
                yield place[1], Record.from_json(record, kind)
        finally:
            ended = time.perf_counter()
            crew.end()
            for name, value in crew.effort.items():
                spent[name] = spent.get(name, 0.0) + value
    spent["seconds"] = began - (crew.started or ended) + ended - time.perf_counter()  # neither loading nor leaving


def number_of(settings: Settings) -> int | None:
    """How many workers are asked for; None: as many as there is room for."""
    found = None if settings.workers is None else head_count(settings.workers)
    return found if isinstance(found, int) else None


class _Crew:
    """All workers of a run, and the examples that none of them holds."""

    def __init__(self, ray: Any, order: Order, job: Job, examples: list[Any], left: list[Place]) -> None:
        self._ray = ray
        self._job = job
        self._queue = deque(left)
        self._missing = set(left)
        self._deaths: Counter[Place] = Counter()
        self._fruitless = 0
        self._members: list[_Member] = []
        self._over: Counter[str] = Counter()  # the effort of those that are gone
        self.started: float | None = None  # when the first began to search
        settings = order.settings
        self._needs = self._needed(settings.device)
        size = number_of(settings) or max(1, self._free())
        self._size = min(size, len(left))
        nodes = sum(bool(node["Alive"]) for node in ray.nodes())
        share = settings.at_once and -(-settings.at_once // self._size)
        own = replace(
            settings,
            on=None,
            workers=-(-self._size // nodes),  # they share the memory of their machine
            at_once=share,
            data=examples,
            device="cuda" if settings.device.startswith("cuda") else settings.device,  # each sees its own device only
        )
        self._order = ray.put(replace(order, settings=own).checked())
        self._kind = ray.remote(concurrency_groups={_INBOX: 1})(Hand)
        for _ in range(self._size):
            self._hire()

    @property
    def effort(self) -> Mapping[str, float]:
        """What all workers have spent."""
        found = Counter(self._over)
        for member in self._members:
            found.update(member.effort)
        return found

    def records(self) -> Iterator[tuple[Place, Any]]:
        """Every record once."""
        while self._missing or any(member.searching for member in self._members):
            for member in self._members:
                if self._queue and member.loaded and not member.searching:
                    self._set_to_work(member)
            for member in self._next():
                yield from self._heard(member)

    def end(self) -> None:
        """End all workers."""
        for member in self._members:
            with suppress(Exception):  # it may be gone, or the whole cluster
                self._ray.kill(member.hand)

    def _needed(self, device: str) -> dict[str, int]:
        """What a worker takes of its machine: a device if models should run on CUDA, and always a processor."""
        total = self._ray.cluster_resources()
        if device.startswith("cuda") or (device == "auto" and total.get("GPU", 0) >= 1):
            needs = {"GPU": 1, "CPU": 1}
        else:
            needs = {"CPU": 1}
        for name in needs:
            if total.get(name, 0) < 1:
                raise BadInput(
                    f"No machine of the Ray cluster offers a {name}; "
                    + ("use --device cpu." if name == "GPU" else "start one with `ray start --num-cpus`.")
                )
        return needs

    def _free(self) -> int:
        """How many more workers have a place."""
        free = self._ray.available_resources()
        return min(int(free.get(name, 0)) for name in self._needs)

    def _hire(self) -> None:
        hand = self._kind.options(
            num_cpus=self._needs["CPU"],
            num_gpus=self._needs.get("GPU", 0),
            max_restarts=0,
            scheduling_strategy="SPREAD",
        ).remote(str(Path.cwd()), [place for place in sys.path if os.path.isabs(place)])
        self._members.append(_Member(hand, hand.where.remote()))

    def _next(self) -> list[_Member]:
        """The workers that have something to say; waits for one."""
        waiting = {id(member.waits): member for member in self._members if member.waits is not None}
        if not waiting:
            self._give_up("No worker is left")
        asked = [member.waits for member in waiting.values()]
        patience = None if any(member.placed for member in self._members) else _SECONDS_TO_START
        found, _ = self._ray.wait(asked, num_returns=1, timeout=patience)
        if not found:
            self._give_up(f"No worker found a place within {_SECONDS_TO_START:.0f} s")
        found, _ = self._ray.wait(asked, num_returns=len(asked), timeout=0)  # all of them, or the first would go first
        return [waiting[id(each)] for each in found]

    def _give_up(self, why: str) -> NoReturn:
        raise ServiceFailed(f"{why} on the Ray cluster; see with `ray status` what it has, and run the command again.")

    def _heard(self, member: _Member) -> Iterator[tuple[Place, Any]]:
        errors = self._ray.exceptions
        try:
            if member.searching:
                place, found, member.effort = self._ray.get(next(member.waits))
            else:
                place, found = None, self._ray.get(member.waits)
        except (errors.RayTaskError, errors.RaySystemError) as error:  # raised by Ray itself, as it read what was sent
            raise ServiceFailed(
                f"A worker could not read what it was sent ({_short(error)}); give every machine the same packages."
            ) from error
        except (errors.RayError, StopIteration) as error:
            self._lost(member, error)
            return
        if isinstance(found, Exception):
            raise found
        if place is not None:
            member.held.pop(place, None)
            member.fruitful, self._fruitless = True, 0
            self._feed(member)
            if place in self._missing:  # not from another worker, before this one was thought dead
                self._missing.remove(place)
                yield place, found
        elif member.searching:
            member.searching, member.waits = False, None
        elif not member.placed:
            member.placed, (member.node, version) = True, found
            if version != __version__:
                raise BadInput(
                    f"{member.node} has mohs {version}, but this is mohs {__version__}; install one version everywhere."
                )
            member.waits = member.hand.load.remote(self._order)
        else:
            member.at_once, identity = found
            self._compare(identity, member.node)
            member.loaded, member.waits = True, None

    def _compare(self, theirs: Mapping[str, Any], node: str) -> None:
        """Refuse a machine where a name stands for another model: it would give other records."""
        known = self._job.subject.config  # the examples were sent, so their file is not compared
        ours = {key: value for key, value in self._job.identity.items() if key not in known}
        for key in differences(ours, {key: value for key, value in theirs.items() if key not in known}):
            raise BadInput(
                f"{node} has another {key} than this machine ({theirs.get(key)} there, {ours.get(key)} here); give "
                "every machine the same files and packages."
            )

    def _set_to_work(self, member: _Member) -> None:
        self.started = self.started or time.perf_counter()
        member.searches = max(1, min(member.at_once, -(-len(self._queue) // (_SHARES * self._size))))
        member.ended, member.searching = False, True
        member.waits = member.hand.search.options(num_returns="streaming").remote(member.searches)
        self._feed(member)

    def _feed(self, member: _Member) -> None:
        """Give a worker as many examples as it searches at once, and some to begin with next, fewer towards the end."""
        ahead = min(member.searches, len(self._queue) // (_SHARES * self._size))
        short = member.searches + ahead - len(member.held)
        if self._queue and short > ahead // 2:
            block = [self._queue.popleft() for _ in range(min(short, len(self._queue)))]
            member.held.update(dict.fromkeys(block))
            member.hand.give.options(concurrency_group=_INBOX).remote(block)
        if not self._queue and not member.ended:
            member.ended = True
            member.hand.give.options(concurrency_group=_INBOX).remote(None)

    def _lost(self, member: _Member, error: Exception) -> None:
        """Give what a dead worker held to others, and replace it if there is room, now or later."""
        if "failed to import" in str(error):
            raise ServiceFailed(
                f"A machine of the Ray cluster does not have this mohs; install mohs {__version__} on every machine."
            ) from error
        with suppress(Exception):
            self._ray.kill(member.hand)  # it may only be out of reach
        self._members.remove(member)
        self._over.update(member.effort)
        back = sorted(place for place in member.held if place in self._missing)
        self._queue.extendleft(reversed(back))
        if "its node has died" in str(error):  # no fault of the examples
            self._hire()
            return
        self._deaths.update(back)
        self._fruitless += not member.fruitful
        if self._fruitless >= _MOST_DEATHS or any(self._deaths[place] >= _MOST_DEATHS for place in back):
            raise ServiceFailed(
                f"Worker processes on the Ray cluster died {_MOST_DEATHS} times, at last on "
                f"{member.node or 'a machine'} ({_short(error)}); if memory ran out, use fewer workers."
            )
        self._hire()


def _short(error: BaseException) -> str:
    """The first sentence of what Ray says."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    told = next((line for line in lines if "dead because" in line or "Error" in line), lines[0] if lines else "")
    return (told or type(error).__name__).split(". ")[0].rstrip(".")
