"""Fair success: the expected number of successes that people would accept, and its interval."""

from __future__ import annotations

import math
import tracemalloc

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mohs.report.fair import fair_of
from mohs.text.calibration import Calibration

Floats = npt.NDArray[np.float64]

SURE = Calibration((1.0,), offset=0, slope=0, correlation=0, spread=0)  # a judge without any error
chances = st.floats(1e-5, 0.999)
texts = st.lists(st.lists(chances, min_size=1, max_size=4), max_size=12)
UNKNOWN = [math.nan]


@given(texts, st.integers(0, 5), st.integers(0, 20))
def test_the_interval_holds_the_value_and_stays_between_0_and_1(
    judged: list[list[float]], unjudged: int, resisted: int
) -> None:
    calibration = Calibration()
    total = len(judged) + unjudged + resisted
    fair = fair_of([*judged, *[None] * unjudged], total, "examples attacked", calibration)
    assert (fair.judged, fair.unjudged) == (len(judged), unjudged)
    assert fair.expected == pytest.approx(sum(map(calibration.whole, judged)))
    if not total:
        assert fair.value is None
        assert fair.interval is None
        return
    assert fair.interval is not None
    low, high = fair.interval
    assert 0 <= low <= high <= 1
    if fair.value is not None:
        assert low <= fair.value <= high
    assert high >= unjudged / total


def test_the_upper_end_counts_what_was_not_judged_and_the_value_does_not() -> None:
    all_judged = fair_of([[0.5]] * 20, 100, "examples attacked", SURE)
    some = fair_of([[0.5]] * 20 + [UNKNOWN] * 40, 100, "examples attacked", SURE)
    assert all_judged.value == some.value == pytest.approx(0.1)
    assert all_judged.interval is not None
    assert some.interval is not None
    assert some.interval[0] == pytest.approx(all_judged.interval[0], abs=0.01)
    assert all_judged.interval[1] < 0.2
    assert some.interval[1] > 0.45
    none = fair_of([None] * 40, 40, "examples attacked", SURE)
    assert none.value is None
    assert none.interval == (0.0, 1.0)


def test_the_judges_own_error_widens_the_interval() -> None:
    words = [[0.4, 0.7], [0.8], [0.2]] * 30
    ends = [
        fair_of(words, 100, "examples attacked", calibration).interval
        for calibration in (SURE, Calibration((1.0,), 0.1, 0.1, 0, 0.5), Calibration((1.0,), 0.1, 0.1, 0, 1.0))
    ]
    widths = [high - low for low, high in filter(None, ends)]
    assert widths == sorted(widths)
    assert widths[2] > 1.5 * widths[0]


class Pool:
    """People who differ in how strict they are. Ten of them decide about a substitution: half must accept it.

    The judge sees the quality of a substitution with an error. It is calibrated on `asked` substitutions, so what it
    says is off by chance; and in the texts that are attacked people are stricter or milder than in those it knows.
    """

    PEOPLE, ASKED, SPREAD = 200, 1500, 0.3

    def __init__(self, random: np.random.Generator) -> None:
        self.random = random
        self.strict = random.normal(0.3, 0.7, self.PEOPLE)
        self.shift = self.SPREAD * random.standard_normal()
        self.error = 1.0

    def drawn(self, count: int) -> tuple[Floats, Floats]:
        """Qualities, and what the judge sees of them."""
        quality = self.random.normal(0, 1.2, count)
        return quality, quality + self.error * self.random.standard_normal(count)

    def accepted(self, quality: Floats, shift: float = 0.0) -> npt.NDArray[np.bool_]:
        """Whether half of ten people accept each."""
        people = self.random.choice(self.strict, (len(quality), 10))
        said = self.random.random((len(quality), 10)) < 1 / (1 + np.exp(-2 * (quality[:, None] - people) - shift))
        found: npt.NDArray[np.bool_] = said.mean(axis=1) >= 0.5
        return found

    def calibrated(self) -> tuple[float, float, Calibration]:
        """A logistic curve fitted to what people said, and how well it is known."""
        quality, seen = self.drawn(self.ASKED)
        y = self.accepted(quality)
        a, b, spread = fitted(seen, y)
        odds = a + b * seen
        covariance = information(odds, odds)
        offset, slope = np.sqrt(np.diag(covariance))
        correlation = covariance[0, 1] / (offset * slope)
        return a, b, Calibration((1.0,), float(offset), float(slope), float(correlation), spread)


