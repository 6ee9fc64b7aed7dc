"""The figures of attack runs and their denominators."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from mohs.records import Outcome, Record
from mohs.report.attack.figures import summarise
from mohs.report.attack.table import lines
from mohs.report.rates import mean_of
from mohs.text import Edit

PLAIN = Record("a", "0", Outcome.FAILED, 1, ("text",), ("one two three four",), seed=0, words=4, queries=10)


def made(outcome: Outcome, count: int, edits: int = 0, **changes: Any) -> list[Record]:
    changed = tuple(Edit(i, "x", "y") for i in range(edits))
    right, wrong = (0.2, 0.8), (0.8, 0.2)
    before = {Outcome.SKIPPED: wrong, Outcome.ERROR: ()}.get(outcome, right)
    after = {Outcome.SUCCESS: wrong, Outcome.SKIPPED: (), Outcome.ERROR: ()}.get(outcome, right)
    record = replace(PLAIN, outcome=outcome, edits=changed, scores_before=before, scores_after=after)
    record = replace(record, **changes)
    return [record for _ in range(count)]


def test_denominators() -> None:
    records = made(Outcome.SUCCESS, 6, 2) + made(Outcome.FAILED, 3) + made(Outcome.EXHAUSTED, 1)
    records += made(Outcome.SKIPPED, 5) + made(Outcome.ERROR, 7)
    (summary,) = summarise(records)
    assert (summary.success.hits, summary.success.total) == (6, 10)
    assert (summary.accuracy_before.hits, summary.accuracy_before.total) == (10, 15)
    assert summary.accuracy_under_attack is not None
    assert (summary.accuracy_under_attack.hits, summary.accuracy_under_attack.total) == (4, 15)
    assert summary.words_changed.value == 2
    assert summary.words_changed.total == 6
    assert summary.share_changed.value == 0.5
    assert summary.queries.total == 10
    assert summary.outcomes == {"success": 6, "failed": 3, "skipped": 5, "exhausted": 1, "error": 7}
    shown = {name: value for name, value, _ in lines(summary)}
    assert shown["skipped"] == "5"
    assert shown["errors"] == "7"
    assert shown["budget spent"] == "1"
    assert shown["attack success"].startswith("60.0% (6/10) [")


def test_the_interval_of_a_measure_ends_where_the_measure_does() -> None:
    values = [1.0] * 8 + [0.5]
    assert (mean_of(values, "successes").high or 0) > 1
    names = ("part of speech", "sentence similarity", "of my own")
    records = [replace(one, measures=dict.fromkeys(names, v)) for v in values for one in made(Outcome.SUCCESS, 1, 1)]
    (summary,) = summarise(records)
    assert [summary.measures[name].high == 1 for name in names] == [True, True, False]


def test_errors_in_the_attack_do_not_lower_the_accuracy_before() -> None:
    """Only what is attacked can fail, which is what the victim had right."""
    errors = [replace(record, scores_before=(0.2, 0.8)) for record in made(Outcome.ERROR, 4)]
    (summary,) = summarise(errors + made(Outcome.SKIPPED, 1) + made(Outcome.ERROR, 2))
    before, under = summary.accuracy_before, summary.accuracy_under_attack
    assert (before.hits, before.total, before.of) == (4, 5, "examples scored")  # two were never scored
    assert under is not None
    assert (under.counted, under.of, under.bounds) == ("-/5", "examples scored", (0, 6 / 7))
    assert under.value is None  # no attack got to its end
    notes = {name: note for name, _, note in lines(summary)}
    assert notes["accuracy before"] == "of examples scored"
    assert notes["accuracy under attack"] == "of examples scored; errors count as the attacked without one"


def test_accuracy_does_not_depend_on_the_goal() -> None:
    """With the goal p < 0.9 an example at 0.8 is skipped, and one brought to 0.85 is a success: both stay right."""
    skipped = replace(PLAIN, outcome=Outcome.SKIPPED, scores_before=(0.2, 0.8))
    success = replace(PLAIN, outcome=Outcome.SUCCESS, scores_before=(0.05, 0.95), scores_after=(0.15, 0.85))
    (summary,) = summarise([skipped, success])
    assert summary.accuracy_under_attack is not None
    assert summary.accuracy_before.value == summary.accuracy_under_attack.value == 1
    assert (summary.success.hits, summary.success.total) == (1, 1)


def test_where_the_label_is_to_stay_there_is_no_accuracy_under_attack() -> None:
    records = made(Outcome.SUCCESS, 1, 3) + made(Outcome.FAILED, 1, 2) + made(Outcome.SKIPPED, 1)
    (summary,) = summarise(records, {"a": "reduced:1"}.__getitem__)
    assert summary.goal == "reduced:1"
    assert summary.accuracy_under_attack is None
    assert summary.to_json()["accuracy_under_attack"] is None
    assert (summary.accuracy_before.hits, summary.accuracy_before.total) == (2, 3)
    assert summary.words_left == mean_of([1, 2], "examples attacked")  # of four words, also where it failed
    assert summary.words_changed.value == 3  # of the success
    shown = {name: note for name, _, note in lines(summary)}
    assert "accuracy under attack" not in shown
    assert "no accuracy under attack" in shown["words left"]
    (usual,) = summarise(records)
    assert usual.words_left is None
    assert "words left" not in {name for name, _, _ in lines(usual)}


def test_nothing_to_divide_by() -> None:
    (summary,) = summarise(made(Outcome.ERROR, 2))
    assert summary.success.value is None
    assert summary.success.interval is None
    assert summary.words_changed.value is None
    assert {name: value for name, value, _ in lines(summary)}["attack success"] == "- (0/0) {0.0, 100.0}"
    assert summarise([]) == []


def test_attacks_are_kept_apart_and_in_order() -> None:
    records = [replace(PLAIN, attack=name) for name in ("b", "a", "b")]
    summaries = summarise(records)
    assert [(s.attack, s.outcomes["failed"]) for s in summaries] == [("b", 2), ("a", 1)]


def test_json_spells_out_the_intervals() -> None:
    row = summarise(made(Outcome.SUCCESS, 2, 1))[0].to_json()
    assert row["success"]["value"] == 1
    assert row["success"]["of"] == "examples attacked"
    assert len(row["success"]["interval"]) == 2


def test_errors_do_not_lower_the_accuracy_under_attack() -> None:
    """20 misread, 40 errors, 20 fooled, 20 withstood: the errors were all attacked, so it is 40% and not 33%."""
    scored: dict[str, Any] = {"scores_before": (0.2, 0.8)}
    records = [
        *made(Outcome.SKIPPED, 20, scores_before=(0.8, 0.2)),
        *made(Outcome.ERROR, 40, **scored),
        *made(Outcome.SUCCESS, 20, scores_after=(0.7, 0.3), **scored),
        *made(Outcome.FAILED, 20, **scored),
    ]
    (summary,) = summarise(records)
    under = summary.accuracy_under_attack
    assert under is not None
    assert (under.value, under.counted, under.errors, under.bounds) == (0.4, "40.0/100", 40, (0.2, 0.6))
    said = summary.to_json()["accuracy_under_attack"]
    assert (said["hits"], said["total"], said["value"], said["of"]) == (40, 100, 0.4, "examples scored")
    assert (summary.success.value, summary.success.bounds) == (0.5, (0.25, 0.75))
    assert (summary.accuracy_before.value, summary.accuracy_before.errors) == (0.8, 0)
    assert dict(row[:2] for row in lines(summary))["accuracy under attack"].endswith("{20.0, 60.0}")
    (of_class,) = summary.to_json()["by_class"]["classes"]
    assert of_class["accuracy_under_attack"] == {**said, "of": "examples of the class scored"}


def test_a_battery_that_won_after_an_error_is_an_error_with_known_bounds() -> None:
    scored: dict[str, Any] = {"scores_before": (0.2, 0.8)}
    records = [
        *made(Outcome.ERROR, 3, by="m", scores_after=(0.7, 0.3), **scored),
        *made(Outcome.ERROR, 1, **scored),
        *made(Outcome.FAILED, 4, **scored),
    ]
    (summary,) = summarise(records)
    assert (summary.success.hits, summary.success.total) == (0, 4)
    assert summary.success.bounds == (3 / 8, 4 / 8)
    assert summary.accuracy_under_attack is not None
    assert summary.accuracy_under_attack.bounds == (4 / 8, 5 / 8)


def test_what_later_members_hide_is_within_the_bounds() -> None:
    """The first member fools 50 of 100; the second errs on half of the rest and fools a fifth: 60% without errors."""
    scored: dict[str, Any] = {"scores_before": (0.2, 0.8)}
    (summary,) = summarise(
        [
            *made(Outcome.SUCCESS, 50, by="first", **scored),
            *made(Outcome.ERROR, 25, **scored),
            *made(Outcome.SUCCESS, 5, by="second", **scored),
            *made(Outcome.FAILED, 20, **scored),
        ]
    )
    assert summary.success.value == 55 / 75  # too high, as docs/reference.md says
    assert summary.success.bounds == (0.55, 0.8)
