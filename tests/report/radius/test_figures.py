"""The figures of radius runs."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mohs.errors import BadInput
from mohs.report.radius.figures import (
    radius_flags,
    radius_headline,
    radius_lines,
    shown_steps,
    summarise_radius,
)
from tests.report.radius.made import bounded, misread, mixed, summary_of


def test_what_is_known_of_each_example_and_why_no_more() -> None:
    records = mixed()
    assert [record.finding.kind for record in records[:7]] == [
        "exact", "whole", "bracketed", "bracketed", "unknown", "unknown", "unknown"
    ]  # fmt: skip
    assert [record.finding.reason for record in records[:7]] == ["", "", "texts", "max-r", "max-r", "time", "ties"]
    found = summary_of(*records)
    assert (found.right.hits, found.right.total, found.right.of) == (
        8,
        9,
        "examples scored",
    )  # the error was read right
    assert found.outcomes == {"measured": 7, "skipped": 1, "error": 1}
    assert found.kinds == {"whole": 1, "exact": 1, "bracketed": 2, "unknown": 3}
    assert found.why["bracketed"] == {"max-r": 1, "texts": 1, "time": 0, "ties": 0, "unsteady": 0, "batches": 0}
    assert found.why["unknown"] == {"max-r": 1, "texts": 0, "time": 1, "ties": 1, "unsteady": 0, "batches": 0}
    assert found.lower.value == pytest.approx(9 / 7)
    assert found.upper.value == pytest.approx(8 / 3)
    assert (found.lower.total, found.upper.total) == (7, 3)
    assert (found.queries.value, found.median_queries) == (31, 31)
    assert found.texts == 10 + 20 + 30 + 10 + 10 + 20 + 10 + 20 + 10
    assert found.certificates == 5


def test_texts_of_levels_that_were_not_proven_or_not_asked_do_not_count() -> None:
    tied = bounded(0, 1, None, stopped="ties", sizes=[5, 70])
    closed = bounded(1, 3, 4, by="closed form", sizes=[1, 1, 1])
    found = summary_of(tied, closed)
    assert found.texts == 5
    assert found.forms == {"enumeration": 1, "closed form": 1}
    assert "texts of proven levels" not in dict(row[:2] for row in radius_lines(summary_of(closed)))


@given(st.lists(st.tuples(st.integers(0, 8), st.none() | st.integers(1, 20), st.booleans()), min_size=1, max_size=12))
def test_the_curve_is_that_of_counting(drawn: list[tuple[int, int | None, bool]]) -> None:
    bounds = [(low, None if gap is None or whole else low + gap, whole) for low, gap, whole in drawn]
    curve = summary_of(*(bounded(n, low, up, whole=all_) for n, (low, up, all_) in enumerate(bounds))).curve
    for r, step in enumerate(curve, 1):
        assert step.r == r
        assert step.proven.hits == sum(whole or low >= r for low, _, whole in bounds)
        assert step.possible.hits == sum(up is None or up > r for _, up, _ in bounds)
        assert step.proven.total == step.possible.total == len(bounds)
        assert step.proven.hits <= step.possible.hits
    last = curve[-1]
    assert last.proven.hits == sum(whole for *_, whole in bounds), "beyond it nothing changes"
    assert last.possible.hits == sum(up is None for _, up, _ in bounds)


def test_of_many_steps_the_round_ones_and_the_last_are_shown() -> None:
    curve = summary_of(bounded(0, 140, 143)).curve
    assert len(curve) == 143
    assert [step.r for step in shown_steps(curve)] == [1, 2, 3, 5, 7, 10, 20, 30, 50, 70, 100, 143]
    assert len(shown_steps(curve[:12])) == 12


def test_time_limits_and_what_bounds_exclude_where_the_records_have_them() -> None:
    records = [
        bounded(0, 2, 3, by="enumeration and bounds", sizes=[10, 40, 90], pruned=[4, 30, 80]),
        bounded(1, 1, None, stopped="time", sizes=[5], pruned=[0]),
        bounded(2, 1, 2, sizes=[7]),
        bounded(3, 9, 10, by="closed form", sizes=[1] * 9),
    ]
    found = summarise_radius(records, {"time_limit": 5})
    assert (found.texts, found.excluded) == (62, 34)
    rows = {name: (value, note) for name, value, note in radius_lines(found)}
    assert rows["texts of proven levels"][0] == "62"
    assert rows["of these asked"][0] == "28"
    assert rows["of these excluded"][0] == "34"
    assert rows["by enumeration and bounds"][0] == "1"
    assert rows["ended in time"][0].startswith("75.0% (3/4)")
    older = dict(row[:2] for row in radius_lines(summarise_radius(records[2:3], {"time_limit": None})))
    assert not {"ended in time", "of these excluded"} & set(older)


def test_the_headline_gives_both_ends_where_they_differ() -> None:
    assert radius_headline(summary_of(*mixed())) == (
        "Between 5 and 6 of 7 examples the model got right withstand any one substitution; the radius is exact for 2."
    )
    assert radius_headline(summary_of(bounded(0, 1, 2), bounded(1, 0, 1))) == (
        "1 of 2 examples the model got right provably withstand any one substitution; the radius is exact for all."
    )


def test_what_a_reader_must_know_first() -> None:
    empty = [bounded(n, 0, None, whole=True, positions=0) for n in range(2)]
    flags = radius_flags({}, summary_of(*empty, bounded(2, 2, None), bounded(3, 0, None, stopped="time")), 4, 4)
    assert flags == [
        "2 of 4 examples the model got right have no word to replace: "
        "they withstand only because there is nothing to try.",
        "Nothing is known beyond L for 1 of 4 examples the model got right (--max-r was reached): "
        "a larger --max-r proves more, and --attack may find texts that change the label.",
        "Nothing is known beyond L for 1 of 4 examples the model got right (--time-limit was reached): "
        "a larger --time-limit lets the prover try more texts.",
    ]
    assert radius_flags({}, summary_of(bounded(0, 1, 2), bounded(1, 1, 5)), 2, 2) == []


def test_errors_do_not_lower_what_was_read_right_and_show_as_bounds() -> None:
    """Only examples that were read right can end in an error of the prover; one error came before any score."""
    scored, unscored = mixed()[-1], replace(mixed()[-1], scores_before=())
    found = summary_of(bounded(0, 1, 2), misread(1), scored, unscored)
    assert (found.right.hits, found.right.total, found.right.errors) == (2, 3, 1)
    assert found.right.bounds == (2 / 4, 3 / 4)
    assert found.total == 1
    assert found.of_right("exact").bounds == (1 / 3, 1.0)
    assert found.curve[0].proven.bounds == (1 / 3, 1.0)
    assert radius_headline(summary_of(misread(1), scored)) == (
        "All 1 examples that the model got right ended in an error."
    )


def test_more_substitutions_than_words_are_refused() -> None:
    """A forged record would otherwise make a curve of a thousand million steps."""
    record = bounded(0, 1, None)
    forged = replace(record, finding=replace(record.finding, lower=1_000_000_001))
    with pytest.raises(BadInput, match=r"speaks of 1,000,000,001 substitutions in \d+ words"):
        summary_of(forged)
