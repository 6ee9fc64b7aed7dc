from __future__ import annotations

from collections.abc import Set

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from mohs.text import nearest
from mohs.text.nearest import Floats, Nearest, Numbers


def exact(table: Floats) -> Nearest:
    """By product; the exact value is the float64 product, rounded."""

    def product(one: Numbers, other: Numbers) -> Floats:
        values: Floats = (table[one].astype(np.float64) * table[other]).sum(axis=1).astype(np.float32)
        return values

    slack = 2.0**-20 * table.shape[1] * max(1.0, float(np.abs(table).max()) ** 2)
    return Nearest(table, np.zeros(len(table), np.float32), slack, product)


def naive(table: Floats, row: int, k: int, silent: Set[int] = frozenset()) -> list[int]:
    """Every other row, sorted in Python by its value and then its number."""
    value = {
        other: np.float32(sum(float(a) * float(b) for a, b in zip(table[row], table[other], strict=True)))
        for other in range(len(table))
        if other != row and other not in silent
    }
    return sorted(value, key=lambda other: (-value[other], other))[:k]


# Small whole numbers: products are exact, and most values come several times.
tables = arrays.arrays(np.float32, st.tuples(st.integers(1, 40), st.integers(1, 3)), elements=st.integers(-3, 3))


@given(tables, st.integers(0, 45))
def test_the_nearest_are_those_of_a_full_sort(table: Floats, k: int) -> None:
    numbers, values = exact(table)(np.arange(len(table)), k)
    assert [row.tolist() for row in numbers] == [naive(table, row, k) for row in range(len(table))]
    assert values.shape == numbers.shape == (len(table), min(k, len(table) - 1))
    assert (np.diff(values, axis=1) <= 0).all()


@pytest.mark.parametrize("k", [1, 3, 20])
@pytest.mark.parametrize("rows", [1, 999, 1000, 1024])
def test_blocks_hide_nothing(rows: int, k: int) -> None:
    table = np.random.default_rng(rows).normal(size=(1100, 8)).astype(np.float32)[: rows + 50]
    table[5] = table[50]  # an exact tie
    asked = np.array([0, 5, len(table) - 1, 50])
    numbers, _ = exact(table)(asked, k)
    assert numbers.tolist() == [naive(table, row, k) for row in asked.tolist()]


def test_what_is_held_at_a_time_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    table = np.random.default_rng(3).integers(-2, 3, size=(300, 4)).astype(np.float32)
    asked = np.arange(0, 300, 7)
    whole = exact(table)(asked, 6)
    monkeypatch.setattr(nearest, "_SCORES_AT_ONCE", 700)
    monkeypatch.setattr(nearest, "_EXACT_VALUES_AT_ONCE", 11)
    parts = exact(table)(asked, 6)
    assert np.array_equal(whole[0], parts[0])
    assert np.array_equal(whole[1], parts[1])


def test_a_row_with_a_bias_of_minus_infinity_has_no_neighbours_and_is_nobodys() -> None:
    table = np.random.default_rng(4).normal(size=(30, 4)).astype(np.float32)
    plain = exact(table)
    bias = np.zeros(30, np.float32)
    bias[[2, 9]] = -np.inf
    search = Nearest(table, bias, plain.slack, plain.nearness)
    numbers, values = search(np.array([1, 2, 3]), 40)
    assert search.width(40) == 27
    assert numbers.shape == (3, 27)
    assert numbers[[0, 2]].tolist() == [naive(table, row, 27, {2, 9}) for row in (1, 3)]
    assert np.isnan(values[1]).all()
    assert not np.isnan(values[[0, 2]]).any()


def test_the_rounding_of_rough_scores_does_not_decide() -> None:
    rng = np.random.default_rng(5)
    base = rng.normal(size=300)
    table = np.stack([base + rng.normal(size=300) * 1e-6 for _ in range(200)])
    table = (table / np.linalg.norm(table, axis=1, keepdims=True)).astype(np.float32)
    assert len(set((table @ table[0]).tolist())) > 1  # rough scores differ, while all values round to 1
    numbers, values = exact(table)(np.array([0, 100]), 5)
    assert (values == 1).all()
    assert numbers.tolist() == [[1, 2, 3, 4, 5], [0, 1, 2, 3, 4]]
