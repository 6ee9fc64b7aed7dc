"""Intervals and tests: against brute force and other implementations, and how often they hold in simulations.

The simulated shares are those of `docs/statistics.md`; `benchmarks/coverage.py` makes its tables with more studies.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.stats import binomtest, t

from mohs.report.rates import Rate
from mohs.tasks.inference import FEWEST, Pooled, holm, interval_of, mcnemar, p_of, paired_interval, sign_flip

Draw = Callable[[np.random.Generator, tuple[int, int]], Any]

STUDIES = 20_000
EFFECTS: dict[str, Draw] = {  # each with mean 0
    "normal": lambda random, shape: random.normal(0, 1, shape),
    "Laplace": lambda random, shape: random.laplace(0, 1, shape),
    "exponential": lambda random, shape: random.exponential(1, shape) - 1,
    "lognormal": lambda random, shape: random.lognormal(0, 1, shape) - math.exp(0.5),
}
SIZES: dict[str, Draw] = {
    "equal": lambda random, shape: np.ones(shape),
    "uneven": lambda random, shape: random.lognormal(0, 1, shape),
}
COVERED = {  # percent, for 6, 10 and 40 units
    ("normal", "equal"): (94.6, 94.8, 95.0),
    ("Laplace", "equal"): (93.2, 92.7, 93.2),
    ("exponential", "equal"): (93.6, 94.2, 94.7),
    ("lognormal", "equal"): (90.2, 91.7, 93.1),
    ("normal", "uneven"): (95.9, 95.5, 95.0),
    ("Laplace", "uneven"): (95.0, 93.6, 92.9),
    ("exponential", "uneven"): (94.7, 95.5, 95.6),
    ("lognormal", "uneven"): (92.2, 94.0, 95.0),
}
UNITS = (6, 10, 40)


def studies(effect: str, size: str, n: int) -> tuple[Any, Any]:
    """Many studies of n units without an effect."""
    random = np.random.default_rng([n, *map(ord, effect + size)])
    return EFFECTS[effect](random, (STUDIES, n)), SIZES[size](random, (STUDIES, n))


def noise(share: float) -> float:
    """Four standard deviations of a share of the studies."""
    return 4 * math.sqrt(share * (1 - share) / STUDIES)


@pytest.mark.parametrize("n", UNITS)
@pytest.mark.parametrize(("effect", "size"), COVERED)
def test_the_interval_of_a_mean_covers_as_often_as_documented(effect: str, size: str, n: int) -> None:
    low, high = Pooled.of(*studies(effect, size, n)).interval()
    wanted = COVERED[effect, size][UNITS.index(n)] / 100
    assert np.mean((low <= 0) & (high >= 0)) == pytest.approx(wanted, abs=noise(wanted))
    assert wanted == pytest.approx(0.95, abs=0.025) or effect == "lognormal"


@pytest.mark.parametrize("n", [8, 10, 40])
@pytest.mark.parametrize(("effect", "size"), COVERED)
def test_the_test_of_a_mean_errs_in_at_most_six_percent(effect: str, size: str, n: int) -> None:
    """The largest of some p values is below a level where all are, so the last is only asked where the others are."""
    effects, sizes = studies(effect, size, n)
    some = np.flatnonzero(Pooled.of(effects, sizes).cautious_p() <= 0.05)
    random = np.random.default_rng(0)
    rejected = sum(p_of(effects[i], sizes[i], random) <= 0.05 for i in some[:: 1 if n < 13 else 8])
    assert rejected * (1 if n < 13 else 8) / STUDIES <= 0.06


@pytest.mark.parametrize(("n", "plain", "cautious"), [(6, 0.086, 0.065), (7, 0.086, 0.060), (8, 0.085, 0.057)])
def test_why_eight_units_are_tested_with_caution(n: int, plain: float, cautious: float) -> None:
    """How often lognormal effects without a mean are taken for some; signs are only asked where p is small."""
    effects, _ = studies("lognormal", "equal", n)
    found, random = Pooled.of(effects), np.random.default_rng(0)
    some = [i for i in np.flatnonzero(found.p() <= 0.05) if sign_flip(effects[i], random) <= 0.05]
    assert len(some) / STUDIES == pytest.approx(plain, abs=0.004)
    assert np.sum(found.cautious_p()[some] <= 0.05) / STUDIES == pytest.approx(cautious, abs=0.004)


def test_what_caution_costs() -> None:
    """Ten normal effects whose mean is 1.1 standard deviations: how often the interval and the test find it."""
    found = Pooled.of(np.random.default_rng(1).normal(1.1, 1, (STUDIES, 10)))
    assert np.mean(found.p() <= 0.05) == pytest.approx(0.81, abs=0.01)
    assert np.mean(found.cautious_p() <= 0.05) == pytest.approx(0.725, abs=0.01)


@pytest.mark.parametrize("n", [8, 10, 20])
def test_signs_alone_would_reject_skewed_effects_too_often(n: int) -> None:
    effects = np.random.default_rng(n).lognormal(0, 1, (600, n)) - math.exp(0.5)
    random = np.random.default_rng(0)
    assert np.mean([sign_flip(row, random) <= 0.05 for row in effects]) > 0.1


def test_equal_and_even_effects_have_the_interval_of_student() -> None:
    random = np.random.default_rng(1)
    half = random.normal(0, 1, 7)
    values = 0.3 + np.concatenate([half, -half])  # no skewness
    low, high = t.interval(0.95, 13, values.mean(), values.std(ddof=1) / math.sqrt(14))
    assert interval_of(values) == pytest.approx((low, high))
    assert interval_of(values, np.full(14, 5.0)) == pytest.approx((low, high))
    assert interval_of(values, least=0.1, most=0.2) == (0.1, 0.2)


@given(st.lists(st.tuples(st.integers(-20, 20), st.integers(1, 9)), min_size=FEWEST, max_size=12))
def test_p_is_below_a_level_where_the_interval_does_not_hold_zero(rows: list[tuple[int, int]]) -> None:
    effects, sizes = np.array(rows, float).T
    found = Pooled.of(effects, sizes)
    if found.error > 0:
        low, high = found.interval()
        assert low <= found.value + 1e-9
        assert high >= found.value - 1e-9
        assert (found.p() < 0.05) == (not low <= 0 <= high) or found.p() == pytest.approx(0.05, abs=1e-6)
    assert float(found.value) == pytest.approx((effects * sizes).sum() / sizes.sum(), abs=1e-9)


def test_the_error_is_that_of_leaving_one_out() -> None:
    effects, sizes = np.array([0.1, -0.4, 0.3, 0.2, 0.9, 0.0]), np.array([3.0, 1, 7, 2, 2, 30])
    left = [np.average(np.delete(effects, i), weights=np.delete(sizes, i)) for i in range(6)]
    assert float(Pooled.of(effects, sizes).error) == pytest.approx(math.sqrt(5 / 6 * 6 * np.var(left)))


def test_few_units_and_equal_values_have_no_interval() -> None:
    assert interval_of([1, 2, 3, 4, 5]) is None
    assert interval_of([0.1 + 0.2] * 3 + [0.3] * 5) is None
    assert math.isnan(p_of([1, 2, 3, 4, 5, 6, 7], np.ones(7), np.random.default_rng(0)))
    assert p_of([0.1] * 8, np.ones(8), np.random.default_rng(0)) == 2 / 256
    assert p_of([0.0] * 8, np.ones(8), np.random.default_rng(0)) == 1


@given(st.lists(st.integers(-8, 8), min_size=1, max_size=7))
def test_the_sign_flip_test_by_brute_force(totals: list[int]) -> None:
    patterns = list(product((1, -1), repeat=len(totals)))
    far = [p for p in patterns if abs(sum(a * b for a, b in zip(p, totals, strict=True))) >= abs(sum(totals))]
    scaled = np.array(totals) / 10  # tenths do not add up exactly
    assert sign_flip(scaled, np.random.default_rng(0)) == len(far) / len(patterns)


def test_to_studentise_a_sign_flip_test_changes_nothing() -> None:
    values = np.random.default_rng(0).exponential(1, 9) - 0.6
    signs = 1 - 2 * (np.arange(1 << 9)[:, None] >> np.arange(9) & 1)
    flipped = signs * values
    studentised = np.abs(flipped.mean(1) / flipped.std(1, ddof=1))
    assert np.mean(studentised >= studentised[0] * (1 - 1e-12)) == sign_flip(values, np.random.default_rng(0))


@pytest.mark.parametrize("m", range(1, 13))
def test_the_smallest_p_of_so_many_units(m: int) -> None:
    assert sign_flip(np.arange(1.0, m + 1), np.random.default_rng(0)) == 2 / 2**m


def test_many_units_are_tested_by_drawing() -> None:
    random = np.random.default_rng(0)
    assert sign_flip(np.full(40, 0.1), random) == 1 / 10_001
    assert sign_flip(np.zeros(40), random) == 1.0
    totals = np.arange(1.0, 14)  # 13: drawn, and few enough to know the truth
    signs = 1 - 2 * (np.arange(1 << 13)[:, None] >> np.arange(13) & 1)
    totals[9:] *= -1
    truth = np.mean(np.abs(signs @ totals) >= abs(totals.sum()))
    assert sign_flip(totals, random) == pytest.approx(truth, abs=0.02)  # four standard deviations


@given(st.lists(st.integers(0, 20), max_size=6), st.integers(1, 40))
def test_holm_by_its_definition(twentieths: list[int], step: int) -> None:
    """At a level, hypotheses go in the order of p until one is not below level / (number left); adjusted p <= level."""
    values = [number / 20 for number in twentieths]
    level = step / 40 - 1 / 97  # never a tie
    rejected: set[int] = set()
    for rank, place in enumerate(sorted(range(len(values)), key=values.__getitem__)):
        if values[place] * (len(values) - rank) > level:
            break
        rejected.add(place)
    adjusted = holm(values)
    assert {place for place, value in enumerate(adjusted) if value <= level} == rejected
    assert all(value <= adjusted[place] <= 1 for place, value in enumerate(values))
    assert holm([math.nan, *values])[1:] == adjusted


@given(st.integers(0, 30), st.integers(0, 30))
def test_mcnemar_is_an_exact_binomial_test(first: int, second: int) -> None:
    wanted = binomtest(first, first + second).pvalue if first + second else 1.0
    assert mcnemar(first, second) == pytest.approx(wanted)


@pytest.mark.parametrize(("first", "second", "n"), [(5, 0, 10), (0, 0, 20), (10, 10, 40), (3, 8, 12), (1, 0, 6)])
def test_the_paired_interval_holds_what_a_score_test_does_not_reject(first: int, second: int, n: int) -> None:
    """The score test by brute force: the likelihood of both shares is maximised for a given difference."""

    def z(difference: float) -> float:
        def cost(second_share: float) -> float:
            shares = (second_share + difference, second_share, 1 - 2 * second_share - difference)
            counts = (first, second, n - first - second)
            return -sum(count * math.log(max(share, 1e-300)) for count, share in zip(counts, shares, strict=True))

        ends = (max(0, -difference), (1 - difference) / 2)
        share = minimize_scalar(cost, bounds=ends, method="bounded", options={"xatol": 1e-12}).x
        return float((first - second - n * difference) / math.sqrt(n * (2 * share + difference - difference**2)))

    found = paired_interval(first, second, n)
    assert found is not None
    for end, wanted in zip(found, (1.96, -1.96), strict=True):
        assert z(end) == pytest.approx(wanted, abs=0.01)
    assert paired_interval(second, first, n) == pytest.approx((-found[1], -found[0]))


@pytest.mark.parametrize(("n", "least", "most"), [(6, 0.94, 1.0), (10, 0.95, 1.0), (40, 0.94, 0.99)])
@pytest.mark.parametrize("shares", [(0.3, 0.3), (0.4, 0.1), (0.1, 0.1), (0.05, 0.02), (0.6, 0.1)])
def test_paired_inference_holds_exactly(n: int, least: float, most: float, shares: tuple[float, float]) -> None:
    """All outcomes, with their probabilities: how often the interval holds the difference, and the test errs."""
    a, b = shares
    covered = rejected = 0.0
    for first in range(n + 1):
        for second in range(n + 1 - first):
            ways = math.comb(n, first) * math.comb(n - first, second)
            chance = ways * a**first * b**second * (1 - a - b) ** (n - first - second)
            if chance > 1e-7:
                low, high = paired_interval(first, second, n) or (2.0, 2.0)
                covered += chance * (low <= a - b <= high)
                rejected += chance * (mcnemar(first, second) <= 0.05)
    assert least <= covered <= most
    assert a != b or rejected <= 0.05


@pytest.mark.parametrize(("n", "mean", "least"), [(6, 0.955, 0.833), (10, 0.955, 0.904), (40, 0.951, 0.928)])
def test_wilson_covers_as_documented(n: int, mean: float, least: float) -> None:
    """Exactly, for shares from 0.01 to 0.99."""
    ends = [Rate(hits, n, "x").interval or (0, 0) for hits in range(n + 1)]
    covered = [
        sum(math.comb(n, k) * p**k * (1 - p) ** (n - k) for k, (low, high) in enumerate(ends) if low <= p <= high)
        for p in np.linspace(0.01, 0.99, 99).tolist()
    ]
    assert np.mean(covered) == pytest.approx(mean, abs=0.002)
    assert min(covered) == pytest.approx(least, abs=0.002)