def information(x: Floats, odds: Floats) -> Floats:
    p = 1 / (1 + np.exp(-odds))
    rows = np.column_stack([np.ones_like(x), x])
    found: Floats = np.asarray(np.linalg.inv((rows * (p * (1 - p))[:, None]).T @ rows), np.float64)
    return found


def fitted(x: Floats, y: npt.NDArray[np.bool_]) -> tuple[float, float, float]:
    """Intercept and slope by Newton's method, and the planted spread on the scale of the result."""
    rows = np.column_stack([np.ones_like(x), x])
    beta = np.zeros(2)
    for _ in range(8):
        p = 1 / (1 + np.exp(-(rows @ beta)))
        beta += information(x, rows @ beta) @ (rows.T @ (y - p))
    return float(beta[0]), float(beta[1]), Pool.SPREAD


def covered(runs: int, *, doubt: bool) -> tuple[float, float]:
    """The share of runs whose interval holds the truth, and the mean width."""
    random = np.random.default_rng(7)
    held, widths = 0, 0.0
    for _ in range(runs):
        pool = Pool(random)
        a, b, calibration = pool.calibrated()
        success = random.uniform(0.1, 0.9)
        total = int(random.integers(30, 300))
        # the truth: the share of all examples with a success that people of this kind of text would accept
        _, seen = pool.drawn(4000)
        true_odds = truth_odds(pool, seen)
        truth = success * float(np.mean(1 / (1 + np.exp(-(true_odds + pool.shift)))))
        _, seen = pool.drawn(int(random.binomial(total, success)))
        words = (1 / (1 + np.exp(-(a + b * seen)))).tolist()
        known = calibration if doubt else SURE
        fair = fair_of([[word] for word in words], total, "examples attacked", known)
        assert fair.interval is not None
        held += fair.interval[0] <= truth <= fair.interval[1]
        widths += fair.interval[1] - fair.interval[0]
    return held / runs, widths / runs


def truth_odds(pool: Pool, seen: Floats) -> Floats:
    """The log-odds that half of ten people accept, given what the judge sees: from a large sample of this pool."""
    quality, shown = pool.drawn(6000)
    a, b, _ = fitted(shown, pool.accepted(quality))
    return a + b * seen


def test_the_interval_covers_the_truth_of_a_planted_pool_of_judges() -> None:
    share, width = covered(1000, doubt=True)
    assert 0.935 <= share <= 0.985
    assert width < 0.25


def test_without_the_judges_error_the_interval_would_cover_less() -> None:
    share, _ = covered(200, doubt=False)
    assert share < 0.9


def test_a_few_good_successes_among_many_bad_ones_are_covered_too() -> None:
    random = np.random.default_rng(3)
    for total, good in ((17, 0.1), (50, 0.04), (100, 0.02)):
        held = 0
        for _ in range(300):
            words = np.where(random.random(int(random.binomial(total, 0.85))) < good, 0.9, 0.01)
            fair = fair_of(words[:, None].tolist(), total, "examples attacked", SURE)
            assert fair.interval is not None
            held += fair.interval[0] <= 0.85 * (0.9 * good + 0.01 * (1 - good)) <= fair.interval[1]
        assert held / 300 >= 0.93


def test_a_further_success_never_lowers_the_upper_end() -> None:
    ends = []
    for words in ([], [[0.04]] * 8, [[0.04]] * 16):
        fair = fair_of(words, 17, "examples attacked", SURE)
        assert fair.interval is not None
        ends.append(fair.interval[1])
    assert ends[0] <= ends[1] + 0.01
    assert ends[1] <= ends[2] + 0.01


def test_a_text_is_as_good_as_its_words_together() -> None:
    fair = fair_of([[0.5, 0.5], [1.0]], 4, "examples attacked", SURE)
    assert fair.expected == pytest.approx(1.25)
    assert fair.value == pytest.approx(1.25 / 4)
    assert math.isnan(SURE.whole([0.5, math.nan]))


def test_a_text_with_an_unknown_word_is_accepted_at_most_as_often_as_its_other_words() -> None:
    apart = fair_of([[0.01, math.nan]] * 50, 50, "examples attacked", SURE)
    assert apart.interval is not None
    assert apart.interval[0] == 0
    assert apart.interval[1] < 0.1
    assert apart.value is None


def test_a_thousand_draws_of_many_successes_are_never_in_memory_at_once() -> None:
    successes = [[0.2, 0.9]] * 20_000
    tracemalloc.start()
    try:
        fair_of(successes, len(successes), "examples attacked", Calibration())
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 1000 * len(successes) * 8 / 2  # all draws alone would take twice that
