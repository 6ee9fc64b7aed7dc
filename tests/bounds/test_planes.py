"""Lines, planes and intervals of single steps, against points drawn inside the intervals."""

from __future__ import annotations

import itertools

import hypothesis.strategies as st
import pytest
import torch
from hypothesis import given, settings
from torch import Tensor

from mohs.bounds.boxes import Box
from mohs.bounds.planes import (
    exp_lines,
    product_planes,
    products,
    reciprocal_lines,
    relu_lines,
    softmax_box,
    weighted,
)

REACH = st.floats(-8, 8)
INTERVAL = st.tuples(REACH, REACH).map(sorted)


def box_of(ends: list[float]) -> Box:
    return Box(torch.tensor([ends[0]], dtype=torch.double), torch.tensor([ends[1]], dtype=torch.double))


def inside(box: Box) -> Tensor:
    return box.low + (box.high - box.low) * torch.linspace(0, 1, 41, dtype=torch.double)


@settings(max_examples=80, deadline=None)
@given(ends=INTERVAL, steep=st.booleans())
def test_lines_are_valid_on_the_whole_interval(ends: list[float], steep: bool) -> None:
    box = box_of(ends)
    positive = box_of([end + 8.5 for end in ends])
    for x, y, lines in (
        (inside(box), inside(box).relu(), relu_lines(box, steep=steep)),
        (inside(box), inside(box).exp(), exp_lines(box)),
        (inside(positive), 1 / inside(positive), reciprocal_lines(positive)),
    ):
        room = 1e-9 * (1 + y.abs())
        assert (lines.below * x + lines.below_shift <= y + room).all()
        assert (lines.above * x + lines.above_shift >= y - room).all()
        for slope in (-2.0, 0.0, 3.0):
            inner, shift = lines.back(torch.tensor([slope], dtype=torch.double))
            assert (inner * x + shift <= slope * y + 4 * room).all()


def test_lines_of_a_point_are_exact() -> None:
    point = Box(torch.tensor([0.7]), torch.tensor([0.7]))
    for lines, value in ((relu_lines(point), 0.7), (exp_lines(point), 2.01375), (reciprocal_lines(point), 1 / 0.7)):
        assert float(lines.below * 0.7 + lines.below_shift) == pytest.approx(value, rel=1e-4)
        assert float(lines.above * 0.7 + lines.above_shift) == pytest.approx(value, rel=1e-4)


@settings(max_examples=80, deadline=None)
@given(one=INTERVAL, other=INTERVAL)
def test_planes_are_valid_on_the_whole_rectangle(one: list[float], other: list[float]) -> None:
    x, y = box_of(one), box_of(other)
    (of_x, of_y), (up_x, up_y) = product_planes(x, y)
    for a, b in itertools.product(inside(x)[::8], inside(y)[::8]):
        assert of_x * a + of_y * b - of_x * of_y <= a * b + 1e-9
        assert up_x * a + up_y * b - up_x * up_y >= a * b - 1e-9


@settings(max_examples=60, deadline=None)
@given(ends=st.lists(st.tuples(INTERVAL, INTERVAL), min_size=1, max_size=4))
def test_intervals_of_products_are_exact(ends: list[tuple[list[float], list[float]]]) -> None:
    x = Box(*(torch.tensor([[one[side] for one, _ in ends]]) for side in (0, 1)))
    y = Box(*(torch.tensor([[other[side] for _, other in ends]]) for side in (0, 1)))
    each = [[a * b for a in one for b in other] for one, other in ends]
    found = products(x, y)
    assert float(found.low) == pytest.approx(sum(map(min, each)), abs=1e-4)
    assert float(found.high) == pytest.approx(sum(map(max, each)), abs=1e-4)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10_000), spread=st.sampled_from([0.0, 0.5, 5.0, 300.0]))
def test_intervals_of_a_softmax_and_of_a_weighted_sum(seed: int, spread: float) -> None:
    chance = torch.Generator().manual_seed(seed)
    low = torch.randn(1, 3, 5, generator=chance, dtype=torch.double) * max(spread, 1)
    scores = Box(low, low + spread * torch.rand(1, 3, 5, generator=chance, dtype=torch.double))
    seen = torch.tensor([True, True, True, True, seed % 2 == 0])
    shares = softmax_box(scores, seen.expand(1, 3, 5))
    first = torch.randn(1, 5, 2, generator=chance, dtype=torch.double)
    values = Box(first, first + spread * torch.rand(1, 5, 2, generator=chance, dtype=torch.double))
    sums = weighted(shares, values)
    for corner in range(16):
        part = torch.rand(low.shape, generator=chance, dtype=torch.double)
        part = part.round() if corner % 2 else part
        drawn = (low + part * (scores.high - low)).masked_fill(~seen, float("-inf")).softmax(2)
        assert (shares.low <= drawn + 1e-12).all()
        assert (shares.high >= drawn - 1e-12).all()
        part = torch.rand(first.shape, generator=chance, dtype=torch.double).round()
        found = drawn @ (first + part * (values.high - first))
        assert (sums.low <= found + 1e-9).all()
        assert (sums.high >= found - 1e-9).all()


def test_each_end_of_a_share_is_reached() -> None:
    scores = Box(torch.tensor([[[0.0, -1.0, 2.0]]]), torch.tensor([[[1.0, 0.5, 2.5]]]))
    shares = softmax_box(scores, torch.ones(1, 1, 3, dtype=torch.bool))
    least = torch.tensor([0.0, 0.5, 2.5]).softmax(0)[0]
    most = torch.tensor([1.0, -1.0, 2.0]).softmax(0)[0]
    assert float(shares.low[0, 0, 0]) == pytest.approx(float(least), abs=1e-5)
    assert float(shares.high[0, 0, 0]) == pytest.approx(float(most), abs=1e-5)
