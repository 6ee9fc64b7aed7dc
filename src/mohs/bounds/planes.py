"""Straight lines below and above a function over an interval, and the bounds that they give backwards (CROWN).

Zhang et al. 2018 ("CROWN"), Section 3; Shi et al. 2020, Section 3.3, for exponentials, reciprocals and products; Xu et
al. 2020, Appendix. A line is valid on the whole interval, its ends included.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from mohs.bounds.boxes import Box

_FLAT = 1e-6  # intervals shorter than this have the steepest slope as their chord: a division would lose all digits


class Lines(NamedTuple):
    """For each number a line below a function and one above: slope times the input, plus shift."""

    below: Tensor
    below_shift: Tensor
    above: Tensor
    above_shift: Tensor

    def back(self, slopes: Tensor) -> tuple[Tensor, Tensor]:
        """A lower bound on `slopes` times the function: slopes of its input, and shifts to be added up."""
        up, down = slopes.clamp_min(0), slopes.clamp_max(0)
        return up * self.below + down * self.above, up * self.below_shift + down * self.above_shift


def relu_lines(box: Box, *, steep: bool = False) -> Lines:
    """The positive part. Where the sign is open, the line below is flat, or with `steep` the input if that is closer.

    Flat lines are the released code's choice for training, the closer of both the one of CROWN.
    """
    low, high = box.low.clamp_max(0), box.high.clamp_min(0)
    width = high - low
    above = high / torch.where(width > 0, width, 1.0)
    above = torch.where(box.low >= 0, 1.0, above)
    below = (above > 0.5 if steep else above >= 1).to(above)
    shift = torch.where(box.low >= 0, 0.0, -low * above)
    return Lines(below, torch.zeros_like(shift), above, shift)


def exp_lines(box: Box) -> Lines:
    """The exponential: the chord above, and below a tangent near the middle (further left where the interval is wide).

    The tangent is positive at the left end, as in the released code.
    """
    at = torch.minimum((box.low + box.high) / 2, box.low + 0.99)
    slope = at.exp()
    ends = box.low.exp(), box.high.exp()
    width = box.high - box.low
    flat = width < _FLAT
    chord = torch.where(flat, ends[1], (ends[1] - ends[0]) / torch.where(flat, 1.0, width))
    return Lines(slope, slope * (1 - at), chord, ends[0] - chord * box.low)


def reciprocal_lines(box: Box) -> Lines:
    """One divided by a positive number: the chord above, the tangent in the middle below."""
    at = (box.low + box.high) / 2
    below, above = -1 / at.square(), -1 / (box.low * box.high)
    return Lines(below, 2 / at, above, 1 / box.low + 1 / box.high)


class Planes(NamedTuple):
    """Slopes of a plane below a product x * y and of one above; both touch it where x and y have these values."""

    below: tuple[Tensor, Tensor]  # of x and of y; the plane's shift is minus their product
    above: tuple[Tensor, Tensor]


def product_planes(x: Box, y: Box) -> Planes:
    """McCormick's planes through two sides of the rectangle; of the two pairs the one with the lower x."""
    return Planes((y.low, x.low), (y.high, x.low))


def products(x: Box, y: Box) -> Box:
    """Intervals of the inner products of the rows of two tables: ... x I x D and ... x J x D give ... x I x J.

    Each of the D products has its exact interval: the smallest of the four products of ends, written with positive and
    negative parts. Only where both factors have either sign do two of them compete.
    """
    a, b, c, d = x.low.relu(), x.high.relu(), y.low.relu(), y.high.relu()
    e, f, g, h = (-x.low).relu(), (-x.high).relu(), (-y.low).relu(), (-y.high).relu()
    lower = a @ _t(c) + f @ _t(h) - _best(b, g, e, d)
    upper = _best(b, d, e, g) - a @ _t(h) - f @ _t(c)
    return Box(lower, upper)


def _best(one: Tensor, other: Tensor, three: Tensor, four: Tensor) -> Tensor:
    """The sum over D of the larger of two products."""
    first = one[..., :, None, :] * other[..., None, :, :]
    second = three[..., :, None, :] * four[..., None, :, :]
    return torch.maximum(first, second).sum(-1)


def weighted(weights: Box, values: Box) -> Box:
    """Intervals of sums of values, ... x J x D, with weights that are not negative, ... x I x J."""
    a, b, c, d = values.low.relu(), values.high.relu(), (-values.low).relu(), (-values.high).relu()
    lower = weights.low @ a - weights.high @ c
    upper = weights.high @ b - weights.low @ d
    return Box(lower, upper)


def softmax_box(scores: Box, seen: Tensor) -> Box:
    """Exact intervals of the shares of a softmax over the last dimension, of the places that are seen."""
    top = scores.high.masked_fill(~seen, float("-inf")).amax(-1, keepdim=True).detach()
    low, high = ((end - top).masked_fill(~seen, float("-inf")).exp() for end in (scores.low, scores.high))
    info = torch.finfo(low.dtype)
    off = low.shape[-1] * info.eps  # what a sum may lose by rounding, relative
    all_low, all_high = (ends.sum(-1, keepdim=True) for ends in (low, high))
    most = low + (all_high * (1 + off) - high).clamp_min(0)
    least = high + (all_low * (1 - off) - low).clamp_min(0)
    tiny = info.tiny**0.5  # its square can be divided by, as a gradient does
    lower = low / most.clamp_min(tiny)
    upper = torch.where(least > tiny, high / least.clamp_min(tiny), 1.0)
    return Box(lower, upper.masked_fill(~seen, 0))


def _t(table: Tensor) -> Tensor:
    return table.transpose(-1, -2)
