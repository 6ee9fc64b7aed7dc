"""Attack runs on the terminal."""

from __future__ import annotations

from dataclasses import replace

from mohs.records import Outcome, Record
from mohs.report.attack.view import _headline


def test_the_line_above_a_diff_names_the_member_and_a_label_that_was_misread() -> None:
    record = Record(
        "standard", "7", Outcome.SUCCESS, 0, ("text",), ("x",), seed=0, words=1, by="beam:plain",
        scores_before=(0.6, 0.4), scores_after=(0.2, 0.8),
    )  # fmt: skip
    assert _headline(record, ["bad", "good"], None).plain == "standard (beam:plain), 7: bad 60% -> good 80%"
    misread = replace(record, by="", scores_before=(0.4, 0.6))
    assert _headline(misread, [], None).plain == "standard, 7 (label class 0): class 1 60% -> class 1 80%"
