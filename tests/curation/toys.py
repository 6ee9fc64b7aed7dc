"""A small benchmark: three victims that count words, and texts whose labels they mostly read right."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Sequence
from dataclasses import replace
from multiprocessing import parent_process
from pathlib import Path
from typing import Any

from mohs.curation.config import Config
from mohs.curation.item import Item
from mohs.curation.reading import config_from
from tests.toys import WordCount

WEIGHTS = {"good": 2.0, "great": 3.0, "bad": -2.0, "awful": -3.0, "fine": 1.5, "nice": 1.5, "poor": -1.5}
_LEANING = {"however": -0.6, "still": 0.6, "true": -0.4, "https": 4.0}  # what a text says besides; distractions count
_FIRST = WordCount({**WEIGHTS, **_LEANING})
_SECOND = WordCount({**WEIGHTS, **_LEANING, "nice": 1.0, "decent": 1.5, "wonderful": 0.4})
_THIRD = WordCount({**WEIGHTS, **_LEANING, "fine": 1.0, "terrible": -1.0, "dreadful": 0.3})

WORDS = "the film was {} and {} the music seemed long to all of us in that room on a rainy day".split()


def first(texts: Sequence[str]) -> list[tuple[float, ...]]:
    return [_FIRST.scores((text,)) for text in texts]


def second(texts: Sequence[str]) -> list[tuple[float, ...]]:
    return [_SECOND.scores((text,)) for text in texts]


def third(texts: Sequence[str]) -> list[tuple[float, ...]]:
    return [_THIRD.scores((text,)) for text in texts]


def killing(texts: Sequence[str]) -> list[tuple[float, ...]]:
    """As the third, but a process that works for another one is ended."""
    if parent_process() is not None:
        os.kill(os.getpid(), signal.SIGKILL)
    return third(texts)


def reviews(n: int = 12) -> list[dict[str, Any]]:
    """Texts with a word that says the label, and one that leans the other way."""
    good, bad = ("good", "great", "fine", "nice"), ("bad", "awful", "poor", "bad")
    rows = []
    for number in range(n):
        label = number % 2 ^ 1
        words = iter(((bad, good)[label][number // 2 % 4], ("still", "however")[label]))
        text = " ".join(next(words) if word == "{}" else word for word in WORDS)
        rows.append({"id": f"r{number}", "text": f"{text} {number}", "label": label})
    return rows


def write_rows(path: Path, rows: Sequence[dict[str, Any]]) -> str:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    return str(path)


def values(folder: Path, **more: Any) -> dict[str, Any]:
    """A configuration as YAML would give it, with its data in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    data = write_rows(folder / "reviews.jsonl", reviews())
    hard = [{"text": f"Number {n} is not {('good', 'bad')[n % 2]} at all.", "label": n % 2} for n in range(30)]
    task = {
        "kind": "sentiment",
        "data": data,
        "labels": ["negative", "positive"],
        "surrogates": {name: f"python:tests.curation.toys:{name}" for name in ("first", "second", "third")},
        "licence": "CC0-1.0",
    }
    found = {
        "name": "toy",
        "about": "A toy.",
        "licence": "CC-BY-4.0",
        "tasks": {"reviews": task},
        "attacks": [
            {"attack": "textfooler", "class": "word", "family": "embedding"},
            {"attack": "pruthi", "class": "word", "family": "typo"},
            {"attack": "random", "class": "sentence", "family": "syntactic"},
            {"attack": "distraction", "class": "sentence", "family": "distraction"},
        ],
        "crafted": [
            {"name": "ours", "task": "reviews", "file": write_rows(folder / "hard.jsonl", hard), "family": "checklist"}
        ],
        "filters": {"word_change": 0.08},
        "judging": {"by": "simulated"},
        "split": 0.2,
    }
    return {**found, **more}


def config(folder: Path, **more: Any) -> Config:
    return config_from(values(folder, **more), "toy")


def item(method: str, source: str, number: int = 0, **more: Any) -> Item:
    """An item of the toy task, with a text of its own."""
    made = Item(
        f"reviews/{method}/{source}/{number}",
        "reviews",
        method,
        more.pop("label", 0),
        (f"{method} {source} {number}",),
        (f"original {source}",),
        source,
        f"benign {source}",
        ("first",),
        share_changed=0.1,
    )
    return replace(made, **more)


def content(folder: Path) -> dict[str, bytes]:
    """All files of a benchmark but those of runs and studies, which note seconds and have secrets."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.relative_to(folder).parts[0] not in ("runs", "studies") and path.name != ".lock"
    }
