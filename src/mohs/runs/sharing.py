"""A run shared between worker processes: how many there are, and around which devices."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any

from mohs.errors import BadInput
from mohs.models.lending import Lender
from mohs.models.victim import traits_of
from mohs.records import Record
from mohs.runs import crew
from mohs.runs.anchors import answers_alone
from mohs.runs.headcount import AUTO, Choice, Trial, ceiling, chosen, most_of
from mohs.runs.job import Job
from mohs.runs.settings import Settings, head_count
from mohs.runs.subject import alike, victim_of
from mohs.runs.workers import Order, spread


def wanted(workers: int | str | None, devices: Sequence[str]) -> int | str:
    """The number of workers asked for, or auto, which is also the default with several devices."""
    if workers is None:
        return AUTO if len(devices) > 1 else 1
    found: int | str = head_count(workers)
    if isinstance(found, int) and found < len(devices):
        raise BadInput(
            f"workers is {found}, but there are {len(devices)} devices; give each at least one worker, or use auto."
        )
    return found


@dataclass(frozen=True)
class Sharing:
    """How the examples of a run are divided among processes."""

    order: Order  # for the workers
    settings: Settings  # with which the run was started
    devices: Sequence[str]
    said: Callable[[str], None] | None = None

    def checked(self) -> Sharing:
        """Itself, if that many workers can be started. With auto, a run that cannot be shared is not."""
        if self.settings.on is not None or isinstance(self.settings.workers, int):
            self.order.checked()
        return self

    def records(
        self, job: Job, done: AbstractSet[tuple[str, str]], spent: dict[str, float]
    ) -> Generator[tuple[int, Record], None, None]:
        """The records of a job. The effort of workers is added to `spent` at the end."""
        if self.settings.on is not None:
            yield from crew.spread(self.order, job, done, spent)
            return
        workers = self.settings.workers
        if not isinstance(workers, int):
            known = set(done)
            choice = self._most(job, len(known))
            if choice.workers > 1:
                trial = Trial()
                for number, record in trial.records(job, set(known)):
                    known.add((record.attack, record.example_id))
                    yield number, record
                if odd := job.seen.pop("changed", 0):
                    spent["changed"] = odd
                left, shared = job.total - len(known), job.lender is not None
                choice = chosen(trial, left, job.loading, choice, len(self.devices), shared)
            if self.said is not None:
                self.said(choice.note)
            workers, done = choice.workers, known
        if workers == 1:
            if len(done) < job.total:
                yield from job.records(done)
            return
        devices = self.devices[:workers]
        lenders = self._lenders(job, devices, spent)
        spent["workers"] = workers
        yield from spread(self.order, workers, done, job.at_once, spent, lenders, devices)

    def _most(self, job: Job, finished: int) -> Choice:
        """The most workers that auto would take, before anything is measured."""
        if job.subject.target.traits.remote:
            return Choice(1, "the victim answers from elsewhere, which more processes here do not speed up")
        try:
            self.order.checked()
        except BadInput:
            return Choice(1, "another process cannot load the victim or a model, which are objects of this one")
        return ceiling(job, job.total - finished, most_of(self.settings.workers), len(self.devices))

    def _lenders(self, job: Job, devices: Sequence[str], spent: dict[str, float]) -> list[Lender]:
        """For each device one that has the victim's network there; none if each worker loads its own."""
        if job.lender is None:
            return []
        began = time.perf_counter()
        lenders: list[Lender] = [job.lender]
        target = job.subject.target
        for device in devices[1:]:
            victim: Any = victim_of(replace(self.settings, device=device))
            if victim is target.model:  # an object that the user has put on a device
                break
            answers = answers_alone(traits_of(victim).verdict or victim, list(target.known))
            if not all(text in answers and alike(known, answers[text]) for text, known in target.known.items()):
                raise BadInput(f"{victim.name} answers differently on {device} than on {devices[0]}; leave it out.")
            lenders.append(Lender(victim))
        spent["seconds"] = spent.get("seconds", 0.0) - (time.perf_counter() - began)  # loading does not count
        return lenders
