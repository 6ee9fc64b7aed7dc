"""Where the charts of radius runs put their marks."""

from __future__ import annotations

from pathlib import Path

from mohs.report.radius.charts import left_standing, side_by_side, withstood
from tests.report.radius.made import bounded, parsed, run_of, summary_of


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


def test_pdp_against_the_others_text_by_text() -> None:
    found = summary_of(
        bounded(0, 0, 1, attacks={"textfooler": 4, "pdp:paper": 2, "x": None}),
        bounded(1, 0, 1, attacks={"textfooler": 4, "pdp:paper": 2, "x": 1}),
        bounded(2, 0, 1, attacks={"textfooler": 3, "pdp:paper": 3, "x": None}),
        bounded(3, 0, 1, attacks={"textfooler": 1, "pdp:paper": None, "x": None}),
    )
    chart = side_by_side(found.attacks, found.duels)
    assert chart is not None
    assert chart["one"] == "pdp:paper"
    # x: 2 of 4 is the middle of 44 to 388; y: 4 of 4 is the top. Two examples share a dot.
    assert chart["dots"] == [
        ("textfooler", [(216.0, 12.0, 4.0, 2), (302.0, 54.0, 3.0, 1)]), ("x", [(216.0, 138.0, 3.0, 1)])
    ]  # fmt: skip
    assert chart["sides"] == [("textfooler", 2, 1, 0), ("x", 0, 0, 1)], "over, on and under the diagonal"
    assert chart["diagonal"] == "M44 180L388 12"
    assert side_by_side(found.attacks[:1], []) is None
    none = summary_of(bounded(0, 0, 1, attacks={"a": 1, "b": None}))
    assert side_by_side(none.attacks, none.duels) is None, "nowhere do both succeed"


def test_without_pdp_the_attack_that_wins_most_is_compared() -> None:
    found = summary_of(*(bounded(n, 0, 1, attacks={"a": 3, "b": 2}) for n in range(2)))
    chart = side_by_side(found.attacks, found.duels)
    assert chart is not None
    assert (chart["one"], chart["sides"]) == ("b", [("a", 2, 0, 0)])


def test_the_page_draws_them(tmp_path: Path) -> None:
    page = parsed(
        run_of(bounded(0, 0, 1, attacks={"a": 3, "b": 2}), bounded(1, 0, 1, attacks={"a": 3, "b": 2})), tmp_path
    )
    assert "Substitutions on the same text" in page.text
    alone = parsed(run_of(bounded(0, 0, 1, attacks={"a": 3})), tmp_path)
    assert "Substitutions on the same text" not in alone.text
