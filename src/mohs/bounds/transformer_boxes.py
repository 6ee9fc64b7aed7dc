"""Interval bounds of a verifiable transformer, from the words that may stand at each place to the numbers it decides on.

This is interval bound propagation (IBP; Shi et al. 2020; Xu et al. 2020) with three changes that make it tighter:

1. Between two nonlinear steps everything is linear: residual sums, centring, and the layers after them. These maps are
   joined before intervals are taken. Step by step, each centring alone would double the widths.
2. A linear map of single words is computed for every word that may stand there, as in Jia et al. 2019.
3. The shares of attention add up to one, so a sum of values is the centre of the values plus weighted differences.

`rounding` tells how much the network, which computes with 32-bit numbers, may be off at each step. It is empty in
training, and otherwise every interval holds what the network really computes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor

from mohs.bounds.planes import Box, affine, products, softmax_box, weighted
from mohs.models.verifiable_transformer import Centring, by_head

_UNIT = 2.0**-24  # the relative error of one operation with 32-bit numbers


class Words(NamedTuple):
    """What a network reads of the words that may stand at each place."""

    choices: Tensor  # rows x places x choices x numbers; the first is the word itself
    inside: Tensor  # rows x places: whether the place is within the text
    off: Tensor | float  # by how much the network's numbers may differ, rows x places x numbers


@dataclass(frozen=True)
class Stream:
    """What stands at each place: a linear map of its words, plus one of the boxes that earlier steps gave."""

    words: Tensor  # rows x places x choices x numbers
    of_words: Tensor
    box: Box | None = None  # rows x places x any number of numbers
    of_box: Tensor | None = None
    constant: Tensor | float = 0.0

    def through(self, weight: Tensor, bias: Tensor) -> Box:
        """The intervals of a linear layer's outputs."""
        each = self.words @ (weight @ self.of_words).T
        found = Box(each.amin(2), each.amax(2))
        constant = bias + (weight @ self.constant if isinstance(self.constant, Tensor) else 0)
        if self.box is None or self.of_box is None:
            return Box(found.low + constant, found.high + constant)
        rest = affine(self.box, weight @ self.of_box, constant)
        return Box(found.low + rest.low, found.high + rest.high)

    def plus(self, box: Box, weight: Tensor, bias: Tensor | float = 0.0) -> Stream:
        """The stream and a linear map of a box."""
        if self.box is None or self.of_box is None:
            joined, of_box = box, weight
        else:
            joined = Box(torch.cat([self.box.low, box.low], 2), torch.cat([self.box.high, box.high], 2))
            of_box = torch.cat([self.of_box, weight], 1)
        return Stream(self.words, self.of_words, joined, of_box, self.constant + bias)

    def centred(self, norm: Centring) -> Stream:
        """The stream after a normalisation."""
        of_box = None if self.of_box is None else _centred(norm, self.of_box)
        constant = self.constant
        if isinstance(constant, Tensor):
            constant = _centred(norm, constant[:, None])[:, 0]
        return Stream(self.words, _centred(norm, self.of_words), self.box, of_box, constant + norm.bias)


class BlockTrace(NamedTuple):
    """The intervals of one block, which its lines and planes need, and its rounding errors."""

    queries: Box
    keys: Box
    values: Box  # without their centre
    centre: Tensor
    scores: Box
    shares: Box
    wide: Box
    keep: tuple[Tensor | float, Tensor | float]  # dropout's factors
    off: dict[str, Tensor]


class Trace(NamedTuple):
    """The intervals of a whole network."""

    words: Words
    keep: Tensor | float
    seen: Tensor  # rows x 1 x 1 x places
    blocks: list[BlockTrace]
    share: Tensor  # rows x places: what each place counts in the mean
    hidden: Box
    keep_hidden: Tensor | float
    off: dict[str, Tensor]


Keep = Callable[[Any, Tensor], Tensor | float]


def no_dropout(layer: Any, like: Tensor) -> float:
    """Nothing is dropped."""
    return 1.0


def dropout_of(layer: Any, like: Tensor) -> Tensor:
    """The factors of a dropout layer, drawn for a table of this shape."""
    found: Tensor = layer(torch.ones_like(like))
    return found


def boxes_of(model: Any, words: Words, keep: Keep = no_dropout, *, rounding: bool = False) -> Trace:
    """The intervals at every step of a classifier with the verifiable transformer."""
    reader = model.reader
    kept = keep(reader.drop, words.choices[:, :, 0])
    choices = words.choices * kept[:, :, None] if isinstance(kept, Tensor) else words.choices
    size = choices.shape[3]
    one = torch.eye(size, dtype=choices.dtype, device=choices.device)
    stream = Stream(choices, one)
    if rounding:
        assert isinstance(words.off, Tensor)
        stream = stream.plus(Box(-words.off, words.off), one)
    seen = words.inside[:, None, None]
    blocks = []
    for block in reader.blocks:
        stream, trace = _block(block, stream, seen, keep, one if rounding else None)
        blocks.append(trace)
    counts = words.inside.to(choices)
    share = counts / counts.sum(1, keepdim=True)
    hidden, off = _pooled(reader, stream, share, one if rounding else None)
    return Trace(words, kept, seen, blocks, share, hidden, keep(model.drop, hidden.low), off)


