"""Buckets of similarities."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from mohs.analyses.buckets import buckets_of, number_of


def test_a_multiple_of_the_width_begins_its_own_bucket() -> None:
    for number in range(-20, 21):
        assert number_of(number * 0.05) == number
        assert number_of(round(number / 20, 2)) == number
        assert number_of(number / 20 + 0.049) == number
        assert number_of(number / 20 - 0.001) == number - 1


def test_one_and_what_is_unknown() -> None:
    found = buckets_of([1.0, 0.96, 0.849, None, math.nan])
    assert found.counts == ((0.8, 1), (0.85, 0), (0.9, 0), (0.95, 1), (1.0, 1))
    assert (found.total, found.unknown) == (3, 2)
    assert [row["share"] for row in found.to_json()["buckets"]] == [1 / 3, 0, 0, 1 / 3, 1 / 3]
    assert buckets_of([]).counts == ()


@given(st.lists(st.floats(-1, 1)))
def test_every_value_is_counted_once_in_the_bucket_that_holds_it(values: list[float]) -> None:
    found = buckets_of(values)
    assert sum(count for _, count in found.counts) == len(values)
    for value in values:
        assert number_of(value) / 20 - 1e-7 <= value < (number_of(value) + 1) / 20
