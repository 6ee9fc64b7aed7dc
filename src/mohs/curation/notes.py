"""What readers of a benchmark must know before its figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mohs.curation.config import Config, Task
from mohs.curation.counts import Rows, one_sided
from mohs.curation.judged import NOT_SEEN
from mohs.curation.merged import NOT_DRAWN, UNMATCHED
from mohs.curation.parted import DEV
from mohs.curation.stage import StageFolder

SIMULATED = "The judges were simulated: no figure of agreement or of human accuracy here says anything about people."
NOBODY = "Nobody judged the texts: an unknown part of them does not have the label that it is given."


def notes_of(config: Config, stages: StageFolder, rows: Rows) -> list[str]:
    """One sentence each."""
    found = []
    if config.judging.by == "simulated":
        found.append(SIMULATED)
    if config.judging.by == "none" and any(not one.by_definition for one in config.attacks):
        found.append(NOBODY)
    errors = sum(
        own.get("error", 0)
        for methods in stages.facts("attack")["counts"].values()
        for counts in methods.values()
        for own in counts.values()
    )
    if errors:
        found.append(f"{errors} attempts ended in an error; they count neither as attacked nor as successes.")
    if left := sum(one.reason == NOT_SEEN for one in stages.dropped("judge")):
        found.append(f"{left} texts were not drawn for the judges; curated ASR and filter rates count them as dropped.")
    found += [f"{task.name} kept no text, so the benchmark is without it." for task in _gone(config, rows)]
    found += [note for task in rows for note in _few(config, stages, task)]
    found += [note for task in rows if (note := _one_sided(config, task, rows[task]))]
    for task, facts in stages.facts("merge").items():
        for name, count in facts["other_classes"].items():
            found.append(f"{count} examples of {name} have a class that {task} does not have, and are left out.")
    return found


def _one_sided(config: Config, task: str, parts: Mapping[str, Sequence[Mapping[str, Any]]]) -> str | None:
    """Whether one class has most texts; of a test set whose labels are hidden nothing is told."""
    told = [own for split, own in parts.items() if split == DEV or not config.hide_test]
    return one_sided(task, [row["label"] for own in told for row in own], config.task(task).labels)


def _gone(config: Config, rows: Rows) -> Sequence[Task]:
    return [task for task in config.tasks if task.name not in rows]


def _few(config: Config, stages: StageFolder, task: str) -> list[str]:
    """Sets of which fewer were drawn than an attack has on average."""
    wanted = stages.facts("merge")[task]["each_set"]
    if wanted is None:
        return []
    labels = stages.facts("merge")[task]["labels"]
    items = [item for item in stages.items("merge") if item.task == task]
    dropped = [one for one in stages.dropped("merge") if one.item.task == task]
    left = [one.item for one in dropped if one.reason in (NOT_DRAWN, UNMATCHED)]
    kept, gone = [item.method for item in items], {item.method for item in left}
    there = {(item.method, item.label) for item in (*items, *left)}

    def why(name: str) -> str:
        lacking = [label for label, count in enumerate(labels) if count and (name, label) not in there]
        if lacking and len(lacking) < sum(map(bool, labels)):
            which = "one class" if config.hide_test else f"the class {config.task(task).labels[lacking[0]]}"
            return f"it has none of {which}"
        return "it has too few of one label" if name in gone else "it has no more"

    names = [one.name for one in config.of(config.task(task)) if one.by_definition]
    names += [one.name for one in config.sets(config.task(task))]
    return [
        f"{name} gives {kept.count(name)} of {wanted} texts to {task}: {why(name)}."
        for name in names
        if kept.count(name) < wanted
    ]
