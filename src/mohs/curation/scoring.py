"""Scores what a system said about the texts of a benchmark, as GLUE does, task by task and attack by attack."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mohs.assets.writing import opened_for_writing
from mohs.curation.counts import one_sided
from mohs.curation.figures import METRICS, Answered, Figure, accuracy, by, difference, mean, mean_of_same
from mohs.curation.scored import HIDDEN, ScoredSet, ScoredTask
from mohs.errors import BadInput, MohsError

FORMAT = "mohs-score-1"
Labels = Mapping[int, int | None]  # of each text, by its idx: what was said; None after an error


@dataclass(frozen=True)
class Said:
    """What a system said about one task. benign: about the originals of the texts, by their source; empty if unasked.

    system: the victim by its name. fingerprint: of the victim; empty for predictions from a file.
    """

    labels: Labels
    system: str = ""
    fingerprint: str = ""
    benign: Mapping[str, tuple[int, int | None]] = field(default_factory=dict)  # source -> label, what was said


@dataclass(frozen=True)
class TaskScore:
    """The score of one task: the mean of its metrics."""

    task: str
    group: str
    system: str
    fingerprint: str
    metrics: Mapping[str, Figure]
    score: Figure
    families: Mapping[str, Figure]  # accuracy
    methods: Mapping[str, Figure]
    benign: Figure | None  # the same score on the originals of the texts
    gap: Figure | None  # benign less score

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dict."""
        return {
            "task": self.task,
            "group": self.group,
            "system": self.system,
            "fingerprint": self.fingerprint,
            "metrics": {name: one.to_json() for name, one in self.metrics.items()},
            "score": self.score.to_json(),
            "families": {name: one.to_json() for name, one in self.families.items()},
            "methods": {name: one.to_json() for name, one in self.methods.items()},
            "benign": None if self.benign is None else self.benign.to_json(),
            "gap": None if self.gap is None else self.gap.to_json(),
        }


