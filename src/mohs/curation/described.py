"""benchmark.json: what a program wants to know of a benchmark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from mohs import __version__
from mohs.curation.config import Config
from mohs.curation.counts import Rows, label_counts, table1
from mohs.curation.folder import DATA, FORMAT, PRIVATE
from mohs.curation.funnel import Drops, Step
from mohs.curation.measured import Validity
from mohs.curation.parted import TEST
from mohs.text.addresses import without_credentials


def described(
    config: Config,
    rows: Rows,
    names: Mapping[str, Sequence[str]],
    content: str,
    steps: Sequence[Step],
    shares: Sequence[Drops],
    cells: Sequence[Validity],
    notes: Sequence[str],
    licences: Mapping[str, Mapping[str, str]],
) -> dict[str, Any]:
    """The file's content. rows: whole, by task and split. licences: of the sets of each task."""
    methods = [
        {"name": one.name, "attack": one.attack, "class": one.of_class, "family": one.family} for one in config.attacks
    ]
    methods += [
        {
            "name": one.name,
            "task": one.task,
            "attack": one.file or f"bundled {one.format}",
            "class": "human",
            "family": one.family,
            "licence": licences[one.task][one.name],
        }
        for one in config.crafted
        if one.name in licences[one.task]
    ]
    judging = {
        "by": config.judging.by,
        "simulated": config.judging.by == "simulated",
        "judges": config.judging.judges,
        "agreeing": config.judging.agreeing,
    }
    return {
        "format": FORMAT,
        "made_with": f"mohs {__version__}",
        "name": config.name,
        "version": config.version,
        "about": config.about,
        "licence": config.licence,
        "seed": config.seed,
        "split": config.split,
        "hash": content,
        "hidden_test": config.hide_test,
        "judging": judging,
        "filters": asdict(config.filters),
        "tasks": {task: _task(config, task, parts, names[task]) for task, parts in rows.items()},
        "methods": methods,
        "table1": table1(config, rows),
        "validity": [one.to_json() for one in cells],
        "funnel": [one.to_json() for one in steps],
        "drops": [one.to_json() for one in shares],
        "notes": list(notes),
    }


def _task(
    config: Config, name: str, parts: Mapping[str, Sequence[Mapping[str, Any]]], names: Sequence[str]
) -> dict[str, Any]:
    task = config.task(name)
    return {
        "kind": task.kind,
        "group": task.group,
        "names": list(names),
        "labels": list(task.labels),
        "metrics": list(task.metrics),
        "licence": task.licence,
        "data": without_credentials(task.data),
        "surrogates": {key: without_credentials(victim) for key, victim in task.surrogates.items()},
        "files": {
            "dev": f"{DATA}/{name}/dev.jsonl",
            "test": f"{DATA}/{name}/test.jsonl",
            "answers": f"{PRIVATE}/{name}.jsonl" if config.hide_test else None,
        },
        "counts": {split: len(own) for split, own in parts.items()},
        "label_counts": {
            split: None if split == TEST and config.hide_test else label_counts(own, len(task.labels))
            for split, own in parts.items()
        },
    }
