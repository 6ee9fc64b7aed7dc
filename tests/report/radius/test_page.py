"""The page of a radius run."""

from __future__ import annotations

from pathlib import Path

from mohs.report.radius.figures import (
    KINDS,
    radius_lines,
)
from mohs.report.table import rate
from mohs.text import Edit
from tests.report.made import EVIL, needs_nothing_else
from tests.report.radius.made import bounded, mixed, parsed, run_of, share, summary_of


def test_the_page_has_the_same_figures_and_every_example(tmp_path: Path) -> None:
    found = parsed(run_of(*mixed(), victim="my model"), tmp_path)
    summary = summary_of(*mixed())
    for name, value, note in radius_lines(summary):
        assert all(part in found.text for part in (name, value, note))
    charts = [attrs["aria-label"] or "" for tag, attrs in found.tags if tag == "svg" and "aria-label" in attrs]
    assert len(charts) == 6
    for step in summary.curve:
        assert f"r {step.r}: proven {rate(step.proven)}, possible {rate(step.possible)}." in charts[0]
    assert "a: 28.6% (2/7)" in charts[1]
    assert len(found.with_class("band")) == 2
    assert "mohs verify RUN --victim 'my model'" in found.text
    assert "5 certificates" in found.text
    data = found.data()
    rows = data["rows"]
    assert [row["outcome"] for row in rows[6:]] == ["unknown", "skipped", "error"]
    assert rows[0]["text"] == [["A ", ["good", "dull", "neighbours"], ", good Film."]]
    assert (rows[0]["lower"], rows[0]["upper"], rows[0]["by"], rows[0]["pr"]) == (0, 1, "enumeration", 0.6)
    assert rows[0]["said"] == "bad"
    assert rows[0]["shown"]["pr"] == "0.6000 [0.4000, 0.8000]"
    assert (rows[1]["shown"]["upper"], rows[1]["shown"]["pr"]) == ("none", "1.0000 (counted)")
    assert (rows[4]["shown"]["upper"], rows[4]["by"]) == ("?", "enumeration, ended by max-r")
    assert (rows[7]["lower"], rows[7]["pr"]) == (None, None), "what is not there is sorted to the end"
    assert {column["cell"] for column in data["columns"]} >= {"lower", "upper", "by", "pr"}
    assert "open above 3" in found.text
    assert "misclassified 1" in found.text
    assert data["called"]["unknown"] == KINDS["unknown"]
    assert needs_nothing_else(found)


def test_without_attacks_and_shares_their_parts_are_left_out(tmp_path: Path) -> None:
    found = parsed(run_of(bounded(0, 1, 2), bounded(1, 0, 1), attacks=[], pac=False, time_limit=None), tmp_path)
    charts = [attrs for tag, attrs in found.tags if tag == "svg"]
    assert len(charts) == 1
    assert not found.with_class("band"), "nothing is open, so nothing is shaded"
    assert "Upper bounds by attack" not in found.text
    assert "PR" not in found.text
    assert "pr" not in {column["cell"] for column in found.data()["columns"]}


def test_texts_never_become_markup(tmp_path: Path) -> None:
    nasty = bounded(
        0, 0, 1, attacks={EVIL: 1, EVIL + "2": 1}, by=EVIL, share=share(0.5, 0.4, 0.6, method=EVIL),
        example_id=EVIL, original=(f"{EVIL} film",), edits=(Edit(0, "script", EVIL, EVIL),),
    )  # fmt: skip
    config = {
        "labels": [EVIL] * 2,
        "victim": EVIL,
        "data": EVIL,
        "attacks": [EVIL],
        "source": EVIL,
        "constraints": [EVIL],
    }
    found = parsed(run_of(nasty, **config), tmp_path)
    assert [tag for tag, _ in found.tags].count("script") == 2
    assert needs_nothing_else(found)
    assert not set("<>&\u2028\u2029") & set(found.scripts[0])
    assert "alert(1)" not in found.scripts[1]
