"""Shares and medians whose unit is the example."""

from __future__ import annotations

import numpy as np
import pytest

from mohs.analyses.intervals import median_of, share_of


def test_a_share_by_example_is_wider_than_by_word() -> None:
    hits, examples = [], []
    for example in range(12):
        hits += [example % 2 == 0] * 10  # words of one example are all alike
        examples += [example] * 10
    found = share_of(hits, examples, "words")
    assert (found.hits, found.total, found.examples, found.value) == (60, 120, 12, 0.5)
    assert found.interval is not None
    assert found.interval[0] < 0.25  # by word it would be 0.41
    assert found.interval[1] > 0.75


def test_too_few_examples_have_no_interval() -> None:
    assert share_of([True, False] * 5, [0] * 5 + [1] * 5, "words").interval is None
    assert median_of([1.0, 2.0, 3.0], [0, 1, 2], "words").low is None
    assert median_of([], [], "words").value is None


def test_a_share_of_all_or_none_has_the_interval_of_as_many_examples() -> None:
    found = share_of([True] * 30, list(range(10)) * 3, "words")
    assert found.interval is not None
    assert found.interval[0] == pytest.approx(0.7225, abs=1e-3)
    assert found.interval[1] == 1.0


def test_the_median_is_numpys() -> None:
    for values in ([3.0, 1.0, 2.0], [4.0, 1.0, 2.0, 3.0]):
        assert median_of(values, range(len(values)), "words").value == np.median(values)


def test_bootstrap_medians_are_those_of_the_values_drawn() -> None:
    from mohs.analyses.intervals import _drawn_medians

    values, owners = np.array([5.0, 1.0, 4.0, 2.0, 9.0, 3.0]), np.array([0, 0, 1, 2, 2, 2])
    random = np.random.default_rng(3)
    times = random.multinomial(3, np.full(3, 1 / 3), size=1000)
    expected = [np.median(np.repeat(values, row[owners])) for row in times]
    assert _drawn_medians(values, owners, 3, 3).tolist() == expected


def test_the_medians_interval_holds_as_often_as_it_says() -> None:
    random, held = np.random.default_rng(1), 0
    for seed in range(200):
        levels = random.normal(size=40)
        values = np.repeat(levels, 5) + 0.3 * random.normal(size=200)
        found = median_of(values, np.repeat(range(40), 5).tolist(), "words", seed)
        assert found.low is not None
        assert found.high is not None
        held += found.low <= 0 <= found.high
    assert 180 <= held <= 199
