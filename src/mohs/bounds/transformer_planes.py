"""Linear bounds of a verifiable transformer, backwards from the margins to the words (CROWN-IBP; Xu et al. 2020).

Each nonlinear step is replaced by lines or planes that are valid on its interval (mohs.bounds.planes); the intervals
come from mohs.bounds.transformer_boxes. Going back, the margin is bounded by slopes times the inputs of each step, plus
a constant. At the words nothing nonlinear is left: slopes of each place's word, whose choices are weighed exactly.

Differs from the released code: where the scores of a row may differ by more than `_WIDE`, its shares of attention are
bounded by their intervals, since exponentials would overflow and their lines say nothing any more.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

from mohs.bounds.boxes import Box
from mohs.bounds.planes import exp_lines, product_planes, reciprocal_lines, relu_lines
from mohs.bounds.transformer_boxes import BlockTrace, Trace

_WIDE = 10.0  # an exponential then grows by e^10 over its interval


class Linear(NamedTuple):
    """A lower bound on margins: slopes of the words, and a constant."""

    slopes: Tensor  # rows x margins x places x numbers
    constant: Tensor  # rows x margins


def linear_bound(model: Any, trace: Trace, margins: Tensor, offset: Tensor, *, steep: bool = False) -> Linear:
    """A linear lower bound on margins, rows x margins x classes, of the logits plus an offset."""
    reader = model.reader
    constant = offset + margins @ model.out.bias
    slopes = margins @ model.out.weight
    if isinstance(trace.keep_hidden, Tensor):
        slopes = slopes * trace.keep_hidden[:, None]
    lines = relu_lines(_rows(trace.hidden), steep=steep)
    slopes, shift = lines.back(slopes)
    constant = constant + shift.sum(2) + slopes @ reader.hidden.bias - _lost(slopes, trace.errors, "hidden", 1)
    slopes = (slopes @ reader.hidden.weight)[:, :, None] * trace.share[:, None, :, None]
    for block, found in zip(reversed(reader.blocks), reversed(trace.blocks), strict=True):
        slopes, more = _block(block, found, trace.seen[:, None], slopes, steep=steep)
        constant = constant + more
    if trace.words.errors is not None:
        constant = constant - (slopes.abs() * trace.words.errors[:, None]).sum((2, 3))
    if isinstance(trace.keep, Tensor):
        slopes = slopes * trace.keep[:, None]
    return Linear(slopes, constant)


def _block(block: Any, trace: BlockTrace, seen: Tensor, slopes: Tensor, *, steep: bool) -> tuple[Tensor, Tensor]:
    """From the slopes of a block's outputs to those of its inputs, and what the bound's constant gains."""
    constant = -_lost(slopes, trace.errors, "after", 2)
    slopes, more = _centred(block.after, slopes)
    lines = relu_lines(_rows(trace.wide), steep=steep)
    inner, shift = lines.back(_kept(slopes @ block.narrow.weight, trace.keep[1]))
    constant = constant + more + (slopes @ block.narrow.bias).sum(2) + shift.sum((2, 3))
    constant = constant + (inner @ block.wide.bias).sum(2) - _lost(inner, trace.errors, "wide", 2)
    slopes = slopes + inner @ block.wide.weight
    constant = constant - _lost(slopes, trace.errors, "between", 2)
    slopes, more = _centred(block.between, slopes)
    constant = constant + more + (slopes @ block.mix.bias).sum(2)
    looked = _kept(slopes @ block.mix.weight, trace.keep[0])
    inner, more = _attention(block, trace, seen, looked)
    constant = constant + more + (inner @ block.triple.bias).sum(2) - _lost(inner, trace.errors, "triple", 2)
    return slopes + inner @ block.triple.weight, constant


def _attention(block: Any, trace: BlockTrace, seen: Tensor, slopes: Tensor) -> tuple[Tensor, Tensor]:
    """Back through sums of values, shares, scores, and to queries, keys and values."""
    rows, specs, length, size = slopes.shape
    slopes = slopes.view(rows, specs, length, block.heads, -1).transpose(2, 3)  # rows x margins x heads x places x part
    root = slopes.shape[4] ** 0.5
    constant = (slopes * trace.centre[:, None]).sum((2, 3, 4)) - _lost(slopes, trace.errors, "looked", 3)
    of_shares, of_values, shift = _sums(slopes, _rows(trace.shares), _rows(trace.values), turned=False)
    constant = constant + shift - _lost(of_shares, trace.errors, "shares", 3)
    # The centre was subtracted from the values: slopes of values are those of the differences.
    of_scores, shift = _softmax(of_shares.masked_fill(~seen, 0), trace, seen)
    constant = constant + shift - _lost(of_scores, trace.errors, "scores", 3)
    of_queries, of_keys, shift = _sums(of_scores / root, _rows(trace.queries), _rows(trace.keys), turned=True)
    constant = constant + shift - (of_values * trace.centre[:, None]).sum((2, 3, 4))
    together = torch.cat([of_queries, of_keys, of_values], 4)
    return together.transpose(2, 3).reshape(rows, specs, length, 3 * size), constant


def _sums(slopes: Tensor, x: Box, y: Box, *, turned: bool) -> tuple[Tensor, Tensor, Tensor]:
    """Back through x @ y, or x @ y.T if `turned`: slopes of both factors, and a shift. All as products of matrices."""
    (low, least), (high, _) = product_planes(x, y)
    up, down = slopes.clamp_min(0), slopes.clamp_max(0)
    if turned:
        of_x = up @ low + down @ high
        of_y = slopes.transpose(3, 4) @ least
    else:
        of_x = up @ low.transpose(3, 4) + down @ high.transpose(3, 4)
        of_y = least.transpose(3, 4) @ slopes
    shift = -(of_x * least).sum((2, 3, 4))
    return of_x, of_y, shift


def _softmax(slopes: Tensor, trace: BlockTrace, seen: Tensor) -> tuple[Tensor, Tensor]:
    """Back through a softmax, which is an exponential times the reciprocal of a sum of exponentials."""
    scores, shares = _rows(trace.scores), _rows(trace.shares)
    low = scores.low.masked_fill(~seen, float("-inf"))
    top = low.amax(4, keepdim=True).detach()  # a shift of all scores of a row changes no share
    wide = (scores.high.masked_fill(~seen, float("-inf")).amax(4, keepdim=True) - top > _WIDE).detach()
    hidden = wide | ~seen
    moved = scores.map(lambda end: (end - top).masked_fill(hidden, 0))
    exps = moved.map(lambda end: end.exp().masked_fill(~seen, 0))
    total = exps.map(lambda end: end.sum(4, keepdim=True))
    inverse = Box(1 / total.high, 1 / total.low)
    below, above = product_planes(exps, inverse)
    up, down = slopes.masked_fill(wide, 0).clamp_min(0), slopes.masked_fill(wide, 0).clamp_max(0)
    of_exps = up * below[0] + down * above[0]
    of_inverse = ((up + down) * below[1]).sum(4, keepdim=True)
    shift = -(of_exps * exps.low).sum((2, 3, 4))
    of_total, more = reciprocal_lines(total).back(of_inverse)
    shift = shift + more.sum((2, 3, 4))
    of_scores, more = exp_lines(moved).back((of_exps + of_total).masked_fill(hidden, 0))
    shift = shift + more.sum((2, 3, 4)) - (of_scores * top).sum((2, 3, 4))
    up, down = slopes.masked_fill(~wide, 0).clamp_min(0), slopes.masked_fill(~wide, 0).clamp_max(0)
    shift = shift + (up * shares.low + down * shares.high).sum((2, 3, 4))
    return of_scores, shift


def _centred(norm: Any, slopes: Tensor) -> tuple[Tensor, Tensor]:
    """Back through a normalisation."""
    shift = (slopes @ norm.bias).sum(2)
    slopes = slopes * norm.weight
    return slopes - slopes.mean(3, keepdim=True), shift


def _kept(slopes: Tensor, factors: Tensor | float) -> Tensor:
    return slopes * factors[:, None] if isinstance(factors, Tensor) else slopes


def _lost(slopes: Tensor, errors: dict[str, Tensor], name: str, dims: int) -> Tensor | float:
    """What rounding at a step may take from the bound."""
    if name not in errors:
        return 0.0
    return (slopes.abs() * errors[name][:, None]).sum(tuple(range(2, 2 + dims)))


def _rows(box: Box) -> Box:
    """The box with a dimension for margins."""
    return box.map(lambda end: end[:, None])
