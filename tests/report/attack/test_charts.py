"""The geometry of the curve."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from mohs.records import Outcome, Record
from mohs.report.attack.charts import curve
from mohs.report.attack.figures import summarise

PLAIN = Record("a", "0", Outcome.FAILED, 1, ("text",), ("x",), seed=0, words=1, queries=10)


def test_the_curve_ends_at_the_success_rate() -> None:
    records = [replace(PLAIN, outcome=Outcome.SUCCESS, queries=q) for q in (2, 5, 5)] + [PLAIN]
    drawn = curve(summarise(records), {"a": Counter({2: 1, 5: 2})})
    assert drawn is not None
    heights = [float(part.split("V")[1].split("H")[0]) for part in drawn["paths"]["a"].split("H") if "V" in part]
    # The axis runs from 180 (nothing) up to 12 (all): none, then a quarter, then three quarters.
    assert heights == [180, 180 - 168 / 4, 180 - 168 * 3 / 4]


def test_nothing_to_draw() -> None:
    assert curve([], {}) is None
