"""Carry out a verb: open or resume the run folder, and run the searches that are not done yet."""

from __future__ import annotations

import glob
import hashlib
import json
import re
import time
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, fields, replace
from pathlib import Path
from random import Random
from typing import Any

from mohs.errors import BadInput, MohsError
from mohs.models.device import devices_of, first_device
from mohs.models.victim import Fields, Scores
from mohs.records import Record, RunStore
from mohs.records.store import MANIFEST, differences, read_manifest
from mohs.runs import cluster
from mohs.runs.job import Job, job_of
from mohs.runs.run import Run
from mohs.runs.settings import Settings
from mohs.runs.sharing import Sharing, wanted
from mohs.runs.subject import alike
from mohs.runs.workers import Order
from mohs.tasks.option import given, options_of
from mohs.tasks.plan import Verb
from mohs.tasks.reading import Reading
from mohs.text.addresses import without_credentials

Progress = Callable[[Record | None, int, int], None]  # the newest record, the number finished, the total

_RUNS = Path("mohs-runs")
_ASKED_AGAIN = 32  # originals, and as many final texts, before a run is resumed


@dataclass
class Unnamed:
    """The folder of a run without --out: named after its options, or an older folder with the same run."""

    path: Path

    @classmethod
    def of(cls, settings: Settings, verb: Verb) -> Unnamed:
        """The folder named after the options."""
        settings = replace(settings, device=first_device(settings.device))
        options = {"command": verb.command, **given(settings), **given(verb)}
        digest = hashlib.sha256(json.dumps(options, sort_keys=True, default=str).encode()).hexdigest()[:8]
        names = [Path(without_credentials(str(part)).rstrip("/")).name for part in (settings.victim, settings.data)]
        plain = [re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-")[:24] for name in names]
        return cls(_RUNS / "-".join([*plain, digest]))

    def find(self, verb: Verb, identity: Mapping[str, Any]) -> Path:
        """The folder; if it does not exist, one with the same run that an older version named differently."""
        if not self.path.exists():
            alike = glob.escape(self.path.name.rpartition("-")[0])
            for manifest in sorted(self.path.parent.glob(f"{alike}-*/{MANIFEST}")):
                with suppress(MohsError):  # a folder that cannot be read is not the one looked for
                    found = read_manifest(manifest.parent)
                    known = {k: v for k, v in identity.items() if k not in _new_since(verb, found["config"])}
                    if found.get("command") == verb.command and not differences(found["identity"], known):
                        self.path = manifest.parent
                        break
        return self.path


def carry_out(
    settings: Settings,
    verb: Verb,
    out: str | Path | Unnamed | None = None,
    progress: Progress | None = None,
    said: Callable[[str], None] | None = None,
) -> Run:
    """Carry out what a verb plans for a victim and its data. With a folder, the run can be resumed.

    progress: called with each record. said: called with each note before the first search, and with the number of
    workers if that was to be found out.
    """
    cluster.check(settings)
    devices = devices_of(settings.device)
    if settings.on is None:
        settings = replace(settings, device=devices[0], workers=wanted(settings.workers, devices))
    verb = _as_before(verb, out.path if isinstance(out, Unnamed) else out)
    job = job_of(settings, verb)
    try:
        if said is not None:
            for note in job.facts["notes"]:
                said(note)
        if isinstance(out, Unnamed):
            out = out.find(verb, job.identity)
            if _as_before(verb, out) != verb:  # an older run of the same command
                job.close()
                verb = _as_before(verb, out)
                job = job_of(settings, verb)
        sharing = None
        if settings.on is not None or settings.workers != 1:
            lent = job.lender is not None and settings.on is None
            victim: Any = None if lent else settings.victim
            shared = replace(settings, victim=victim, data=job.subject.data, **_UNREAD)
            plain: Any = verb
            order = Order(shared, replace(plain), job.subject.survey)  # the copy has no cached properties
            sharing = Sharing(order, settings, devices, said).checked()
        tasks = [task.name for task in job.tasks]
        manifest = {"command": verb.command, "tasks": tasks, "config": job.config, "facts": job.facts}
        if out is not None and (stored := _stored(Path(out))):
            verb.resumes(Path(out), job.identity, stored)
        store = RunStore.open(Path(out) if out is not None else None, manifest, job.identity)
        try:
            if job.subject.target.steady:
                _same_as_before(store, job)
            _drive(store, job, sharing, progress)
        except BaseException:
            store.close()
            raise
        return Run(store)
    finally:
        job.close()


def _as_before(verb: Verb, folder: str | Path | None) -> Verb:
    """The verb with what its options meant when the run in a folder was started, if that was before there were any."""
    plain: Any = verb
    if folder is not None and (Path(folder) / MANIFEST).is_file():
        with suppress(MohsError):  # a folder that cannot be read is refused later
            return replace(plain, **_new_since(verb, read_manifest(Path(folder))["config"]))  # type: ignore[no-any-return]
    return verb


def _stored(folder: Path) -> Mapping[str, Any]:
    """The identity of the run in a folder; empty if there is none that can be read."""
    if (folder / MANIFEST).is_file():
        with suppress(MohsError):  # a folder that cannot be read is refused later
            return dict(read_manifest(folder)["identity"])
    return {}


def _new_since(verb: Verb, config: Mapping[str, Any]) -> dict[str, Any]:
    """The options that a stored run did not know and that are at their defaults, with what such a run did."""
    return {
        f.name: told.before
        for f, told in options_of(verb)
        if told.before is not ... and f.name not in config and getattr(verb, f.name) == f.default
    }


# The workers get the data itself, so they do not need the options for reading it.
_UNREAD: dict[str, Any] = {f.name: f.default for f in fields(Reading)} | {"change": ()}


def _drive(store: RunStore, job: Job, sharing: Sharing | None, progress: Progress | None) -> None:
    done = store.done()
    finished = len(done)
    if progress is not None:
        progress(None, finished, job.total)
    if finished == job.total:
        return  # a run that was finished before costs nothing more
    helpers: dict[str, float] = {}  # effort of the worker processes
    records = job.records(done) if sharing is None else sharing.records(job, done, helpers)
    started, cpu = time.perf_counter(), time.process_time()
    try:
        with closing(records):
            for number, record in records:
                store.add(number, record)
                finished += 1
                if progress is not None:
                    progress(record, finished, job.total)
    finally:
        spent = {"seconds": time.perf_counter() - started, "cpu_seconds": time.process_time() - cpu, **job.effort()}
        store.spend(**{name: spent.get(name, 0.0) + helpers.get(name, 0.0) for name in {**spent, **helpers}})


def _same_as_before(store: RunStore, job: Job) -> None:
    """Before resuming, ask about some of the run's originals and final texts again: refuse a victim that has changed.

    They are asked in few batches. Where an answer differs, the text is asked as the judge was, alone if need be.
    """
    judge: Any = job.subject.target.judge
    originals: dict[Fields, tuple[Scores, str]] = {}
    finals: dict[Fields, tuple[Scores, str]] = {}
    for record in store.shuffled(Random(f"{job.subject.seed}/{len(store)}")):
        if record.scores_before and len(originals) < _ASKED_AGAIN:
            originals[record.original] = record.scores_before, f"example {record.example_id}"
        changed = record.perturbed is not None and record.perturbed != record.original
        if record.perturbed and changed and record.scores_after and len(finals) < _ASKED_AGAIN:
            finals[record.perturbed] = record.scores_after, f"the final text of example {record.example_id}"
        if len(originals) == len(finals) == _ASKED_AGAIN:
            break
    kept = {**finals, **originals}
    for text, answer in zip(kept, judge.again(list(kept)), strict=True):
        before, which = kept[text]
        now = answer
        if now is None or not alike(before, now):
            (now,) = judge.again([text])
        if now is None or not alike(before, now):
            raise BadInput(
                f"{judge.model.name} answers differently than when {store.folder} was started: {which} had the "
                f"scores {_short(before)} and now {'raises an error' if now is None else f'has {_short(now)}'}; "
                "choose another --out."
            )


def _short(scores: Any) -> str:
    return f"[{', '.join(f'{score:.3f}' for score in scores)}]"
