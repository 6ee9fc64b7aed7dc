"""Where the charts of radius runs put their marks."""

from __future__ import annotations

from mohs.report.radius.charts import left_standing, withstood
from tests.report.radius.made import bounded, summary_of


def test_the_band_lies_between_the_two_curves() -> None:
    chart = withstood(summary_of(bounded(0, 0, 1), bounded(1, 1, None)))
    assert chart is not None
    # Of two: all at r = 0; one proven and possible at r = 1; at r = 2 none is proven, one possible.
    assert chart["proven"] == "M44.0 12.0V12.0H158.7V96.0H273.3V180.0H388.0"
    assert chart["possible"] == "M44.0 12.0V12.0H158.7V96.0H273.3V96.0H388.0"
    assert chart["band"] == chart["possible"] + "V180.0H273.3V96.0H158.7V12.0H44.0Z"
    assert chart["open"]
    assert withstood(summary_of()) is None


def test_what_each_attack_leaves_standing() -> None:
    found = summary_of(bounded(0, 0, 1, attacks={"a": 1, "b": 2}), bounded(1, 0, None, attacks={"a": None, "b": 2}))
    chart = left_standing(found.attacks)
    assert chart is not None
    assert chart["paths"] == {
        "a": "M44.0 12.0V12.0H158.7V96.0H273.3V96.0H388.0",
        "b": "M44.0 12.0V12.0H158.7V12.0H273.3V180.0H388.0",
    }
    assert left_standing(summary_of(bounded(0, 0, 1)).attacks) is None
    assert left_standing(summary_of(bounded(0, 0, None, attacks={"a": None})).attacks) is None
