"""Predictions as a file, so that a hidden test set is scored by those who have its labels."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from mohs.assets.writing import opened_for_writing
from mohs.curation.scored import ScoredSet
from mohs.curation.scoring import Said, complete
from mohs.errors import BadInput, MohsError
from mohs.text.rows import file_rows


def write_predictions(path: str | Path, benchmark: ScoredSet, said: Mapping[str, Said]) -> Path:
    """Write a line a text: task, split, idx and the name of the label. All of them must have an answer."""
    place = Path(path)
    rows = []
    for name, one in said.items():
        task = benchmark.task(name)
        for item in task.items:
            label = one.labels[item.idx]
            if label is None:
                raise MohsError(
                    f"The victim could not read text {item.idx} of {name}, so no complete file can be written; mend it."
                )
            answer = task.labels[label] if label >= 0 else "rejected"
            rows.append({"task": name, "split": benchmark.split, "idx": item.idx, "label": answer})
    beside = place.with_name(f"{place.name}.part")
    try:
        with opened_for_writing(beside, encoding="utf-8") as file:
            file.writelines(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
        beside.replace(place)
    except OSError as error:
        raise MohsError(f"{place} cannot be written ({error.strerror or error}); name another with --out.") from error
    return place


def read_predictions(path: str | Path, benchmark: ScoredSet) -> dict[str, Said]:
    """Read predictions and check that they are about exactly the texts of their tasks. Labels are names or numbers."""
    place = Path(path).expanduser()
    found: dict[str, dict[int, int]] = {}
    for number, row in enumerate(file_rows(place, "utf-8"), 1):
        where = f"{place}, row {number}"
        if not isinstance(row, dict) or not {"task", "idx", "label"} <= set(row):
            raise BadInput(f"{where} needs task, idx and label; write it with `mohs benchmark predict`.")
        task = benchmark.task(str(row["task"]))
        split = row.get("split")
        if split not in (None, "", benchmark.split):
            raise BadInput(f"{where} is about the split {split!r}, and the {benchmark.split} set is scored.")
        try:
            idx = int(str(row["idx"]))  # and not 0.7
        except ValueError:
            raise BadInput(f"{where} has the idx {row['idx']!r}, which is not a whole number.") from None
        labels = found.setdefault(task.name, {})
        if idx in labels:
            raise BadInput(f"{where} is the second prediction for text {idx} of {task.name}; give one.")
        labels[idx] = _label(str(row["label"]), task.labels, where)
    if not found:
        raise BadInput(f"{place} has no predictions.")
    for name, labels in found.items():
        complete(
            benchmark.task(name),
            {idx: label for idx, label in labels.items() if label >= 0} | _kept(labels),
            str(place),
        )
    return {name: Said(labels, place.name) for name, labels in found.items()}


def _kept(labels: Mapping[int, int]) -> dict[int, int]:
    """Rejected texts, for the check that nothing is missing."""
    return {idx: 0 for idx, label in labels.items() if label < 0}


def _label(given: str, labels: tuple[str, ...], where: str) -> int:
    if given in labels:
        return labels.index(given)
    if given == "rejected":
        return -1
    if given.isdecimal() and int(given) < len(labels):
        return int(given)
    raise BadInput(f"{where} has the label {given!r}; use {', '.join(labels)}, or a number from 0.")
