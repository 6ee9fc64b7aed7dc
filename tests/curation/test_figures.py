"""Shares with intervals over benign texts."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, f1_score

from mohs.curation.figures import Answered, Figure, accuracy, difference, f1, mean, mean_of_same
from mohs.report.rates import wilson

answers = st.lists(
    st.builds(Answered, st.integers(0, 1), st.sampled_from([0, 1, None]), st.sampled_from("abcdefgh")), max_size=40
)


@given(answers)
def test_values_are_those_of_scikit_learn(found: list[Answered]) -> None:
    whole = [one for one in found if one.said is not None]
    right, both = accuracy(found), f1(found)
    assert right.n == both.n == len(whole)
    assert right.errors == len(found) - len(whole)
    if not whole:
        assert right.value is None
        assert both.value is None
        return
    labels, said = [one.label for one in whole], [one.said for one in whole]
    assert right.value == pytest.approx(accuracy_score(labels, said))
    assert both.value == pytest.approx(f1_score(labels, said, zero_division=0.0))
    for one in (right, both):
        assert one.low is not None
        assert one.high is not None
        assert one.value is not None
        assert 0 <= one.low <= one.value + 1e-12
        assert one.value <= one.high + 1e-12 <= 1 + 1e-9


def test_texts_that_stand_alone_have_wilsons_interval() -> None:
    found = accuracy([Answered(1, int(n < 30), str(n)) for n in range(40)])
    assert (found.low, found.high) == pytest.approx(wilson(0.75, 40), abs=0.004)


def test_a_useless_f1_is_as_uncertain_as_its_class_is_small() -> None:
    found = f1([Answered(int(n < 32), 0, str(n)) for n in range(78)])
    assert (found.low, found.high) == pytest.approx(wilson(0.0, 32), abs=0.005)


def test_copies_of_one_text_tell_nothing_new() -> None:
    once = [Answered(1, int(n < 12), str(n)) for n in range(20)]
    copied = [one for one in once for _ in range(5)]
    one, five = accuracy(once), accuracy(copied)
    assert one.value == five.value
    assert (one.low, one.high) == pytest.approx((five.low, five.high))
    assert accuracy([Answered(1, 1, "a")] * 50).low == pytest.approx(wilson(1.0, 1)[0])


def _drawn(chance: random.Random, sources: int, truth: float, alike: float, task: str = "") -> list[Answered]:
    """Texts of sources that share, with chance `alike`, one outcome."""
    found = []
    for source in range(sources):
        shared = chance.random() < truth
        for _ in range(chance.randint(1, 6)):
            right = shared if chance.random() < alike else chance.random() < truth
            label = chance.randint(0, 1)
            found.append(Answered(label, label if right else 1 - label, f"{task}{source}"))
    return found


def _held(runs: int, truth: float, make: Callable[[random.Random], Figure]) -> float:
    """How often the interval of a simulated figure holds the truth."""
    chance, held = random.Random(3), 0
    for _ in range(runs):
        found = make(chance)
        assert found.low is not None
        assert found.high is not None
        held += found.low <= truth <= found.high
    return held / runs


@pytest.mark.parametrize(
    ("sources", "truth", "alike"),
    [(30, 0.3, 0.0), (30, 0.3, 0.8), (80, 0.9, 0.5), (60, 0.5, 1.0), (20, 0.1, 0.7), (10, 0.5, 0.7)],
)
def test_intervals_hold_the_truth_in_95_of_100(sources: int, truth: float, alike: float) -> None:
    held = _held(1000, truth, lambda chance: accuracy(_drawn(chance, sources, truth, alike)))
    assert 0.93 <= held <= 0.985  # 95% has a standard error of 0.7% here


def test_intervals_of_f1_hold_the_truth() -> None:
    truth = f1(_drawn(random.Random(1), 20_000, 0.7, 0.5)).value
    assert truth is not None
    assert 0.93 <= _held(600, truth, lambda chance: f1(_drawn(chance, 80, 0.7, 0.5))) <= 0.985


@pytest.mark.parametrize("alike", [0.0, 0.7])
@pytest.mark.parametrize("truths", [(0.1, 0.3, 0.5, 0.2, 0.4), (0.9, 0.95, 0.8, 0.9, 0.7)])
def test_intervals_of_averages_hold_the_truth(truths: tuple[float, ...], alike: float) -> None:
    def average(chance: random.Random) -> Figure:
        return mean([accuracy(_drawn(chance, 30, one, alike, f"{n}/")) for n, one in enumerate(truths)], "tasks")

    assert 0.93 <= _held(400, sum(truths) / 5, average) <= 0.99


@pytest.mark.parametrize("together", [-0.5, 0.0, 0.5])
def test_intervals_of_gaps_hold_the_truth_however_benign_and_attacked_texts_go_together(together: float) -> None:
    def gap(chance: random.Random) -> Figure:
        benign, attacked = [], []
        for source in range(30):
            right = chance.random() < 0.8
            benign.append(Answered(1, int(right), str(source)))
            for _ in range(chance.randint(1, 4)):
                share = 0.5 + together * (0.2 if right else -0.8)  # 0.5 over all sources
                attacked.append(Answered(1, int(chance.random() < share), str(source)))
        return difference(accuracy(benign), accuracy(attacked), "gap")

    assert 0.93 <= _held(1500, 0.3, gap) <= 0.97


def _figure(value: float, off: float, **pulls: float) -> Figure:
    return Figure(value, value - off, value + 2 * off, 10, 1, 8, "texts", pulls)


def test_averages() -> None:
    one, other = _figure(0.2, 0.03, a=1.0), _figure(0.6, 0.04, b=1.0)
    average = mean([one, other], "tasks")
    assert average.value == pytest.approx(0.4)
    assert (average.n, average.errors, average.units) == (20, 2, 16)
    assert (average.low, average.high) == pytest.approx((0.4 - 0.05 / 2, 0.4 + 0.1 / 2))  # 3, 4, 5
    gap = difference(other, one, "")
    assert gap.value == pytest.approx(0.4)
    assert gap.low == pytest.approx(0.4 - math.hypot(0.04, 0.06))
    assert gap.high == pytest.approx(0.4 + math.hypot(0.08, 0.03))
    alone = mean([one], "one task")
    assert (alone.value, alone.low, alone.high) == pytest.approx((one.value, one.low, one.high))
    assert mean([one, Figure(None, None, None, 0, 3, 0, "")], "tasks").value is None


def test_an_average_of_gaps_may_be_below_zero_and_one_of_shares_may_not() -> None:
    """A system can be better on attacked texts than on their originals."""
    one, other = _figure(0.2, 0.03, a=1.0), _figure(0.6, 0.04, b=1.0)
    gap = difference(one, other, "")
    alone = mean([gap], "one task")
    assert (alone.value, alone.low, alone.high) == pytest.approx((gap.value, gap.low, gap.high))
    two = mean([gap, difference(_figure(0.2, 0.03, c=1.0), _figure(0.6, 0.04, d=1.0), "")], "tasks")
    assert two.value == pytest.approx(-0.4)
    assert two.low == pytest.approx(-0.4 - math.hypot(0.03, 0.08) / math.sqrt(2))
    rare = mean([Figure(0.01, 0.0, 0.3, 9, 0, 9, "", {"e": 1.0}), Figure(0.01, 0.0, 0.3, 9, 0, 9, "", {"e": 1.0})], "")
    assert rare.low == 0.0


def test_figures_of_the_same_texts_rise_and_fall_together() -> None:
    one, other = _figure(0.2, 0.03, a=1.0, b=-1.0), _figure(0.6, 0.04, a=2.0, b=-2.0)
    both = mean_of_same([one, other], "texts")
    assert (both.n, both.errors, both.units) == (10, 1, 8)
    assert (both.low, both.high) == pytest.approx((0.4 - 0.035, 0.4 + 0.07))
    assert both.pulls == pytest.approx({"a": 1.5, "b": -1.5})
    assert difference(one, one, "").low == pytest.approx(-math.sqrt(0.03**2 + 0.06**2 - 2 * 0.03 * 0.06))
    against = _figure(0.6, 0.04, a=-2.0, b=2.0)
    assert difference(one, against, "").low == pytest.approx(-0.4 - (0.03 + 0.08))
    wrong = [Answered(n % 2, 1 - n % 2, str(n)) for n in range(20)]
    zero = mean_of_same([accuracy(wrong), f1(wrong)], "texts")
    assert (zero.value, zero.low, zero.high) == (0.0, 0.0, accuracy(wrong).high)
