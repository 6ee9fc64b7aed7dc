"""Diffs on the terminal."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

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


def test_words_left_out_stand_together() -> None:
    record = Record(
        "a", "0", Outcome.SUCCESS, 1, ("one", "two"), ("A very good film, truly.", "It was great!"), seed=0, words=8,
        edits=(*(Edit(at, "x", "") for at in (0, 1, 4, 5)), Edit(6, "was", "is"), Edit(7, "great", "")),
    )  # fmt: skip
    shown = diff(record)
    assert shown.plain == "  [-A very-] good film, [-truly-].\n  [-It-] was→is [-great-]!"
    struck = [shown.plain[s.start : s.end] for s in shown.spans if s.style == "red strike"]
    assert struck == ["A", " very", "truly", "It", "was", "great"]


def test_characters_that_cannot_be_seen_have_their_codes() -> None:
    record = Record(
        "a", "0", Outcome.SUCCESS, 1, ("text",), ("A good \u043eld film",), seed=0, words=4,
        edits=(Edit(1, "good", "\u202ego\u200bod\x1b"), Edit(2, "\u043eld", "new"), Edit(3, "film", "f\u0456lm")),
    )  # fmt: skip
    good, old, film = "good→⟨U+202E⟩go⟨U+200B⟩od⟨U+001B⟩", "\u043e⟨U+043E⟩ld→new", "film→f\u0456⟨U+0456⟩lm"
    assert diff(record).plain == f"  A {good} {old} {film}"


def test_a_rewritten_text_is_compared_with_its_original() -> None:
    """Its edits have no words to hang on where words are added, and say nothing about signs between words."""
    record = Record(
        "a", "0", Outcome.SUCCESS, 1, ("one", "two", "three"),
        ("A good film .", "It was \x1b[1mlong.", "Same."), seed=0, words=8,
        edits=(Edit(1, "good", "film", "rewrite: x"), Edit(2, "film", "good", "rewrite: x")),
        perturbed=("A film, good !", "It was.", "Same."),
    )  # fmt: skip
    shown = diff(record)
    assert _final(shown) == "  A film, good !\n  It was.\n  Same."
    assert _original(shown) == "  A good film .\n  It was ⟨U+001B⟩[1mlong.\n  Same."
    added = diff(replace(record, original=("A film.",), names=("one",), perturbed=("A film, https://t.co/a1.",)))
    assert added.plain == "  A film{+, https://t.co/a1+}."


def test_a_text_that_was_rewritten_without_edits_is_not_shown_as_unchanged() -> None:
    record = Record(
        "a", "0", Outcome.SUCCESS, 1, ("text",), ("Good film !",), seed=0, words=2, perturbed=("Good film ?",)
    )
    assert diff(record).plain == "  Good film !→ ?"


def _without(shown: Any, styles: set[str]) -> str:
    gone = {at for span in shown.spans if span.style in styles for at in range(span.start, span.end)}
    return "".join(sign for at, sign in enumerate(shown.plain) if at not in gone)


def _final(shown: Any) -> str:
    return _without(shown, {"dim", "red strike"})


def _original(shown: Any) -> str:
    return _without(shown, {"dim", "bold green"})
