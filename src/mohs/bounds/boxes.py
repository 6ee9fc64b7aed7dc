"""Interval arithmetic on tensors: what a network can give for any input between two bounds.

Without `unit` the arithmetic is exact up to its own rounding, as training wants it. `unit` is the largest relative
error of one operation of the network that is bounded. Each function then widens its result by all that the network may
lose in any order of summation, so that the box holds what the network *computes*. Compute such boxes in float64: their
own rounding is far below what they are widened by.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import linear

FLOAT32 = 2.0**-24
CURVES = 2.0**-18  # what a library's sigmoid or tanh may be off, with a wide margin


@dataclass(frozen=True)
class Box:
    """A lower and an upper bound for each number of a tensor."""

    low: Tensor
    high: Tensor

    def __getitem__(self, part: Any) -> Box:
        """A part of it."""
        return Box(self.low[part], self.high[part])

    @property
    def largest(self) -> Tensor:
        """The largest absolute value of each number."""
        return torch.maximum(self.low.abs(), self.high.abs())

    def wider(self, by: Tensor | float) -> Box:
        """A box that is wider on both sides."""
        return Box(self.low - by, self.high + by)

    def map(self, change: Callable[[Tensor], Tensor]) -> Box:
        """What an increasing function gives; dropout must drop the same numbers of both bounds."""
        return Box(change(self.low), change(self.high))


def lost(operations: int, unit: float) -> float:
    """The largest relative error after this many roundings, plus a few of our own; 0 without rounding."""
    total = (operations + 16) * unit
    return total / (1 - total)


def around(value: Tensor, by: Tensor) -> Box:
    """What lies at most so far from a value."""
    return Box(value - by, value + by)


def stretched(box: Box, about: Tensor, share: float) -> Box:
    """A box shrunk towards a point inside it: 0 leaves the point, 1 the box."""
    return box if share == 1 else Box(about - share * (about - box.low), about + share * (box.high - about))


def affine(box: Box, weight: Tensor, bias: Tensor | None = None, unit: float = 0.0, beside: int = 0) -> Box:
    """A linear layer: the middle goes through it, the half width through its absolute values.

    beside: how many other terms the network adds up in the same sum.
    """
    found = around(linear((box.low + box.high) / 2, weight, bias), linear((box.high - box.low) / 2, weight.abs()))
    if not unit:
        return found
    sizes = linear(box.largest, weight.abs(), None if bias is None else bias.abs())
    return found.wider(sizes * lost(weight.shape[1] + 1 + beside, unit))


def relu(box: Box) -> Box:
    """The positive parts."""
    return Box(box.low.relu(), box.high.relu())


def plus(one: Box, other: Box, unit: float = 0.0) -> Box:
    """The sum of two boxes that vary independently."""
    found = Box(one.low + other.low, one.high + other.high)
    return found.wider(found.largest * lost(1, unit)) if unit else found


def summed(own: Box, changed: Box, most: int | None) -> Box:
    """The sum over the first axis if at most so many entries leave their own box for the changed one; None: all may.

    Number by number, the entries that add most may differ, which is why this is a bound and not always reached.
    """
    if most is None or most >= len(own.low):
        return Box(changed.low.sum(0), changed.high.sum(0))
    return moved(own, own.low - changed.low, changed.high - own.high, most)


def moved(own: Box, falls: Tensor, rises: Tensor, most: int) -> Box:
    """The sum over the first axis, less the largest falls and plus the largest rises, so many of each."""
    most = min(most, len(falls))
    return Box(own.low.sum(0) - falls.topk(most, 0).values.sum(0), own.high.sum(0) + rises.topk(most, 0).values.sum(0))


def meeting(one: Box, other: Box) -> Box:
    """What lies in both boxes."""
    return Box(torch.maximum(one.low, other.low), torch.minimum(one.high, other.high))
