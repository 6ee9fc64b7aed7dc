"""Interval arithmetic: what lies in the boxes stays inside, and in 32 bits too."""

from __future__ import annotations

from itertools import combinations

import hypothesis.strategies as st
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from torch import Tensor

from mohs.bounds.boxes import (
    FLOAT32,
    Box,
    affine,
    meeting,
    moved,
    plus,
    stretched,
    summed,
)

seeds = st.integers(0, 10_000)


def box_and_point(seed: int, *size: int, spread: float = 3.0) -> tuple[Box, Tensor]:
    """A box and a point in it; some of its sides are empty, and some points are corners."""
    chance = torch.Generator().manual_seed(seed)
    low = torch.randn(size, generator=chance, dtype=torch.float64) * spread
    width = torch.rand(size, generator=chance, dtype=torch.float64) * spread
    width *= torch.rand(size, generator=chance) > 0.3
    at = torch.rand(size, generator=chance, dtype=torch.float64) * 1.4 - 0.2
    return Box(low, low + width), (low + width * at.clamp(0, 1)).float()


def inside(point: Tensor, box: Box) -> bool:
    return bool(((box.low <= point.double()) & (point.double() <= box.high)).all())


def widened(box: Box) -> Box:
    return box.wider(box.largest * 2.0**-23)  # the point was rounded


@settings(max_examples=100)
@given(seed=seeds, size=st.sampled_from([1, 3, 200]), spread=st.sampled_from([0.01, 3.0, 1000.0]))
def test_linear_layers(seed: int, size: int, spread: float) -> None:
    box, point = box_and_point(seed, 4, size, spread=spread)
    chance = torch.Generator().manual_seed(seed)
    weight, bias = torch.randn(5, size, generator=chance), torch.randn(5, generator=chance)
    found = affine(widened(box), weight.double(), bias.double(), FLOAT32)
    assert inside(torch.nn.functional.linear(point, weight, bias), found)
    backwards = torch.zeros_like(point @ weight.T)
    for column in reversed(range(size)):  # another order of summation
        backwards = backwards + point[:, column : column + 1] * weight[:, column]
    assert inside(backwards + bias, found)


@settings(max_examples=100)
@given(seed=seeds)
def test_a_linear_layer_reaches_its_bounds(seed: int) -> None:
    box, _ = box_and_point(seed, 6)
    weight = torch.randn(4, 6, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    found = affine(box, weight)
    for row, low, high in zip(weight, found.low, found.high, strict=True):
        assert torch.where(row > 0, box.low, box.high) @ row == pytest.approx(float(low))
        assert torch.where(row > 0, box.high, box.low) @ row == pytest.approx(float(high))


@settings(max_examples=100)
@given(seed=seeds, most=st.integers(0, 6))
def test_sums_with_a_budget(seed: int, most: int) -> None:
    own, _ = box_and_point(seed, 5, 2)
    further, _ = box_and_point(seed + 1, 5, 2)
    changed = Box(torch.minimum(own.low, further.low), torch.maximum(own.high, further.high))
    found = summed(own, changed, most)
    lows = [
        torch.where(torch.tensor([[n in some] for n in range(5)]), changed.low, own.low).sum(0)
        for count in range(min(most, 5) + 1)
        for some in combinations(range(5), count)
    ]
    assert torch.stack(lows).amin(0).tolist() == pytest.approx(found.low.tolist())  # reached, number by number
    assert bool((found.high >= own.high.sum(0) - 1e-12).all())
    total = summed(own, changed, None)
    assert total.low.tolist() == pytest.approx(changed.low.sum(0).tolist())
    assert bool((found.low >= total.low - 1e-12).all())


def test_parts_of_boxes() -> None:
    one, other = (
        Box(torch.tensor([0.0, 0]), torch.tensor([2.0, 2])),
        Box(torch.tensor([1.0, -1]), torch.tensor([3.0, 1])),
    )
    assert (meeting(one, other).low.tolist(), meeting(one, other).high.tolist()) == ([1, 0], [2, 1])
    about = torch.tensor([0.5, 2])
    assert stretched(one, about, 0).low.tolist() == stretched(one, about, 0).high.tolist() == about.tolist()
    half = stretched(one, about, 0.5)
    assert (half.low.tolist(), half.high.tolist()) == ([0.25, 1], [1.25, 2])
    assert stretched(one, about, 1) is one
    none = moved(one[None], torch.empty(0, 2), torch.empty(0, 2), 3)  # nothing may change
    assert np.array_equal(none.low.numpy(), one.low.numpy())


def test_what_is_bounded_is_32_bit() -> None:
    assert torch.finfo(torch.float32).eps == 2 * FLOAT32


@settings(max_examples=60)
@given(seed=seeds)
def test_sums_of_two_boxes(seed: int) -> None:
    (a, x), (b, y) = box_and_point(seed, 9), box_and_point(seed + 1, 9)
    assert inside(x + y, plus(widened(a), widened(b), FLOAT32))
    exact = plus(a, b)
    assert torch.equal(exact.low, a.low + b.low)
    assert torch.equal(exact.high, a.high + b.high)
