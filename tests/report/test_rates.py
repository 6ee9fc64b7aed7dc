"""Shares, means and their intervals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from mohs.report.rates import Completed, Rate, mean_of
from mohs.report.table import mean, rate


@given(st.integers(1, 400), st.data())
def test_wilson_is_that_of_scipy(total: int, data: st.DataObject) -> None:
    hits = data.draw(st.integers(0, total))
    wanted = binomtest(hits, total).proportion_ci(0.95, method="wilson")
    interval = Rate(hits, total, "x").interval
    assert interval is not None
    assert interval[0] == pytest.approx(wanted.low, abs=1e-9)
    assert interval[1] == pytest.approx(wanted.high, abs=1e-9)


def test_wilson_covers_as_it_says() -> None:
    """Over 2,000 samples of 40 from a share of 0.3 the interval holds the truth 95% of the time, within 2%."""
    hits = np.random.default_rng(1).binomial(40, 0.3, 2000)
    intervals = {int(k): Rate(int(k), 40, "x").interval for k in set(hits.tolist())}
    covered = [
        interval is not None and interval[0] <= 0.3 <= interval[1] for interval in (intervals[int(k)] for k in hits)
    ]
    assert abs(sum(covered) / len(covered) - 0.95) < 0.02


def test_errors_show_as_bounds() -> None:
    under = Rate(20, 60, "x", errors=40)
    assert under.bounds == (0.2, 0.6)
    assert rate(under) == "33.3% (20/60) [22.7, 45.9] {20.0, 60.0}"
    assert rate(Rate(20, 60, "x")) == "33.3% (20/60) [22.7, 45.9]"
    assert rate(Rate(0, 0, "x", errors=4, errors_hit=1)) == "- (0/0) {25.0, 100.0}"
    assert Rate(1, 2, "x", errors=2, errors_missed=2).bounds == (0.25, 0.25)
    assert Rate(0, 0, "x").bounds is None
    assert under.to_json()["bounds"] == (0.2, 0.6)


def test_late_errors_count_as_what_was_tried() -> None:
    """20 misread, 40 errors, 20 fooled, 20 withstood: 80% are read right, and half of these withstand."""
    under = Completed(20, 60, "x", errors=40, tried=40, tried_hits=20, late=40)
    assert rate(under) == "40.0% (40.0/100) [28.1, 53.2] {20.0, 60.0}"
    early = Completed(20, 60, "x", errors=40, tried=40, tried_hits=20, late=0)
    assert (early.value, early.interval) == (Rate(20, 60, "x").value, Rate(20, 60, "x").interval)
    assert rate(Completed(1, 5, "x", errors=2, late=2)) == "- (-/7) {14.3, 42.9}"
    aside = Completed(10, 30, "x", errors=10, tried=10, tried_hits=5, late=10)  # five hits were never attacked
    assert aside.value == 15 / 40


@pytest.mark.parametrize("errors", [0.2, 0.5])
@pytest.mark.parametrize("withstand", [0.2, 0.5, 0.9])
def test_late_errors_bias_nothing_and_intervals_hold(errors: float, withstand: float) -> None:
    """If they do not depend on the outcome. Of 40 examples 80% are attacked; 4,000 studies."""
    random, n = np.random.default_rng(5), 40
    attacked = random.binomial(n, 0.8, 4000)
    late = random.binomial(attacked, errors)
    hits = random.binomial(attacked - late, withstand)
    studies = [
        Completed(k, n - e, "x", e, tried=a - e, tried_hits=k, late=e)
        for a, e, k in zip(attacked.tolist(), late.tolist(), hits.tolist(), strict=True)
    ]
    truth = 0.8 * withstand
    values = [found.value for found in studies if found.value is not None]
    plain = [k / (n - e) for e, k in zip(late.tolist(), hits.tolist(), strict=True)]
    assert abs(np.mean(values) - truth) < 0.01
    assert np.mean(plain) < truth - 0.006  # errors left out
    held = [found.interval is not None and found.interval[0] <= truth <= found.interval[1] for found in studies]
    assert 0.94 < np.mean(held) < 0.98


@given(st.integers(0, 50), st.integers(0, 50), st.integers(0, 20), st.data())
def test_whatever_the_errors_hide_lies_within_the_bounds(
    hits: int, misses: int, errors: int, data: st.DataObject
) -> None:
    hidden = data.draw(st.integers(0, errors))
    found = Rate(hits, hits + misses, "x", errors)
    if found.bounds is not None:
        low, high = found.bounds
        assert low <= (hits + hidden) / (hits + misses + errors) <= high
        if found.value is not None:
            assert low <= found.value <= high


def test_means_and_their_intervals() -> None:
    for few in ([3.0], [3, 3, 3], [1, 2, 3, 4, 5], [3] * 40):
        found = mean_of(few, "x")
        assert (found.value, found.low, found.high, found.total) == (3, None, None, len(few))
        assert mean(found) == "3.0 [-]"
    spread = mean_of(list(range(100)), "x")
    assert spread.value == 49.5
    error = 29.01 / 10  # standard deviation of 0..99 over the root of 100
    assert spread.low == pytest.approx(49.5 - 1.984 * error, abs=0.01)
    assert spread.high == pytest.approx(49.5 + 1.984 * error, abs=0.01)


def test_an_interval_stays_within_what_a_value_can_be() -> None:
    found = mean_of([1, 1, 1, 1, 1, 0.4], "x", 0, 1)
    assert found.high == 1
    assert found.low is not None
    assert found.low < 0.5  # the sample is skewed: the long end is the lower one
    assert mean_of([1, 1, 1, 1, 1, 0.4], "x").high > 1  # type: ignore[operator]
