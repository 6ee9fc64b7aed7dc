"""Runs whose comparison can be counted by hand."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mohs.records import Outcome, Record
from mohs.runs.run import Run
from mohs.text import Text
from tests.report.made import kept

ATTACK = "textfooler:paper"
SETTINGS = "TextFooler(source=Neighbours(k=50, min_cosine=0.5), stopwords=<323 words 56109fdf>)"


def attempt(number: int, ended: str, attack: str = ATTACK, **more: Any) -> Record:
    """A record by how it ended: f fooled, w withstood, x budget spent, m misread, e error, l error after a look,

    d final text rejected, r original rejected.
    """
    outcome = {
        "f": Outcome.SUCCESS,
        "w": Outcome.FAILED,
        "x": Outcome.EXHAUSTED,
        "m": Outcome.SKIPPED,
        "e": Outcome.ERROR,
        "l": Outcome.ERROR,
        "d": Outcome.DETECTED,
        "r": Outcome.REJECTED,
    }[ended]
    original = f"a film that is number {number}"
    text, label = Text(original), number % 2
    right, wrong = ((0.9, 0.1), (0.1, 0.9)) if label == 0 else ((0.1, 0.9), (0.9, 0.1))
    rejected = (0.1, 0.1, 0.8)
    final = text.replace_all({1: "movie"}) if ended == "f" else text
    values: dict[str, Any] = {
        "attack": attack,
        "example_id": f"e{number}",
        "outcome": outcome,
        "label": label,
        "names": ("text",),
        "original": (original,),
        "seed": 0,
        "words": len(text),
        "positions": 3,
        "perturbed": final.fields if ended in "fwxd" else None,
        "edits": text.edits(final),
        "scores_before": {"e": (), "m": wrong, "r": rejected}.get(ended, right),
        "scores_after": {"f": wrong, "d": rejected}.get(ended, right if ended in "wx" else ()),
        "queries": 10 + number if ended in "fwxd" else 1,
        "error": "it broke" if outcome is Outcome.ERROR else None,
    }
    return Record(**(values | more))


def run_of(
    ends: str | Sequence[Record],
    folder: Path | None = None,
    *,
    victim: str = "plain",
    identity: dict[str, Any] | None = None,
    **config: Any,
) -> Run:
    """An attack run, from one letter an example (see `attempt`) or from records."""
    records = [attempt(number, ended) for number, ended in enumerate(ends)] if isinstance(ends, str) else list(ends)
    attacks = list(dict.fromkeys(record.attack for record in records))
    known = {
        "victim": victim,
        "victim_fingerprint": victim,
        "data_hash": "abc",
        "seed": 7,
        "goal": "untargeted",
        "budget": None,
        "examples": len({record.example_id for record in records}),
        "services": {"encoder": "pocket encoder 1", "gradients": victim},
        "settings": dict.fromkeys(attacks, SETTINGS),
    }
    return kept("attack", records, known | (identity or {}), folder=folder, victim=victim, attacks=attacks, **config)
