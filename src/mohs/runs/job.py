"""The work of a run in one process: its tasks, their examples and the services they use."""

from __future__ import annotations

import gc
import platform
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

from mohs import engine
from mohs.engine import Service
from mohs.models.lending import lender_of
from mohs.records import Record
from mohs.runs.anchors import changed
from mohs.runs.settings import Settings
from mohs.runs.subject import subject_of
from mohs.tasks.described import describe, named
from mohs.tasks.option import check_numbers, models_of, options_of
from mohs.tasks.plan import Plan, Task, Verb
from mohs.tasks.services import DEFAULTS, fingerprint, load_services
from mohs.tasks.subject import Subject, Survey
from mohs.text.dataset import Dataset

Key = TypeVar("Key")

# Thresholds for garbage collection. It is rare, because thousands of candidates are alive at once, and scanning them
# finds nothing.
_RARE_COLLECTION = (200_000, 20, 100)


@dataclass(frozen=True, kw_only=True)
class Job:
    """Everything that a run needs, loaded and checked before the first search."""

    subject: Subject
    tasks: Sequence[Task]
    victims: Sequence[Service[Any, Any]]  # the services of the victim and of its judge
    others: Mapping[str, Service[Any, Any]]  # the other services, by kind
    at_once: int
    config: Mapping[str, Any]  # the options
    identity: Mapping[str, Any]  # what must be the same to resume a run
    facts: Mapping[str, Any]
    lender: Any = None  # lends the victim's network to the workers, if they should share one
    loading: float = 0.0  # the seconds it took to make this
    seen: dict[str, int] = field(default_factory=dict)  # changed: known texts with another answer at the end

    @property
    def total(self) -> int:
        """The number of attempts in the whole run."""
        return int(self.facts.get("shard_examples", self.subject.examples)) * len(self.tasks)

    def records(
        self,
        done: AbstractSet[tuple[str, str]],
        claim: Callable[[], int | None] | None = None,
        at_once: int | None = None,
    ) -> Generator[tuple[int, Record], None, None]:
        """Run the searches that are not done. Gives each record, with its example's number, as it is finished.

        claim: gives the number of the next search for this process, if several processes share the run; None: no more.
        """

        def searches() -> Iterator[tuple[int, Any]]:
            mine: Callable[[], int | None] = claim or count().__next__
            wanted, place = mine(), 0
            for task in self.tasks:
                for number, example in self.subject.numbered():
                    if (task.name, example.id) in done:
                        continue
                    if place == wanted:
                        yield number, task(example)
                        wanted = mine()
                        if wanted is None:
                            return
                    place += 1

        return self.carried_out(searches(), at_once)

    def carried_out(
        self, searches: Iterable[tuple[Key, Any]], at_once: int | None = None
    ) -> Generator[tuple[Key, Record], None, None]:
        """Run searches, which are tasks called with examples, and give each record with its search's key."""
        finished = False
        thresholds = gc.get_threshold()
        gc.freeze()
        gc.set_threshold(*_RARE_COLLECTION)
        try:
            for ended in engine.run(searches, [*self.victims, *self.others.values()], at_once or self.at_once):
                if ended.error is not None or ended.result is None:
                    raise ended.error or AssertionError("a task gave no record")
                yield ended.key, ended.result
                finished = True
            if finished and self.subject.target.steady:
                target = self.subject.target
                self.seen["changed"] = changed(target.traits.verdict or target.model, target.known)
        finally:
            gc.set_threshold(*thresholds)
            gc.unfreeze()

    def effort(self) -> dict[str, float]:
        """How much the victim was asked so far, and how many questions each other model."""
        return {
            "forwards": sum(s.forwards for s in self.victims),
            "batches": sum(s.batches for s in self.victims),
            "reused": sum(s.reused for s in self.victims),
            **{f"{kind}_asked": part.forwards for kind, part in self.others.items()},
            **{name: number for name, number in self.seen.items() if number},
        }

    def close(self) -> None:
        """Close the cache."""
        if self.subject.cache is not None:
            self.subject.cache.close()


def job_of(settings: Settings, verb: Verb, survey: Survey | None = None) -> Job:
    """Load and check everything that a run needs. survey: of the data, if another process has made it."""
    began = time.perf_counter()
    check_numbers(settings, verb)
    verb.check()
    subject = subject_of(settings, survey)
    target = subject.target
    parts = load_services(
        dict.fromkeys(verb.needs(subject)),
        models_of(verb),
        victim=subject.model,
        device=settings.device,
        trust_code=settings.trust_code,
    )
    plan = verb.plan(subject, parts)
    config = {**subject.config, **_config(verb, plan, parts)}
    hashes = {
        "victim_fingerprint": subject.model.fingerprint,
        **({"victim_origin": dict(subject.origin)} if subject.origin else {}),
        "data_hash": subject.survey.digest,
        "examples": subject.examples,
        "services": {kind: fingerprint(parts[kind]) for kind in sorted(parts)},
    }
    known = {"classes": target.classes, "repeats_itself": target.steady, "hard_labels": target.traits.hard}
    known["exact"] = target.traits.exact and target.judge is target.anew
    if not target.alike:
        known["alike_in_batches"] = False
    if target.traits.rejects:
        known["rejects"] = True
    notes = [*(subject.data.notes() if isinstance(subject.data, Dataset) else ()), *plan.notes]
    if subject.shard is not None:
        notes.append(subject.shard.note)
        known["shard_examples"] = subject.survey.in_shard
    asked = dict.fromkeys([target.victim, target.judge, target.anew, target.sheets, target.sweeps, target.alone])
    return Job(
        subject=subject,
        tasks=plan.tasks,
        victims=[service for service in asked if isinstance(service, Service)],
        others={kind: part for kind, part in parts.items() if isinstance(part, Service)},
        at_once=settings.at_once or plan.at_once or target.traits.crowd,
        config=config,
        identity={**{name: config[name] for name in config if name not in _as_ever(verb)}, **hashes, **plan.identity},
        facts={**known, **plan.facts, "notes": notes, "versions": dict(_versions())},
        lender=lender_of(subject.model) if "gradients" not in parts else None,
        loading=time.perf_counter() - began,
    )


def _config(verb: Verb, plan: Plan, parts: Mapping[str, Any]) -> dict[str, Any]:
    """The verb's options as stored in a manifest and read by `--config`."""
    found = {}
    for f, told in options_of(verb):
        if told.counts and told.command and not told.kind:
            found[f.name] = plan.resolved[f.name] if f.name in plan.resolved else _plain(getattr(verb, f.name))
    given = models_of(verb)
    return found | {kind: named(given[kind] or DEFAULTS.get(kind)) for kind in sorted(parts) if kind in given}


def _as_ever(verb: Verb) -> set[str]:
    """The options that are as they were before there was such an option: older runs do not name them."""
    return {f.name for f, told in options_of(verb) if getattr(verb, f.name) is told.before}


def _plain(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return list(map(_plain, value))
    if isinstance(value, Path):
        return str(value)
    return value if value is None or isinstance(value, bool | int | float | str) else describe(value, defaults=False)


@cache
def _versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for name in ("mohs", "numpy", "tokenizers", "torch", "transformers"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found
