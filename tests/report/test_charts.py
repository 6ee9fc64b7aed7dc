"""The geometry of the charts."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from mohs.records import Outcome, Record
from mohs.report.attack.charts import curve
from mohs.report.attack.figures import summarise
from mohs.report.charts import bars

PLAIN = Record("a", "0", Outcome.FAILED, 1, ("text",), ("x",), seed=0, words=1, queries=10)


def test_the_curve_ends_at_the_success_rate() -> None:
    records = [replace(PLAIN, outcome=Outcome.SUCCESS, queries=q) for q in (2, 5, 5)] + [PLAIN]
    drawn = curve(summarise(records), {"a": Counter({2: 1, 5: 2})})
    assert drawn is not None
    heights = [float(part.split("V")[1].split("H")[0]) for part in drawn["paths"]["a"].split("H") if "V" in part]
    # The axis runs from 180 (nothing) up to 12 (all): none, then a quarter, then three quarters.
    assert heights == [180, 180 - 168 / 4, 180 - 168 * 3 / 4]


def test_bars_count_every_success_once() -> None:
    words = {"a": Counter({1: 3, 2: 1, 40: 2}), "b": Counter({7: 5})}
    drawn = bars(words)
    assert drawn is not None
    assert {attack: sum(panel) for attack, panel in drawn["panels"].items()} == {"a": 6, "b": 5}
    assert len(drawn["labels"]) == len(drawn["panels"]["a"]) <= 16


def test_nothing_to_draw() -> None:
    assert bars({}) is None
    assert curve([], {}) is None
