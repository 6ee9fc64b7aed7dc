"""Second-order runs made up for tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mohs.records import Outcome, Record
from mohs.runs.run import Run
from mohs.second_order.finding import SecondOrderFinding
from mohs.second_order.patches import Patch
from mohs.text import Edit
from tests.report.made import Parsed, kept, searched

PATCH = Patch(position=3, old="film", new="movie", gap=0.4)


def vulnerable(number: int = 0, **changes: Any) -> Record:
    finding = SecondOrderFinding(
        patch=PATCH,
        patched_before=(0.3, 0.7),
        patched_after=(0.6, 0.4),
        steps=2,
        size=9,
    )
    found: dict[str, Any] = {
        "perturbed": ("A good, dull Film.",),
        "edits": (Edit(2, "good", "dull", "masked"),),
        "scores_after": (0.1, 0.9),
        "finding": finding,
        "measures": {"perplexity-before": 100.0 + number, "perplexity": 200.0 + number},
    }
    return searched(number, **(found | changes))


def mixed() -> list[Record]:
    pair = SecondOrderFinding(PATCH, (0.3, 0.7))
    return [
        vulnerable(0),
        vulnerable(1, edits=(), perturbed=("A good, good Film.",), measures={}, queries=3),
        vulnerable(2, queries=7),
        searched(3, Outcome.FAILED, finding=pair),
        searched(4, Outcome.EXHAUSTED, finding=pair),
        searched(5, Outcome.SKIPPED, queries=0),
        searched(6, Outcome.SKIPPED, queries=0),
        searched(7, Outcome.ERROR, error="It broke.", traceback="Traceback ..."),
    ]


def run_of(*records: Record, **config: Any) -> Run:
    asked: dict[str, Any] = {"tasks": ["so-beam"], "k": 2, "beam": 20}
    return kept("second-order", list(records), **(asked | config))


def parsed(run: Run, folder: Path) -> Parsed:
    with run:
        return Parsed(run.report(folder / "report.html").read_text("utf-8"))