@dataclass(frozen=True)
class Score:
    """The scores of a system on a benchmark. average: of all tasks, where tasks of one group count as one."""

    name: str
    benchmark: str
    split: str
    hash: str
    tasks: tuple[TaskScore, ...]
    average: Figure
    families: Mapping[str, Figure]  # over tasks
    benign: Figure | None
    gap: Figure | None
    notes: tuple[str, ...] = ()

    @property
    def errors(self) -> int:
        """Texts that a victim could not read."""
        return sum(next(iter(task.metrics.values())).errors for task in self.tasks)

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dict: what a score file holds."""
        return {
            "format": FORMAT,
            "name": self.name,
            "benchmark": self.benchmark,
            "split": self.split,
            "hash": self.hash,
            "average": self.average.to_json(),
            "benign": None if self.benign is None else self.benign.to_json(),
            "gap": None if self.gap is None else self.gap.to_json(),
            "families": {name: one.to_json() for name, one in self.families.items()},
            "tasks": [task.to_json() for task in self.tasks],
            "errors": self.errors,
            "notes": list(self.notes),
        }

    def write(self, path: str | Path) -> Path:
        """Write a score file, for a leaderboard. An older file stays until the new one is complete."""
        place = Path(path)
        beside = place.with_name(f"{place.name}.part")
        try:
            with opened_for_writing(beside, encoding="utf-8") as file:
                file.write(f"{json.dumps(self.to_json(), indent=1, ensure_ascii=False)}\n")
            beside.replace(place)
        except OSError as error:
            reason = error.strerror or error
            raise MohsError(f"{place} cannot be written ({reason}); name another file.") from error
        return place


def scored(name: str, benchmark: ScoredSet, said: Mapping[str, Said], notes: Sequence[str] = ()) -> Score:
    """Score what was said. Tasks about which nothing was said are left out, and noted."""
    if benchmark.hidden:
        raise BadInput(
            f"{benchmark.name} holds back labels of its {benchmark.split} set; give the folder that has them, or write "
            "predictions for those who do (`mohs benchmark predict`)."
        )
    asked = [task for task in benchmark.tasks if task.name in said]
    if not asked:
        raise BadInput(f"Nothing was said about a task of {benchmark.name}.")
    tasks = tuple(_task(task, said[task.name]) for task in asked)
    told = list(notes)
    told += [n for t in asked if (n := one_sided(t.name, [item.label for item in t.items], t.labels))]
    left = [task.name for task in benchmark.tasks if task.name not in said]
    if left:
        told.append(f"Nothing was said about {', '.join(left)}; the average is without.")
    by_family = dict.fromkeys(family for task in tasks for family in task.families)
    families = {
        family: _over_tasks([(task.group, task.families[family]) for task in tasks if family in task.families])
        for family in by_family
    }
    benign = [(task.group, task.benign) for task in tasks if task.benign is not None]
    gaps = [(task.group, task.gap) for task in tasks if task.gap is not None]
    if benign and len(benign) < len(tasks):
        told.append(f"The benign score is of {len(benign)} of {len(tasks)} tasks.")
    return Score(
        name,
        benchmark.name,
        benchmark.split,
        benchmark.hash,
        tasks,
        _over_tasks([(task.group, task.score) for task in tasks]),
        families,
        _over_tasks(benign) if benign else None,
        _over_tasks(gaps) if gaps else None,
        tuple(told),
    )


def _task(task: ScoredTask, said: Said) -> TaskScore:
    answers = [Answered(item.label, said.labels[item.idx], f"{task.name}/{item.unit}") for item in task.items]
    found = {metric: METRICS[metric](answers) for metric in task.metrics}
    score = mean_of_same(list(found.values()), "texts")
    families = by([(item.family, one) for item, one in zip(task.items, answers, strict=True) if item.family])
    methods = by([(item.method, one) for item, one in zip(task.items, answers, strict=True) if item.method])
    benign = gap = None
    if said.benign:
        originals = [Answered(*pair, f"{task.name}/{source}") for source, pair in said.benign.items()]
        benign = mean_of_same([METRICS[metric](originals) for metric in task.metrics], "benign texts")
        gap = difference(benign, score, "benign score less score")
    return TaskScore(
        task.name,
        task.group,
        said.system,
        said.fingerprint,
        found,
        score,
        {name: accuracy(group) for name, group in families.items()},
        {name: accuracy(group) for name, group in methods.items()},
        benign,
        gap,
    )


def _over_tasks(rows: Sequence[tuple[str, Figure]]) -> Figure:
    """The mean over tasks; those of one group are averaged first."""
    groups: dict[str, list[Figure]] = {}
    for number, (group, figure) in enumerate(rows):
        groups.setdefault(group or f"#{number}", []).append(figure)
    means = [mean(one, "tasks of a group") for one in groups.values()]
    return mean(means, f"{len(means)} tasks" if len(means) > 1 else "one task")


def complete(task: ScoredTask, labels: Mapping[int, int], place: str) -> None:
    """Refuse predictions that are not about exactly the texts of a task, or name a class that it has not."""
    wanted, given = {item.idx for item in task.items}, set(labels)
    if lacking := sorted(wanted - given):
        raise BadInput(
            f"{place} lacks {len(lacking)} of the {len(wanted)} texts of {task.name}, the first {lacking[0]}; predict "
            "all of them."
        )
    if more := sorted(given - wanted):
        raise BadInput(f"{place} has text {more[0]} of {task.name}, which the benchmark has not; predict its split.")
    odd = next((label for label in labels.values() if not 0 <= label < len(task.labels)), None)
    if odd is not None:
        raise BadInput(f"{place} has the label {odd} for {task.name}, and there are {len(task.labels)} classes.")


__all__ = ["FORMAT", "HIDDEN", "Said", "Score", "TaskScore", "complete", "scored"]
