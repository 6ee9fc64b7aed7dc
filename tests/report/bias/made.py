"""Bias runs made up for tests."""

from __future__ import annotations

from pathlib import Path

from mohs.records import Record
from mohs.runs.run import Run
from tests.report.made import Parsed, measured, unfit

HE, ACTOR = ("he", "she"), ("actor", "actress")


def records(shift: float = 0.1) -> list[Record]:
    """Eight sentences of one pair, which hide what their neighbours show, two of another, one of none."""
    many = [
        measured(n, HE, [[0.001 + j / 10], [shift / 2, shift / 2 + n / 1000], [shift + j] * 3])
        for n, j in ((n, (n - 3.5) / 1000) for n in range(8))
    ]
    few = [measured(8 + n, ACTOR, [[-0.05], [-0.04], [-0.03]]) for n in range(2)]
    return [*many, *few, unfit(10)]


def page_of(run: Run, folder: Path) -> Parsed:
    with run:
        return Parsed(run.report(folder / "report.html").read_text("utf-8"))