def _pooled(reader: Any, stream: Stream, share: Tensor, one: Tensor | None) -> tuple[Box, dict[str, Tensor]]:
    """The layer after the mean, before its ReLU."""
    layer = reader.hidden
    placed = stream.through(layer.weight, torch.zeros_like(layer.bias))
    hidden = placed.map(lambda end: (share[..., None] * end).sum(1) + layer.bias)
    if one is None:
        return hidden, {}
    mean = (share[..., None] * stream.through(one, 0 * one[0]).largest).sum(1)
    off = (mean @ layer.weight.abs().T + layer.bias.abs()) * lost(share.shape[1] + len(one))
    return hidden.wider(off), {"hidden": off}


def _block(
    block: Any, stream: Stream, seen: Tensor, keep: Keep, one: Tensor | None
) -> tuple[Stream, BlockTrace]:
    off: dict[str, Tensor] = {}
    triple = stream.through(block.triple.weight, block.triple.bias)
    size = triple.low.shape[2] // 3
    parts, length = size // block.heads, triple.low.shape[1]
    if one is not None:
        off["triple"] = _off(block.triple, stream.through(one, 0 * one[0]).largest)
        triple = triple.wider(off["triple"])
    halves = [by_head(end, block.heads).chunk(3, 3) for end in (triple.low, triple.high)]
    queries, keys, values = (Box(low, high) for low, high in zip(*halves, strict=True))
    scores = products(queries, keys).map(lambda end: end / parts**0.5)
    if one is not None:
        off["scores"] = queries.largest @ keys.largest.transpose(2, 3) / parts**0.5 * lost(parts + 2)
        scores = scores.wider(off["scores"])
    shares = softmax_box(scores, seen)
    if one is not None:
        furthest = scores.largest.masked_fill(~seen, 0).amax(3, keepdim=True)
        off["shares"] = shares.high * (lost(length + 8) + 6 * furthest * _UNIT)
        shares = Box((shares.low - off["shares"]).clamp_min(0), shares.high + off["shares"])
    inside = seen.transpose(2, 3)
    centre = (values.middle * inside).sum(2, keepdim=True) / inside.sum(2, keepdim=True)
    apart = values.map(lambda end: end - centre)
    looked = weighted(shares, apart).map(lambda end: end + centre)
    if one is not None:
        # The shares that the network computes add up to one only nearly: what is missing is not weighed by the centre.
        off["looked"] = shares.high @ values.largest * lost(length + 2) + centre.abs() * off["shares"].sum(
            3, keepdim=True
        )
        looked = looked.wider(off["looked"])
    together = looked.map(lambda end: end.transpose(1, 2).flatten(2))
    kept = keep(block.drop, together.low)
    before = stream
    stream = stream.plus(together.map(lambda end: end * kept), block.mix.weight, block.mix.bias).centred(block.between)
    if one is not None:
        off["between"] = _off_after(block.mix, block.between, together.largest, before.through(one, 0 * one[0]).largest)
        stream = stream.plus(Box(-off["between"], off["between"]), one)
    wide = stream.through(block.wide.weight, block.wide.bias)
    if one is not None:
        off["wide"] = _off(block.wide, stream.through(one, 0 * one[0]).largest)
        wide = wide.wider(off["wide"])
    kept_wide = keep(block.drop, wide.low)
    before = stream
    risen = wide.map(torch.relu)
    stream = stream.plus(risen.map(lambda end: end * kept_wide), block.narrow.weight, block.narrow.bias)
    stream = stream.centred(block.after)
    if one is not None:
        off["after"] = _off_after(
            block.narrow, block.after, risen.largest, before.through(one, 0 * one[0]).largest
        )
        stream = stream.plus(Box(-off["after"], off["after"]), one)
    trace = BlockTrace(queries, keys, apart, centre, scores, shares, wide, (kept, kept_wide), off)
    return stream, trace


def off_of_words(reader: Any, embedded: Tensor) -> Tensor:
    """By how much a network's numbers for single words may differ; the largest of the choices."""
    places = reader.positions.weight[: embedded.shape[1]].abs()
    sizes = embedded.abs() @ reader.word.weight.abs().T + reader.word.bias.abs() + places[:, None]
    return _centring_off(reader.enter, sizes, lost(embedded.shape[3] + 3)).amax(2)


def lost(operations: int) -> float:
    """The largest relative error after so many operations with 32-bit numbers, plus a few of our own."""
    total = (operations + 16) * _UNIT
    return total / (1 - total)


def _off(layer: Any, largest: Tensor) -> Tensor:
    """By how much a linear layer's outputs may be off: the sum of the sizes of its terms, times the lost digits."""
    found: Tensor = (largest @ layer.weight.abs().T + layer.bias.abs()) * lost(largest.shape[-1] + 1)
    return found


def _off_after(layer: Any, norm: Centring, largest: Tensor, stream: Tensor) -> Tensor:
    """The same for a linear layer, the sum with its input, and a normalisation."""
    sizes = largest @ layer.weight.abs().T + layer.bias.abs() + stream
    return _centring_off(norm, sizes, lost(largest.shape[-1] + 2))


def _centring_off(norm: Centring, sizes: Tensor, before: float) -> Tensor:
    both = sizes + sizes.mean(-1, keepdim=True)
    return (both * norm.weight.abs() + norm.bias.abs()) * (before + lost(sizes.shape[-1] + 4))


def _centred(norm: Centring, columns: Tensor) -> Tensor:
    return norm.weight[:, None] * (columns - columns.mean(0))
