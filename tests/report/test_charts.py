"""The geometry that charts share."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from mohs.report.charts import bars, ticks

numbers = st.floats(-1, 1, allow_nan=False)


def test_bars_count_every_success_once() -> None:
    words = {"a": Counter({1: 3, 2: 1, 40: 2}), "b": Counter({7: 5})}
    drawn = bars(words)
    assert drawn is not None
    assert {attack: sum(panel) for attack, panel in drawn["panels"].items()} == {"a": 6, "b": 5}
    assert len(drawn["labels"]) == len(drawn["panels"]["a"]) <= 16


def test_nothing_to_draw() -> None:
    assert bars({}) is None


@given(numbers, numbers)
def test_ticks_hold_all_values_and_are_few_and_even(a: float, b: float) -> None:
    low, high = min(a, b), max(a, b)
    marks = ticks(low, high)
    assert marks[0] <= low + 1e-6
    assert marks[-1] >= high - 1e-6
    assert 2 <= len(marks) <= 7
    steps = [after - before for before, after in pairwise(marks)]
    assert max(steps) - min(steps) < 1e-6
