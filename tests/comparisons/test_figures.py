"""The figures of a comparison, against hand counts and the runs' own reports."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import numpy as np
import pytest

import mohs
from mohs.comparisons.fairness import Success, paired_fair
from mohs.comparisons.questions import CLEAN, SUCCESS, UNDER
from mohs.report.paired import Paired
from mohs.tasks.inference import holm, mcnemar, paired_interval
from mohs.text.calibration import Calibration
from tests.comparisons.toys import ATTACK, attempt, run_of

FIRST = "fffffwwwmmff"
OTHER = "fwwwfwfwmwmw"


def only(comparison: mohs.comparisons.Comparison, question: str, group: str = ATTACK) -> Paired:
    found = comparison.against[0].row("" if question == CLEAN else group, question)
    assert found is not None
    return found


def test_counts_by_hand() -> None:
    found = mohs.compare(run_of(FIRST), run_of(OTHER, victim="hard"), judge="none")
    under = only(found, UNDER)
    # withstood or fooled in both; examples 1, 2, 3, 9, 11 are right under attack in the second alone, 6 in the first
    assert (under.pairs.first, under.pairs.second, under.pairs.known) == (1, 5, 12)
    assert (under.first, under.second) == (3 / 12, 7 / 12)
    assert under.p == mcnemar(1, 5)
    assert under.interval == paired_interval(5, 1, 12)
    clean = only(found, CLEAN)
    assert (clean.pairs.first, clean.pairs.second, clean.pairs.known) == (1, 1, 12)  # 10 and 9
    success = only(found, SUCCESS)  # attacked in both: all but 8, 9, 10
    assert (success.pairs.first, success.pairs.second, success.pairs.known) == (4, 1, 9)
    assert success.of == "examples attacked in both"
    assert found.against[0].only == {ATTACK: (("e1", "e2", "e3", "e11"), ("e6",))}
    assert found.against[0].queries[ATTACK].value == 0
    assert found.against[0].queries[ATTACK].total == 9


@pytest.mark.parametrize("ends", ["fffwwwmmxf", "fflwwlmmef", "eeelfwmwff", "ffwddrrmwl", "llll", "mmmm", "f"])
def test_each_run_is_shown_as_its_own_report_does(ends: str) -> None:
    found = mohs.compare(run_of(ends), run_of(ends, victim="hard"), judge="none")
    (summary,) = found.sides[0].run.summary()
    rates = found.rates(found.sides[0], ATTACK)
    for own, shown in (
        (summary.accuracy_before, found.rates(found.sides[0], "")[CLEAN]),
        (summary.accuracy_under_attack, rates[UNDER]),
        (summary.success, rates[SUCCESS]),
    ):
        assert own is not None
        assert (shown.value, shown.interval, shown.bounds) == (own.value, own.interval, own.bounds)
        assert (shown.counted, shown.errors) == (own.counted, own.errors)
    assert found.sides[0].queries(ATTACK) == summary.queries
    under = only(found, UNDER)
    assert under.first == (None if summary.accuracy_under_attack is None else summary.accuracy_under_attack.value)


def test_errors_are_counted_and_bound_the_difference() -> None:
    found = mohs.compare(run_of("fffffwwwll"), run_of("fwwffwwelw", victim="hard"), judge="none")
    under, success = only(found, UNDER), only(found, SUCCESS)
    assert under.pairs.errors == 3
    assert success.pairs.errors == 3
    assert under.bounds == ((2 - 1 - 1 + 0) / 10, (2 + 0 + 1 + 1) / 10)  # e7: w, hidden; e8: both hidden; e9: hidden, w
    assert only(found, CLEAN).pairs.errors == 1  # e7 was not read
    assert "ended in" in found._repr_html_()
    assert found.to_json()["runs"][0]["groups"][ATTACK]["outcomes"]["error"] == 2


def test_a_battery_that_succeeded_before_its_error_bounds_what_the_error_hides() -> None:
    won = attempt(0, "l", by="pwws:paper", scores_after=(0.1, 0.9), perturbed=("a movie that is number 0",))
    rest = [attempt(number, "w") for number in range(1, 8)]
    found = mohs.compare(run_of([won, *rest]), run_of([attempt(0, "w"), *rest], victim="hard"), judge="none")
    assert only(found, UNDER).bounds == (1 / 8, 1 / 8)  # it is wrong, whatever the error hides
    assert only(found, SUCCESS).bounds == (-1 / 8, -1 / 8)


def test_holm_is_over_all_attacks_and_runs_of_one_question() -> None:
    def two(first: str, second: str, victim: str) -> mohs.Run:
        ends = [(attack, ends) for attack, ends in (("one", first), ("two", second))]
        return run_of([attempt(n, e, attack) for attack, text in ends for n, e in enumerate(text)], victim=victim)

    base = two("f" * 12, "f" * 12, "plain")
    found = mohs.compare(
        base, two("w" * 9 + "fff", "w" * 6 + "f" * 6, "b"), two("w" * 3 + "f" * 9, "f" * 12, "c"), judge="none"
    )
    rows = [one.row(group, UNDER) for one in found.against for group in ("one", "two")]
    values = [row.p for row in rows if row is not None]
    assert values == [mcnemar(9, 0), mcnemar(6, 0), mcnemar(3, 0), 1.0]
    assert [row.holm for row in rows if row is not None] == holm(values)
    clean = [one.row("", CLEAN) for one in found.against]
    assert [row.holm for row in clean if row is not None] == [1.0, 1.0]


def test_examples_are_paired_by_id_whatever_their_order() -> None:
    first = [attempt(number, ended) for number, ended in enumerate(FIRST)]
    other = [attempt(number, ended) for number, ended in enumerate(OTHER)]
    straight = mohs.compare(run_of(first), run_of(other, victim="hard"), judge="none")
    turned = mohs.compare(
        run_of(first), run_of(other[::-1], victim="hard", identity={"data_hash": "other"}), judge="none"
    )
    assert turned.against[0].rows == straight.against[0].rows
    assert turned.against[0].only == straight.against[0].only
    assert any("another order" in note for note in turned.notes)
    assert not any("another order" in note for note in straight.notes)


def test_an_unfinished_run_is_compared_on_what_both_have() -> None:
    short = run_of(OTHER[:8], victim="hard", identity={"examples": 12})
    found = mohs.compare(run_of(FIRST), short, judge="none")
    assert only(found, UNDER).pairs.known == 8
    assert any("not finished: 8 of 12" in note for note in found.notes)


def test_windows_that_end_at_other_words_are_named() -> None:
    short = [attempt(number, ended, beyond_window=2 * (number < 3)) for number, ended in enumerate(FIRST)]
    found = mohs.compare(run_of(FIRST), run_of(short, victim="hard"), judge="none")
    assert any("end at other words in 3 examples" in note for note in found.notes)


def test_a_goal_that_keeps_the_label_has_no_accuracy_under_attack() -> None:
    runs = [
        run_of(ends, victim=ends, identity={"goal": "reduced:1"}, goal="reduced:1") for ends in ("ffwwff", "ffffff")
    ]
    found = mohs.compare(*runs)
    assert found.against[0].row(ATTACK, UNDER) is None
    assert only(found, SUCCESS).difference == pytest.approx(2 / 6)
    assert not found.against[0].fair


def test_every_example_goes_to_the_file(tmp_path: Path) -> None:
    records = [attempt(n, ended, example_id=f"=e{n}") for n, ended in enumerate("fwe")]
    other = [attempt(n, ended, example_id=f"=e{n}") for n, ended in enumerate("wmf")]
    found = mohs.compare(run_of(records), run_of(other, victim="hard"), judge="none")
    with found.write(tmp_path / "x.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["example_id"] for row in rows] == ["'=e0", "'=e1", "'=e2"]  # no formula for a spreadsheet
    assert [row["A_outcome"] for row in rows] == ["success", "failed", "error"]
    assert [row["A_accuracy_under_attack"] for row in rows] == ["0", "1", ""]
    assert [row["B_attack_success"] for row in rows] == ["0", "", "1"]
    assert [row["B_accuracy_before"] for row in rows] == ["1", "0", "1"]
    assert [row["A_queries"] for row in rows] == ["10", "11", ""]


def test_fair_success_by_hand() -> None:
    sure = Calibration(independence=(1.0,), offset=0, slope=0, spread=0)
    yes, no = [0.999999], [0.000001]
    pairs: list[tuple[Success, Success]] = [(yes, False)] * 6 + [(no, yes)] * 2 + [(False, False)] * 12 + [(None, yes)]
    found = paired_fair(pairs, sure, "toy")
    assert (found.total, found.errors, found.unjudged) == (20, 1, 0)
    assert found.difference == pytest.approx((2 - 6) / 20, abs=1e-4)
    assert found.bounds == pytest.approx(((-4 - 1) / 21, (-4 + 1) / 21), abs=1e-4)
    score = paired_interval(2, 6, 20)
    assert found.interval is not None
    assert score is not None
    assert found.interval == pytest.approx(score, abs=0.06)  # with a judge that never errs it is as wide as Tango's
    opposite = paired_fair([(other, one) for one, other in pairs], sure, "toy").interval
    assert opposite is not None
    assert found.interval == pytest.approx((-opposite[1], -opposite[0]), abs=0.02)


def test_successes_that_cannot_be_judged_widen_fair_success() -> None:
    calibration = Calibration()
    judged = [([0.5], False), (False, [0.5])] * 4 + [(False, False)] * 12
    plain = paired_fair(judged, calibration, "toy").interval  # type: ignore[arg-type]
    silent = paired_fair([*judged[:-2], (True, False), (False, [math.nan])], calibration, "toy")  # type: ignore[list-item]
    assert silent.unjudged == 2
    assert silent.difference == 0
    assert plain is not None
    assert silent.interval is not None
    assert silent.interval[0] < plain[0] - 0.01
    assert silent.interval[1] > plain[1] + 0.01
    assert paired_fair(judged[:5], calibration, "toy").interval is None  # type: ignore[arg-type]


def test_the_interval_of_fair_success_holds_the_truth() -> None:
    """If the judge errs as its calibration says, in nearly all studies; it allows for both, so it is cautious."""
    random, calibration = np.random.default_rng(2), Calibration()
    held, studies = 0, 150
    for _ in range(studies):
        said = random.uniform(0.1, 0.9, (30, 2))
        fooled = random.random((30, 2)) < (0.6, 0.4)
        pairs: list[tuple[Success, Success]] = [
            tuple([float(said[n, at])] if fooled[n, at] else False for at in (0, 1))  # type: ignore[misc]
            for n in range(30)
        ]
        interval = paired_fair(pairs, calibration, "toy").interval
        assert interval is not None
        held += interval[0] <= (0.4 - 0.6) * 0.5 <= interval[1]
    assert held / studies >= 0.94
