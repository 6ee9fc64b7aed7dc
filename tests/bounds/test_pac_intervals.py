from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import betaln, xlog1py, xlogy
from scipy.stats import beta, binom

from mohs.bounds.intervals import (
    Floats,
    Interval,
    Sequential,
    anytime,
    clopper_pearson,
    each,
    hoeffding_interval,
    hoeffding_size,
    needed_clopper_pearson,
)
from mohs.errors import BadInput

DELTAS = st.sampled_from([0.3, 0.05, 0.005, 1e-6])
SHARES = [0.0, 0.001, 0.01, 0.5, 0.9, 0.999, 1.0]


@st.composite
def counts(draw: st.DrawFn, most: int = 300) -> tuple[int, int]:
    n = draw(st.integers(0, most))
    return draw(st.integers(0, n)), n


def worst_width(n: int, delta: float) -> float:
    hits = np.arange(n + 1)
    low = np.where(hits > 0, beta.ppf(delta / 2, np.maximum(hits, 1), n - hits + 1), 0)
    high = np.where(hits < n, beta.ppf(1 - delta / 2, hits + 1, np.maximum(n - hits, 1)), 1)
    return float((high - low).max() / 2)


def test_the_size_of_the_paper() -> None:
    assert hoeffding_size(0.025, 0.005) == 4794


@given(st.floats(0.01, 0.9), st.floats(1e-6, 0.9))
def test_hoeffdings_size_is_the_smallest_that_keeps_the_promise(epsilon: float, delta: float) -> None:
    n = hoeffding_size(epsilon, delta)
    assert 2 * math.exp(-2 * n * epsilon**2) < delta * (1 + 1e-9)
    assert n == 1 or 2 * math.exp(-2 * (n - 1) * epsilon**2) >= delta * (1 - 1e-9)


def test_hoeffdings_interval() -> None:
    assert hoeffding_interval(0, 0, 0.1) == (0, 1)
    assert list(hoeffding_interval(4794, 4794, 0.005)) == pytest.approx([0.975, 1], abs=1e-5)
    assert list(hoeffding_interval(50, 100, 0.05)) == pytest.approx([0.5 - 0.13581, 0.5 + 0.13581], abs=1e-5)


@given(counts(), DELTAS)
def test_clopper_pearson_rejects_half_of_delta_on_each_side(drawn: tuple[int, int], delta: float) -> None:
    hits, n = drawn
    low, high = clopper_pearson(hits, n, delta)
    assert 0 <= low <= high <= 1
    assert low == 0 if hits == 0 else binom.sf(hits - 1, n, low) == pytest.approx(delta / 2, rel=1e-6)
    assert high == 1 if hits == n else binom.cdf(hits, n, high) == pytest.approx(delta / 2, rel=1e-6)


@pytest.mark.parametrize("interval", [clopper_pearson, hoeffding_interval])
@pytest.mark.parametrize("p", SHARES)
def test_intervals_for_a_fixed_number_hold_often_enough(
    interval: Callable[[int, int, float], Interval], p: float
) -> None:
    n, delta = 120, 0.05
    missed = [hits for hits in range(n + 1) if not interval(hits, n, delta)[0] <= p <= interval(hits, n, delta)[1]]
    assert sum(binom.pmf(missed, n, p)) <= delta


@pytest.mark.parametrize(("epsilon", "delta"), [(0.3, 0.3), (0.1, 0.05), (0.06, 0.005), (0.45, 0.005), (0.08, 1e-6)])
def test_the_needed_number_is_the_smallest_by_brute_force(epsilon: float, delta: float) -> None:
    smallest = next(n for n in range(1, 5000) if worst_width(n, delta) <= epsilon)
    assert needed_clopper_pearson(epsilon, delta) == smallest


