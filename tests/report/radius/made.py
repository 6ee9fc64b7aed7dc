"""Radius runs made up for tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mohs.bounds.finding import RadiusFinding, ShareFinding
from mohs.records import Outcome, Record
from mohs.report.radius.figures import (
    RadiusSummary,
    summarise_radius,
)
from mohs.runs.run import Run
from mohs.text import Edit
from tests.report.made import Parsed, kept, searched

_OF_FINDING = ("by", "stopped", "attacks", "share", "sizes", "pruned")
SHARE = {"r": "25%", "epsilon": 0.025, "delta": 0.005, "method": "clopper-pearson", "n": None}


def share(value: float, low: float, high: float, n: int = 4794, **changes: Any) -> ShareFinding:
    found = {"r": 2, "size": 9999, "n": n, "hold": round(value * n), "value": value, "low": low, "high": high}
    return ShareFinding(**(found | {"method": "clopper-pearson"} | changes))


def bounded(number: int, lower: int, upper: int | None, *, whole: bool = False, **changes: Any) -> Record:
    """A record of `mohs radius`; other findings than the bounds, and fields of the record, by name."""
    known: dict[str, Any] = {
        "lower": lower,
        "upper": upper,
        "exact": whole or upper == lower + 1,
        "whole": whole,
        "by": "enumeration",
        "stopped": "",
        "sizes": tuple(10 * r for r in range(1, lower + 1)),
        "margins": (0.1,) * lower,
        "attacks": {},
    }
    if lower:
        known["certificate"] = {"format": "mohs-certificate-1"}
    for key in _OF_FINDING:
        if key in changes:
            value = changes.pop(key)
            known[key] = tuple(value) if isinstance(value, list) else value
    finding = RadiusFinding(**known)
    found: dict[str, Any] = {"attack": "radius", "positions": 3, "finding": finding, "queries": 10 * number + 1}
    if upper is not None:
        found |= {
            "perturbed": ("A dull, good Film.",),
            "edits": (Edit(1, "good", "dull", "neighbours"),),
            "scores_after": (0.7, 0.3),
        }
    return searched(number, Outcome.MEASURED, **(found | changes))


def misread(number: int) -> Record:
    return searched(number, Outcome.SKIPPED, attack="radius", scores_before=(0.9, 0.1), queries=1)


def mixed() -> list[Record]:
    """Two exact (one withstands all), two bracketed, three open above, one misread, one error."""
    return [
        bounded(0, 0, 1, attacks={"a": 1, "b": 3}, share=share(0.6, 0.4, 0.8)),
        bounded(1, 3, None, whole=True, attacks={"a": None, "b": None}, share=share(1.0, 1.0, 1.0, method="counted")),
        bounded(2, 1, 3, attacks={"a": 3, "b": 3}, stopped="texts", share=share(0.95, 0.91, 0.99)),
        bounded(3, 2, 4, attacks={"a": None, "b": 4}, share=share(0.92, 0.89, 0.95)),
        bounded(4, 2, None, attacks={"a": None, "b": None}, share=share(0.999, 0.995, 1.0)),
        bounded(5, 1, None, attacks={"a": None, "b": None}, stopped="time", share=share(0.9, 0.9, 0.95)),
        bounded(6, 0, None, attacks={"a": None, "b": None}, stopped="ties", share=share(0.4, 0.3, 0.5)),
        misread(7),
        searched(8, Outcome.ERROR, attack="radius", error="It broke.", traceback="Traceback ..."),
    ]


def summary_of(*records: Record) -> RadiusSummary:
    return summarise_radius(records, {"pac": True, **SHARE}, len(records))


def run_of(*records: Record, **config: Any) -> Run:
    asked: dict[str, Any] = {
        "tasks": ["radius"], "attacks": ["a", "b"], "source": "Neighbours(k=5)", "constraints": [], "max_r": 2,
        "most": 1000, "time_limit": 2.5, "pac": True, **SHARE,
    }  # fmt: skip
    return kept("radius", list(records), **(asked | config))


def parsed(run: Run, folder: Path) -> Parsed:
    with run:
        return Parsed(run.report(folder / "report.html").read_text("utf-8"))
