"""Shares, means and their intervals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from mohs.report import rates
from mohs.report.rates import Rate, mean_of


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


def test_means_and_their_intervals() -> None:
    same = mean_of([3, 3, 3], "x")
    assert (same.value, same.low, same.high) == (3, 3, 3)
    spread = mean_of(list(range(100)), "x")
    assert spread.value == 49.5
    error = 28.87 / 10  # standard deviation of 0..99 over the root of 100
    assert spread.low == pytest.approx(49.5 - 1.96 * error, abs=0.6)
    assert spread.high == pytest.approx(49.5 + 1.96 * error, abs=0.6)
    assert mean_of(list(range(100)), "x") == spread


@pytest.mark.parametrize("size", [2, 3, 40, 333])
def test_resampling_in_parts_draws_the_same(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    values = (np.arange(size) ** 1.5 % 7).tolist()
    generator = np.random.default_rng(0)
    means = [generator.choice(np.array(values), size).mean() for _ in range(2000)]
    low, high = np.percentile(means, [2.5, 97.5])
    for drawn in (1, 1000, 1 << 16):
        monkeypatch.setattr(rates, "_DRAWN", drawn)
        found = mean_of(values, "x")
        assert (found.low, found.high) == (low, high)
