"""Shares with intervals over benign texts."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, f1_score

from mohs.curation.figures import Answered, Figure, accuracy, difference, f1, mean_of_alike, mean_of_figures
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


def test_copies_of_one_text_tell_nothing_new() -> None:
    once = [Answered(1, int(n < 12), str(n)) for n in range(20)]
    copied = [one for one in once for _ in range(5)]
    one, five = accuracy(once), accuracy(copied)
    assert one.value == five.value
    assert one.low is not None
    assert five.low is not None
    assert one.high is not None
    assert five.high is not None
    assert five.high - five.low == pytest.approx(one.high - one.low, rel=0.06)
    assert accuracy([Answered(1, 1, "a")] * 50).low == pytest.approx(wilson(1.0, 1)[0])


def _drawn(chance: random.Random, sources: int, truth: float, alike: float) -> list[Answered]:
    """Texts of sources that share, with chance `alike`, one outcome."""
    found = []
    for source in range(sources):
        shared = chance.random() < truth
        for _ in range(chance.randint(1, 6)):
            right = shared if chance.random() < alike else chance.random() < truth
            label = chance.randint(0, 1)
            found.append(Answered(label, label if right else 1 - label, str(source)))
    return found


@pytest.mark.parametrize(
    ("sources", "truth", "alike"), [(30, 0.3, 0.0), (30, 0.3, 0.8), (80, 0.9, 0.5), (60, 0.5, 1.0)]
)
def test_intervals_hold_the_truth_in_95_of_100(sources: int, truth: float, alike: float) -> None:
    chance, held, runs = random.Random(3), 0, 1000
    for _ in range(runs):
        found = accuracy(_drawn(chance, sources, truth, alike))
        assert found.low is not None
        assert found.high is not None
        held += found.low <= truth <= found.high
    assert 0.925 <= held / runs <= 0.985  # 95% has a standard error of 0.7% here


def test_intervals_of_f1_hold_the_truth() -> None:
    chance, held, runs = random.Random(5), 0, 600
    truth = f1(_drawn(random.Random(1), 20_000, 0.7, 0.5)).value
    assert truth is not None
    for _ in range(runs):
        found = f1(_drawn(chance, 80, 0.7, 0.5))
        assert found.low is not None
        assert found.high is not None
        held += found.low <= truth <= found.high
    assert 0.92 <= held / runs <= 0.985


def _figure(value: float, variance: float) -> Figure:
    return Figure(value, None, None, 10, 1, 8, variance, "texts")


def test_averages() -> None:
    one, other = _figure(0.2, 0.01), _figure(0.6, 0.03)
    mean = mean_of_figures([one, other], "tasks")
    assert mean.value == pytest.approx(0.4)
    assert (mean.n, mean.errors) == (20, 2)
    assert mean.variance == pytest.approx(0.01)
    assert mean.high == pytest.approx(0.4 + 1.96 * 0.1, abs=1e-4)
    alike = mean_of_alike([one, other], "metrics")
    assert alike.variance == pytest.approx(((math.sqrt(0.01) + math.sqrt(0.03)) / 2) ** 2)
    gap = difference(other, one, "")
    assert gap.value == pytest.approx(0.4)
    assert gap.variance == pytest.approx(0.04)
    assert mean_of_figures([one, Figure(None, None, None, 0, 3, 0, 0.0, "")], "tasks").value is None


def test_the_variance_of_an_average_is_that_of_simulated_ones() -> None:
    chance = random.Random(8)
    means, told = [], []
    for _ in range(1500):
        found = mean_of_figures([accuracy(_drawn(chance, 40, truth, 0.6)) for truth in (0.3, 0.7)], "tasks")
        means.append(found.value)
        told.append(found.variance)
    assert np.mean(told) == pytest.approx(np.var(np.array(means, float)), rel=0.12)
