"""Diffs on the terminal."""

from __future__ import annotations

from mohs.records import Outcome, Record
from mohs.report.terminal import diff
from mohs.text import Edit


def test_old_and_new_side_by_side() -> None:
    record = Record(
        "a", "0", Outcome.SUCCESS, 1, ("one", "two"), ("A good film.", "[bold]Truly[/] great!"), seed=0, words=6,
        edits=(Edit(1, "good", "fine"), Edit(5, "great", "grand")),
    )  # fmt: skip
    shown = diff(record)
    assert shown.plain == "  A good→fine film.\n  [bold]Truly[/] great→grand!"
    assert [shown.plain[s.start : s.end] for s in shown.spans if s.style == "bold green"] == ["fine", "grand"]
    assert [shown.plain[s.start : s.end] for s in shown.spans if s.style == "red strike"] == ["good", "great"]


def test_control_characters_do_not_reach_the_terminal() -> None:
    record = Record(
        "a", "0", Outcome.SUCCESS, 1, ("text",), ("\x1b[2Jgood film\x07",), seed=0, words=2,
        edits=(Edit(1, "good", "fine"),),
    )  # fmt: skip
    assert "\x1b" not in diff(record).plain
    assert "\x07" not in diff(record).plain
