"""From words to a text: bounds, one word, missing values, and the spread of what is not known."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mohs.text import judge
from mohs.text.calibration import Calibration

probabilities = st.floats(0.0, 1.0)
likely = st.floats(0.01, 0.99)
degrees = st.lists(st.floats(0.0, 1.0), min_size=1, max_size=9).map(tuple)


@given(st.lists(probabilities, min_size=1, max_size=6), degrees)
def test_a_text_lies_between_the_product_and_the_least(words: list[float], independence: tuple[float, ...]) -> None:
    found = Calibration(independence).whole(words)
    assert math.prod(words) - 1e-9 <= found <= min(words) + 1e-9


@given(st.lists(probabilities, min_size=1, max_size=6))
def test_the_ends_are_the_product_and_the_least(words: list[float]) -> None:
    assert Calibration((1.0,)).whole(words) == pytest.approx(math.prod(words))
    assert Calibration((0.0,)).whole(words) == (min(words) if min(words) else 0.0)


@given(probabilities, degrees)
def test_one_word_is_the_text(word: float, independence: tuple[float, ...]) -> None:
    assert Calibration(independence).whole([word]) == pytest.approx(word)


@given(st.lists(likely, min_size=1, max_size=5), likely, degrees)
def test_a_further_change_never_helps(words: list[float], more: float, independence: tuple[float, ...]) -> None:
    known = Calibration(independence)
    assert known.whole([*words, more]) <= known.whole(words) + 1e-12


def test_no_words_and_words_without_a_value() -> None:
    known = Calibration()
    assert known.whole([]) == 1.0
    assert math.isnan(known.whole([0.5, math.nan]))
    assert math.isnan(known.whole([math.nan, 0.0]))
    assert known.redrawn([], 7, np.random.default_rng(0)).shape == (7, 0)


@given(st.lists(st.lists(likely, min_size=1, max_size=4), min_size=1, max_size=4), degrees)
def test_redrawn_is_around_the_value_if_little_is_unknown(
    texts: list[list[float]], independence: tuple[float, ...]
) -> None:
    known = Calibration(independence, offset=0.01, slope=0.01, spread=0.01)
    drawn = known.redrawn(texts, 4000, np.random.default_rng(0))
    assert drawn.shape == (4000, len(texts))
    assert drawn.mean(axis=0) == pytest.approx([known.whole(words) for words in texts], abs=0.03)


def test_rows_drawn_some_at_a_time_are_those_drawn_at_once() -> None:
    known, texts = Calibration(), [[0.1 + number / 5000, 0.6] for number in range(3000)]
    parts = list(known.redrawn_by_rows(texts, 400, np.random.default_rng(0)))
    assert len(parts) > 2
    assert np.array_equal(np.concatenate(parts), known.redrawn(texts, 400, np.random.default_rng(0)))


def test_what_is_unknown_widens_the_draws() -> None:
    def width(**options: float) -> float:
        sure = {"offset": 1e-6, "slope": 1e-6, "spread": 1e-6}
        known = Calibration((0.5,), **{**sure, **options})
        return float(known.redrawn([[0.3, 0.6]], 2000, np.random.default_rng(1)).std())

    assert width() < 1e-4
    assert all(width(**{name: 0.3}) > 0.01 for name in ("offset", "slope", "spread"))
    assert width(spread=0.6) > width(spread=0.3)


def test_offset_and_slope_can_cancel_out() -> None:
    """Where the log-odds are 1, a shift up and an equal stretch down leave the value where it is."""
    word = 1 / (1 + math.exp(-1))
    for correlation, spread in ((-1.0, 0.0), (1.0, 0.2)):
        known = Calibration((0.5,), offset=0.5, slope=0.5, correlation=correlation, spread=0.0)
        drawn = known.redrawn([[word]], 2000, np.random.default_rng(2))
        assert drawn.std() == pytest.approx(spread, abs=0.05)


@given(degrees, st.floats(0.01, 1), st.floats(0.01, 1), st.floats(-1, 1), st.floats(0.01, 1))
def test_what_is_stored_is_read_again(
    independence: tuple[float, ...], offset: float, slope: float, correlation: float, spread: float
) -> None:
    known = Calibration(independence, offset, slope, correlation, spread)
    assert Calibration.of(known.arrays()) == known


def test_what_is_missing_in_a_file_is_the_default() -> None:
    assert Calibration.of({}) == Calibration()
    assert Calibration.of({"spread": 0.7}) == Calibration(spread=0.7)


def test_the_bundled_judge_brings_its_own() -> None:
    known = judge.bundled().calibration
    assert known != Calibration()
    assert len(known.independence) >= 5
    assert all(0 <= k <= 1 for k in known.independence)
    assert min(known.offset, known.slope, known.spread) > 0
    assert -1 <= known.correlation <= 1
