"""Runs whose folders were written by version 0.1.0, before a verb became a value.

`python -m tests.before.cases FOLDER` writes them. The folders beside this file are what 0.1.0 wrote: they must open,
resume, report and export, and the same calls must give the same bytes. Nothing here depends on torch or on the machine.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import mohs
from mohs.records.export import export
from tests.toys import WordCount, Wordlike, bundled, toy_services

WEIGHTS = {"good": 2.0, "great": 3.0, "bad": -2.0, "awful": -3.0, "fine": 1.0, "film": 0.25, "movie": -1.0}
ROWS = [
    ("He said it was a good film and a fine story.", 1),
    ("The actor was awful and his movie was bad.", 0),
    ("She thought the music was great, but the ending was bad.", 1),
    ("A good man made a good movie for his wife.", 1),
    ("An awful day for the king.", 0),
    ("It was a great evening.", 0),
]
PAIRS = [
    {"premise": "A man sleeps in a good bed.", "hypothesis": "He has a great night.", "label": 1},
    {"premise": "A woman eats an awful meal.", "hypothesis": "She says it is bad food.", "label": 0},
]


def victim() -> WordCount:
    """A victim that answers the same on every machine."""
    return WordCount(WEIGHTS)


def _attack(out: Path | None, **more: Any) -> mohs.Run:
    return mohs.attack(
        "pocket",
        "pocket",
        ["textfooler", "standard", "pwws:released"],
        n=6,
        out=out,
        budget=300,
        measures=["edit-distance"],
        **bundled(),
        **toy_services(),
        fair=None if out else False,  # 0.1.0 knew no other; its folders are resumed without saying so
        **more,
    )


def _attack_pairs(out: Path | None, **more: Any) -> mohs.Run:
    return mohs.attack(
        victim(),
        PAIRS,
        ["random", "deepwordbug"],
        out=out,
        goal="below:0.4",
        constraints=["words-changed<=3"],
        stopwords=["he", "she"],
        **{"seed": 3, **bundled(), **more},
    )


def _second_order(out: Path | None, **more: Any) -> mohs.Run:
    return mohs.second_order_attack(
        victim(),
        ROWS,
        "so-beam",
        masked_lm=Wordlike(),
        k=3,
        lm=Wordlike(),
        out=out,
        vectors=bundled()["vectors"],
        patch_stopwords=out is None,  # 0.1.0 always allowed them
        **more,
    )


def _bias(out: Path | None, **more: Any) -> mohs.Run:
    return mohs.token_bias(
        victim(),
        ROWS,
        "gender",
        masked_lm=Wordlike(),
        k=2,
        both_directions=True,
        out=out,
        most=200,
        breadth=5,
        by_sample=out is None,  # 0.1.0 knew nothing else
        **more,
    )


def _radius(out: Path | None, **more: Any) -> mohs.Run:
    return mohs.radius(
        victim(), ROWS, attacks=["pdp", "textfooler"], share=["25%", 1], max_r=2, out=out, **bundled(), **more
    )


def _radius_pocket(out: Path | None, **more: Any) -> mohs.Run:
    return mohs.radius("pocket", "pocket", n=8, out=out, **more)


CASES: Mapping[str, Callable[..., mohs.Run]] = {
    "attack": _attack,
    "attack-pairs": _attack_pairs,
    "second-order": _second_order,
    "bias": _bias,
    "radius": _radius,
    "radius-pocket": _radius_pocket,
}

if __name__ == "__main__":
    for name, start in CASES.items():
        folder = Path(sys.argv[1]) / name
        shutil.rmtree(folder, ignore_errors=True)
        with start(folder) as run:
            for format in ("jsonl", "csv"):
                export(run.records(), format, folder / f"export.{format}", sys.stdout)
        for leftover in ("lock", "journal.sqlite-wal", "journal.sqlite-shm"):
            (folder / leftover).unlink(missing_ok=True)
