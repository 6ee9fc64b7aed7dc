"""The texts of a benchmark as they are scored: one that was built here, or the published AdvGLUE dev set."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mohs.errors import BadInput

HIDDEN = -1


@dataclass(frozen=True)
class Scored:
    """One text. source: its benign text, if it has one. original: the fields of that text."""

    idx: int
    fields: tuple[str, ...]
    label: int
    method: str = ""
    family: str = ""
    source: str = ""
    original: tuple[str, ...] | None = None

    @property
    def unit(self) -> str:
        """What texts of one benign text share; a text without one stands alone."""
        return self.source or f"#{self.idx}"


@dataclass(frozen=True)
class ScoredTask:
    """One task with its texts. group: tasks of one group are averaged first, as MNLI matched and mismatched."""

    name: str
    names: tuple[str, ...]
    labels: tuple[str, ...]
    metrics: tuple[str, ...]
    items: tuple[Scored, ...]
    group: str = ""
    surrogates: tuple[str, ...] = ()  # victims that every text of an attack fools, because only such texts were kept


@dataclass(frozen=True)
class ScoredSet:
    """All tasks. hash: of all texts and labels. hidden: whether some labels are held back."""

    name: str
    split: str
    hash: str
    tasks: tuple[ScoredTask, ...]

    @property
    def hidden(self) -> bool:
        """Whether labels are held back, so that only those who have them can score."""
        return any(item.label == HIDDEN for task in self.tasks for item in task.items)

    def task(self, name: str) -> ScoredTask:
        """A task by its name."""
        found = next((task for task in self.tasks if task.name == name), None)
        if found is None:
            raise BadInput(f"{self.name} has no task {name!r}; it has {', '.join(task.name for task in self.tasks)}.")
        return found


# Names, classes and metrics of the published tasks. MNLI's two parts are one task in averages.
_ADVGLUE: Mapping[str, tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...], str]] = {
    "sst2": (("sentence",), ("negative", "positive"), ("accuracy",), ""),
    "qqp": (("question1", "question2"), ("not_duplicate", "duplicate"), ("accuracy", "f1"), ""),
    "mnli": (("premise", "hypothesis"), ("entailment", "neutral", "contradiction"), ("accuracy",), "mnli"),
    "mnli-mm": (("premise", "hypothesis"), ("entailment", "neutral", "contradiction"), ("accuracy",), "mnli"),
    "qnli": (("question", "sentence"), ("entailment", "not_entailment"), ("accuracy",), ""),
    "rte": (("sentence1", "sentence2"), ("entailment", "not_entailment"), ("accuracy",), ""),
}


def read_advglue(path: str | Path) -> ScoredSet:
    """The dev set of AdvGLUE as it was published: one JSON object with a list a task."""
    place = Path(path).expanduser()
    try:
        data = json.loads(place.read_text("utf-8"))
    except OSError as error:
        raise BadInput(f"{place} cannot be read ({error.strerror or error}); name AdvGLUE's dev.json.") from error
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{place} is not JSON; name AdvGLUE's dev.json.") from error
    if not isinstance(data, dict) or not set(data) & set(_ADVGLUE):
        raise BadInput(f"{place} has none of the tasks {', '.join(_ADVGLUE)}; name AdvGLUE's dev.json.")
    tasks = []
    for name, (names, labels, metrics, group) in _ADVGLUE.items():
        if name in data:
            if not isinstance(data[name], list) or not data[name]:
                raise BadInput(f"{place}: {name} is no list of texts; name AdvGLUE's dev.json.")
            items = [_published(place, name, row, names, len(labels)) for row in data[name]]
            tasks.append(ScoredTask(name, names, labels, metrics, _each_once(f"{place}: {name}", items), group))
    return ScoredSet("AdvGLUE", "dev", digest_of(tasks), tuple(tasks))


def read_built(folder: str | Path, split: str = "test", answers: bool = True) -> ScoredSet:
    """A benchmark that `mohs benchmark build` made. answers: with the labels of a hidden test, where they are there."""
    from mohs.curation.folder import open_benchmark

    found = open_benchmark(folder)
    kept = [found.folder / told["files"]["answers"] for told in found.tasks.values() if told["files"]["answers"]]
    answers = answers and any(path.is_file() for path in kept)
    tasks = []
    for name, told in found.tasks.items():
        rows = found.rows(name, split, answers=answers)
        names, place = tuple(told["names"]), f"The {split} set of {name} in {found.folder}"
        if len(rows) != (wanted := told["counts"][split]):
            raise BadInput(f"{place} has {len(rows):,} texts and should have {wanted:,}; restore it, or build again.")
        if not rows:
            continue  # one text is not divided
        tasks.append(
            ScoredTask(
                name,
                names,
                tuple(told["labels"]),
                tuple(told["metrics"]),
                _each_once(place, [_built(place, row, names, len(told["labels"])) for row in rows]),
                str(told.get("group") or ""),
                tuple((told.get("surrogates") or {}).values()),
            )
        )
    if not tasks:
        raise BadInput(f"{found.folder} has no text in its {split} set; use the other split.")
    return ScoredSet(str(found.about["name"]), split, digest_of(tasks), tuple(tasks))


def digest_of(tasks: Sequence[ScoredTask]) -> str:
    """The hash of all texts and labels."""
    rows = [[task.name, [[item.idx, *item.fields, item.label] for item in task.items]] for task in tasks]
    return hashlib.sha256(json.dumps(rows).encode()).hexdigest()


def _published(place: Path, task: str, row: Any, names: tuple[str, ...], classes: int) -> Scored:
    try:
        idx, label = int(row["idx"]), int(row["label"])
        fields = tuple(str(row[name]) for name in names)
    except (KeyError, TypeError, ValueError) as error:
        raise BadInput(f"{place}: a row of {task} lacks {error}; it needs idx, {', '.join(names)} and label.") from None
    if not 0 <= label < classes:
        raise BadInput(f"{place}: row {idx} of {task} has the label {label}, and there are {classes} classes.")
    return Scored(idx, fields, label)


def _built(place: str, row: Any, names: tuple[str, ...], classes: int) -> Scored:
    try:
        idx, label = int(row["idx"]), int(row["label"])
        fields = tuple(str(row[name]) for name in names)
    except (KeyError, TypeError, ValueError) as error:
        raise BadInput(f"{place} has a row without a whole idx, {', '.join(names)} and label ({error}).") from None
    if label != HIDDEN and not 0 <= label < classes:
        raise BadInput(f"{place} has the label {label} in row {idx}, and there are {classes} classes.")
    original = tuple(row.get(f"original_{name}") or "" for name in names)
    return Scored(
        idx,
        fields,
        label,
        str(row.get("method") or ""),
        str(row.get("family") or ""),
        str(row.get("original_id") or ""),
        original if any(original) else None,
    )


def _each_once(place: str, items: Sequence[Scored]) -> tuple[Scored, ...]:
    """The texts of a task: a second one with the same number would be answered and counted as the first."""
    known: set[int] = set()
    for item in items:
        if item.idx in known:
            raise BadInput(f"{place} has the idx {item.idx} twice; restore it from where it comes.")
        known.add(item.idx)
    return tuple(items)
