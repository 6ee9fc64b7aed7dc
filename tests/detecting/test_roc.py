"""ROC curves and their areas."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from mohs.detecting.roc import area_of, curve_of, f1_of

VALUES = st.lists(st.sampled_from([0.0, 0.1, 0.5, 0.5000001, 2.0, 7.0]) | st.floats(-5, 5), min_size=1, max_size=14)


def names(count: int, kind: str = "") -> list[str]:
    return [f"{kind}{number}" for number in range(count)]


@given(VALUES, VALUES)
def test_the_area_is_the_share_of_pairs_in_order(high: list[float], low: list[float]) -> None:
    pairs = [1.0 if one > other else 0.5 if one == other else 0.0 for one, other in product(high, low)]
    found = area_of(high, low, names(len(high)), names(len(low)))
    assert found.value is not None
    assert found.value == pytest.approx(sum(pairs) / len(pairs))
    assert (found.adversarial, found.originals) == (len(high), len(low))
    if found.low is not None and found.high is not None:
        assert 0 <= found.low <= found.value + 1e-12
        assert found.value - 1e-12 <= found.high <= 1
    assert (found.low is None) == (min(len(high), len(low)) < 6)


@given(VALUES, VALUES)
def test_the_area_lies_under_the_curve(high: list[float], low: list[float]) -> None:
    curve = curve_of(high, low)
    under = sum(
        (curve.alarms[i + 1] - curve.alarms[i]) * (curve.found[i] + curve.found[i + 1]) / 2
        for i in range(len(curve.alarms) - 1)
    )
    assert under == pytest.approx(area_of(high, low, names(len(high)), names(len(low))).value)
    assert (curve.alarms[0], curve.found[0], curve.alarms[-1], curve.found[-1]) == (0, 0, 1, 1)


@given(VALUES, VALUES, st.sampled_from([0.0, 0.1, 0.3, 0.5, 1.0]))
def test_the_best_threshold_at_a_rate_of_false_alarms(high: list[float], low: list[float], rate: float) -> None:
    best = (0.0, 0.0)
    for threshold in sorted({*high, *low}):
        found = sum(value >= threshold for value in high) / len(high)
        alarms = sum(value >= threshold for value in low) / len(low)
        if alarms <= rate and (found > best[0] or (found == best[0] and alarms < best[1])):
            best = (found, alarms)
    assert curve_of(high, low).at(rate) == pytest.approx(best)


def test_f1_on_equally_many_texts() -> None:
    hits, alarms, of = 80, 10, 100
    assert f1_of(hits / of, alarms / of) == pytest.approx(2 * hits / (2 * hits + alarms + (of - hits)))
    assert f1_of(0, 0) == 0


def test_no_texts_no_area() -> None:
    assert area_of([], [1.0], [], ["a"]).value is None


def test_an_area_of_one_has_an_interval_all_the_same() -> None:
    found = area_of([2.0] * 10, [1.0] * 50, names(10), names(50))
    assert found.value == found.high == 1
    assert found.low == pytest.approx(10 / (10 + stats.norm.ppf(0.975) ** 2))  # Wilson's for 10 of 10


@pytest.mark.parametrize(("shift", "shared"), [(1.0, 0.0), (1.0, 0.9), (2.0, 0.6)])
def test_the_interval_holds_in_about_95_of_100_studies(shift: float, shared: float) -> None:
    """Two thirds of the examples have an adversarial text, which shares a part of its noise with its original."""
    random = np.random.default_rng(0)
    true, held, studies = stats.norm.cdf(shift / np.sqrt(2)), 0, 400
    for _ in range(studies):
        own, other = random.normal(size=(2, 60))
        low = own
        high = shift + shared * own[:40] + np.sqrt(1 - shared**2) * other[:40]
        found = area_of(high, low, names(40), names(60))
        assert found.low is not None
        assert found.high is not None
        held += found.low <= true <= found.high
    assert 0.92 <= held / studies <= 0.98


def test_originals_of_the_same_examples_make_the_interval_narrower() -> None:
    random = np.random.default_rng(1)
    low = random.normal(size=200)
    high = low + 1 + 0.1 * random.normal(size=200)
    paired, apart = (area_of(high, low, names(200), names(200, kind)) for kind in ("", "other "))
    assert paired.low is not None
    assert apart.low is not None
    assert paired.value == apart.value
    assert paired.low > apart.low
