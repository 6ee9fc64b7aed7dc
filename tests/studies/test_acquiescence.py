"""The habit of agreeing: the published shares, by hand, and planted habits."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import fmean

import numpy as np
import pytest

from mohs.studies.acquiescence import Reply, Scale, acquiescence, corrected, corrected_mean
from mohs.studies.analysis import analyse_study
from tests.studies.judged import Judges, study_of

FIVE = Scale(1, 5, 4)


def test_the_published_shares_of_agree() -> None:
    """A.2 of Morris et al. 2020: 7,816 answers, half under each statement: 43.6% and 68.3% are "Agree", 55.9% in all.

    (4.2 of the paper has 3,907 answers under one statement, which makes 7,814.)
    """
    preserves, changes = round(0.436 * 3908), round(0.683 * 3908)
    replies = [
        Reply(f"item {n % 400}", f"worker {n}", 4.0 if n < agreeing else 2.0, negated)
        for negated, agreeing in ((False, preserves), (True, changes))
        for n in range(3908)
    ]
    found = acquiescence(replies, FIVE, named=False)
    shares = [found.plain.plainly.value, found.negated.plainly.value, found.both.plainly.value]
    assert [round(100 * (share or 0), 1) for share in shares] == [43.6, 68.3, 55.9]
    assert len(replies) == 7816
    assert found.habit.value is not None
    assert found.habit.value > 0


def test_by_hand() -> None:
    replies = [
        Reply("a", "x", 4, False),
        Reply("a", "y", 5, False),
        Reply("a", "z", 3, True),
        Reply("b", "x", 4, False),
        Reply("b", "y", 4, True),
        Reply("c", "x", 2, False),
    ]
    found = acquiescence(replies, FIVE)
    assert found.paired == 2
    plain = (4.5 + 4 + 2) / 3  # fewer than six items under both, so all count
    negated = (3 + 4) / 2
    assert found.habit.value == pytest.approx((plain + negated) / 2 - 3)
    assert found.plain.plainly.value == pytest.approx(2 / 4)
    assert found.plain.agreeing.value == pytest.approx(3 / 4)
    assert found.negated.mean.value == pytest.approx(3.5)
    assert json.loads(json.dumps(found.to_json()))["paired"] == 2
    scores = corrected(replies, FIVE, 0.5)
    assert {item: one.score for item, one in scores.items()} == pytest.approx(
        {"a": (4.5 + 6 - 3) / 2, "b": (4 + 6 - 4) / 2, "c": 2 - 0.5}
    )
    assert [scores[item].statements for item in "abc"] == ["both", "both", "plain"]
    mean = corrected_mean(replies, FIVE, 0.5)
    assert mean.value == pytest.approx((3.75 + 3 + 1.5) / 3)
    assert corrected([Reply("d", "x", 2, True)], FIVE, 0.5)["d"].score == pytest.approx(4.5)


def test_without_the_opposite_statement_there_is_no_habit() -> None:
    found = acquiescence([Reply(f"i{n}", "x", 4, False) for n in range(9)], FIVE)
    assert found.habit.value is None
    assert found.plain.mean.value == 4
    assert acquiescence([], FIVE).habit.value is None


def test_a_planted_habit_is_found_and_taken_out() -> None:
    """Items by a number between 1 and 5, 0.6 points of habit; no end of the scale is in reach."""
    random = np.random.default_rng(2)
    quality = random.uniform(2.2, 3.8, 300)
    held = []
    for _ in range(100):
        replies = [
            Reply(f"i{i}", f"j{j}", (6 - q if j % 2 else q) + 0.6 + random.normal(0, 0.4), bool(j % 2))
            for i, q in enumerate(quality[:60])
            for j in random.choice(20, 4, replace=False).tolist()
        ]
        found = acquiescence(replies, FIVE)
        low, high = found.habit.interval or (9, 9)
        held.append(low <= 0.6 <= high)
        assert found.habit.value is not None
        assert corrected_mean(replies, FIVE, found.habit.value).value == pytest.approx(quality[:60].mean(), abs=0.15)
    assert 0.88 <= np.mean(held) <= 1  # 95% of 100, three standard errors


def test_the_habit_of_a_study_by_brute_force(tmp_path: Path) -> None:
    """In the design 1 is Strongly Agree: agreement is 6 minus the answer, whichever statement was read."""
    found = {}
    for habit in (0.0, 0.25):
        with study_of(tmp_path / str(habit), "meaning", judges=Judges(habit=habit)) as study:
            (question,) = analyse_study(study, measures=False).whole.questions
            given: dict[str, tuple[list[int], list[int]]] = {}
            for one in study.judgements():
                given.setdefault(one.item, ([], []))[one.statement].append(6 - one.value)
        assert question.agreeing is not None
        both = [(fmean(plain), fmean(negated)) for plain, negated in given.values() if plain and negated]
        assert question.agreeing.found.paired == len(both) > 40
        expected = (fmean(plain for plain, _ in both) + fmean(negated for _, negated in both)) / 2 - 3
        assert question.agreeing.found.habit.value == pytest.approx(expected)
        scores = [6 - (plain + 6 - negated) / 2 for plain, negated in both]  # back on the scale of the answers
        if len(both) == len(given):
            assert question.agreeing.mean.value == pytest.approx(fmean(scores))
        plain = [one for values, _ in given.values() for one in values]
        assert question.agreeing.label == "Agree"
        assert question.agreeing.found.plain.plainly.value == pytest.approx(plain.count(4) / len(plain))
        found[habit] = expected
    assert found[0.0] == pytest.approx(0, abs=0.15)
    assert found[0.25] > 0.5