@pytest.mark.parametrize("delta", [0.3, 0.005])
def test_the_widest_interval_is_in_the_middle_and_narrows(delta: float) -> None:
    widest = [worst_width(n, delta) for n in range(1, 150)]
    middle = [clopper_pearson(n // 2, n, delta).half_width for n in range(1, 150)]
    assert middle == pytest.approx(widest)
    assert sorted(widest, reverse=True) == widest


def test_the_needed_number_for_the_papers_promise() -> None:
    assert needed_clopper_pearson(0.025, 0.005) == 3188
    assert worst_width(3188, 0.005) <= 0.025 < worst_width(3187, 0.005)


def test_delta_is_shared_among_examples() -> None:
    assert each(0.005, 1000) == pytest.approx(5e-6)
    assert each(0.005, 1) == 0.005
    assert 1 - (1 - each(0.05, 40)) ** 40 <= 0.05


@given(counts(3000), DELTAS)
def test_the_ends_of_the_anytime_interval_are_where_the_mixture_is_one_over_delta(
    drawn: tuple[int, int], delta: float
) -> None:
    hits, n = drawn

    def evidence(p: float) -> float:
        mixture = betaln(hits + 0.5, n - hits + 0.5) - betaln(0.5, 0.5)
        return float(mixture - xlogy(hits, p) - xlog1py(n - hits, -p))

    low, high = map(float, anytime(hits, n, delta))
    assert 0 <= low <= (hits / n if n else 0.5) <= high <= 1
    assert low == 0 if hits == 0 else evidence(low) == pytest.approx(-math.log(delta), abs=1e-5)
    # Near one doubles are coarse: compare on the other side.
    if hits == n:
        assert high == 1
    else:
        assert 1 - high == pytest.approx(float(anytime(n - hits, n, delta)[0]), abs=1e-15)


@settings(max_examples=50)
@given(st.lists(counts(60), max_size=20), DELTAS)
def test_sequential_is_the_intersection_of_all_looks(batches: list[tuple[int, int]], delta: float) -> None:
    sequence = Sequential(delta)
    ends = [Interval(0, 1)]
    for hits, n in batches:
        sequence.add(hits, n)
        low, high = map(float, anytime(sequence.hits, sequence.n, delta))
        met = Interval(max(ends[-1].low, low), min(ends[-1].high, high))
        ends.append(met if met.low <= met.high else ends[-1])
        assert sequence.interval == pytest.approx(ends[-1], abs=1e-12)
    assert sequence.n == sum(n for _, n in batches)


def test_an_impossible_turn_leaves_an_interval() -> None:
    sequence = Sequential(0.05)
    sequence.add(300, 300)
    kept = sequence.interval
    sequence.add(0, 3000)
    assert sequence.interval == kept
    assert kept.low <= kept.high


def stops(sequence: Sequential, outcome: Callable[[int], int], epsilon: float = 0.025) -> int:
    while sequence.interval.half_width > epsilon:
        sequence.add(outcome(sequence.n), 1)
    return sequence.n


def test_where_every_text_holds_few_draws_suffice() -> None:
    assert stops(Sequential(0.005), lambda _: 1) == 165
    assert stops(Sequential(0.005), lambda _: 0) == 165
    assert stops(Sequential.within(0.025, 0.005), lambda _: 1) == 179


def test_the_look_fixed_beforehand_ends_the_draws_sooner_than_hoeffding() -> None:
    sequence = Sequential.within(0.025, 0.005)
    assert sequence.last == needed_clopper_pearson(0.025, 0.0025) == 3692
    sequence.add(1800, 3600)
    assert sequence.before_last == 92
    assert sequence.interval.half_width > 0.025
    with pytest.raises(BadInput, match="93 draws go past the fixed look at 3692; add 92"):
        sequence.add(46, 93)
    sequence.add(46, 92)
    assert [sequence.before_last] == [None]
    assert sequence.interval == clopper_pearson(1846, 3692, 0.0025)
    assert sequence.interval.half_width <= 0.025
    sequence.add(50, 100)
    assert sequence.n == 3792


TRIALS, BATCH, LOOKS = 4_000, 10, 370  # as the product looks, up to the last draw
Table = Callable[[npt.NDArray[np.int64], int, float], tuple[Floats, Floats]]


def ever_missed(table: Table, p: float, delta: float) -> int:
    """In how many of the trials the interval did not hold p at some look."""
    random = np.random.default_rng(20)
    hits = np.cumsum(random.binomial(BATCH, p, (LOOKS, TRIALS)), axis=0)
    missed = np.zeros(TRIALS, bool)
    for look in range(LOOKS):
        seen, which = np.unique(hits[look], return_inverse=True)
        low, high = table(seen, BATCH * (look + 1), delta)
        missed |= ((p < low) | (high < p))[which]
    return int(missed.sum())


def few_enough(delta: float) -> float:
    return delta * TRIALS + 3 * math.sqrt(delta * (1 - delta) * TRIALS)


@pytest.mark.parametrize("delta", [0.05, 0.005])
@pytest.mark.parametrize("p", SHARES)
def test_sequential_fails_at_any_look_no_more_often_than_delta(p: float, delta: float) -> None:
    assert ever_missed(anytime, p, delta) <= few_enough(delta)


@pytest.mark.parametrize(
    ("p", "trials", "draws", "to_decide"),
    [(1, 1, 180, 90), (0.99, 300, 344, 121), (0.9, 20, 2635, 2635), (0.5, 3, 3692, 20)],
)
def test_the_draws_that_the_docs_tell(p: float, trials: int, draws: int, to_decide: int) -> None:
    """Mean numbers of draws with a look every ten: until narrow enough, and to decide about 0.9."""

    def mean(level: float | None) -> float:
        found, random = [], np.random.default_rng(9)
        for _ in range(trials if level is None or p == 0.9 else 300):
            sequence = Sequential.within(0.025, 0.005)
            while (room := sequence.before_last) and sequence.interval.half_width > 0.025:
                if level is not None and sequence.decided(level) is not None:
                    break
                sequence.add(int(random.binomial(min(10, room), p)), min(10, room))
            found.append(sequence.n)
        return sum(found) / len(found)

    assert mean(None) == pytest.approx(draws, rel=0.05)
    assert mean(0.9) == pytest.approx(to_decide, rel=0.15)


def test_one_interval_is_as_many_at_once() -> None:
    random = np.random.default_rng(0)
    for _ in range(300):
        n, delta = int(random.integers(1, 6000)), float(random.choice([0.05, 0.005, 1e-6]))
        hits = int(random.integers(0, n + 1))
        sequence = Sequential(delta)
        sequence.add(hits, n)
        assert sequence.interval == pytest.approx(tuple(map(float, anytime(hits, n, delta))), abs=1e-12)


def test_a_level_is_decided_once_the_interval_lies_on_one_side() -> None:
    assert Interval(0.91, 1.0).above(0.9) is True
    assert Interval(0.2, 0.9).above(0.9) is False, "0.9 is not above 0.9"
    assert Interval(0.9, 1.0).above(0.9) is None


@pytest.mark.parametrize("delta", [0.05, 0.005])
@pytest.mark.parametrize("p", [0.01, 0.5, 0.9, 0.999])
def test_a_fixed_number_looked_at_repeatedly_fails_too_often(p: float, delta: float) -> None:
    def fixed(hits: npt.NDArray[np.int64], n: int, delta: float) -> tuple[Floats, Floats]:
        low, high = zip(*(clopper_pearson(int(seen), n, delta) for seen in hits), strict=True)
        return np.array(low), np.array(high)

    assert ever_missed(fixed, p, delta) > few_enough(delta)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: hoeffding_size(0, 0.1),
        lambda: hoeffding_size(0.1, 1),
        lambda: needed_clopper_pearson(-0.1, 0.1),
        lambda: clopper_pearson(3, 2, 0.1),
        lambda: hoeffding_interval(-1, 2, 0.1),
        lambda: hoeffding_interval(1, 2, math.nan),
        lambda: each(0.1, 0),
        lambda: Sequential(2),
        lambda: Sequential(0.1).add(2, 1),
        lambda: anytime(1, 1, 0),
    ],
)
def test_impossible_values_are_refused(wrong: Callable[[], object]) -> None:
    with pytest.raises(BadInput):
        wrong()
