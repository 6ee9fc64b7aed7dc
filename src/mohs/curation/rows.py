"""The rows of the benchmark's files: flat, with the same keys in every row of a task."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mohs.curation.config import Config, Task
from mohs.curation.item import Item

HIDDEN = -1  # the label of a hidden test set, as in GLUE
_SAYING = ("original_id", "share_changed", "similarity", "agreement", "judges")  # what may give a label away
_KINDS = {  # of the columns besides texts, in datasets and in Croissant
    "idx": ("int64", "sc:Integer"),
    "task": ("string", "sc:Text"),
    "label": ("int64", "sc:Integer"),
    "method": ("string", "sc:Text"),
    "class": ("string", "sc:Text"),
    "family": ("string", "sc:Text"),
    "original_id": ("string", "sc:Text"),
    "share_changed": ("float64", "sc:Float"),
    "similarity": ("float64", "sc:Float"),
    "agreement": ("float64", "sc:Float"),
    "judges": ("int64", "sc:Integer"),
    "judged": ("string", "sc:Text"),
}
_ABOUT = {
    "idx": "Number of the row in its split.",
    "task": "Name of the task.",
    "label": "Class by its number; -1 if the test set is hidden.",
    "method": "Attack or set that the text comes from.",
    "class": "word, sentence or human.",
    "family": "Kind of perturbation.",
    "original_id": "Id of the benign source in its data; null for examples that people made.",
    "share_changed": "Share of the original's words that differ.",
    "similarity": "Similarity with the original, of sentence-level attacks.",
    "agreement": "Share of the judges who gave this label.",
    "judges": "Number of judges.",
    "judged": "Who judged: people, imported, simulated, by definition (none needed) or nobody.",
}


def columns(names: Sequence[str]) -> dict[str, tuple[str, str, str]]:
    """The columns of a task in order: the type in datasets, the type in Croissant, and what it is."""
    found: dict[str, tuple[str, str, str]] = {}
    for name, kinds in _KINDS.items():
        if name == "label":
            found |= dict.fromkeys(names, ("string", "sc:Text", "Text to classify."))
        if name == "original_id":
            found |= {f"original_{one}": ("string", "sc:Text", "The text before the attack.") for one in names}
        found[name] = (*kinds, _ABOUT[name])
    return found


def rows_of(config: Config, task: Task, names: Sequence[str], items: Iterable[Item]) -> list[dict[str, Any]]:
    """Whole rows, with labels."""
    kinds = {one.name: (one.of_class, one.family) for one in config.attacks}
    kinds |= {one.name: ("human", one.family) for one in config.sets(task)}
    return [_row(number, item, names, kinds[item.method]) for number, item in enumerate(items)]


def _row(number: int, item: Item, names: Sequence[str], kind: tuple[str, str]) -> dict[str, Any]:
    votes = [label for _, label in item.votes]
    values = {
        "idx": number,
        "task": item.task,
        **dict(zip(names, item.text, strict=True)),
        "label": item.label,
        "method": item.method,
        "class": kind[0],
        "family": kind[1],
        **{f"original_{name}": item.original[place] if item.original else None for place, name in enumerate(names)},
        "original_id": item.source if item.original else None,
        "share_changed": item.share_changed,
        "similarity": item.similarity,
        "agreement": round(votes.count(item.label) / len(votes), 4) if votes else None,
        "judges": len(votes) or None,
        "judged": item.judged,
    }
    return {name: values[name] for name in columns(names)}


def hidden(row: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """A row without its label and what gives it away: the original, which has the same label, and the judges."""
    secret = {*(f"original_{name}" for name in names), *_SAYING}
    return {name: HIDDEN if name == "label" else None if name in secret else value for name, value in row.items()}
