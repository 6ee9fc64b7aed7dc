"""Interval bounds of a verifiable transformer, from the words that may stand at each place to the last features.

This is interval bound propagation (IBP; Shi et al. 2020; Xu et al. 2020). Three things make it tighter than theirs:

1. Linear steps are joined before intervals are taken (mohs.bounds.streams).
2. What is linear in single words is computed for every word that may stand there, as in Jia et al. 2019.
3. Shares of attention add up to one, so a sum of values is their centre plus weighted differences from it.

The same code bounds batches in training, with dropout, and single texts in a certificate, with rounding errors
(mohs.bounds.step_errors).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor

from mohs.bounds.boxes import Box, relu
from mohs.bounds.planes import products, softmax_box, weighted
from mohs.bounds.step_errors import Errors, of_layer, of_looked, of_mean, of_scores, of_shares, of_sum
from mohs.bounds.streams import Stream
from mohs.models.verifiable_transformer import by_head

Factors = Tensor | float
Keep = Callable[[Any, Tensor], Factors]  # the factors of a dropout layer, for a table of this shape


class Words(NamedTuple):
    """What a network reads of the words that may stand at each place."""

    choices: Tensor  # rows x places x choices x numbers; the first is the word itself
    inside: Tensor  # rows x places: whether the place is within the text
    errors: Tensor | None = None  # by how much the network's numbers may differ, rows x places x numbers


class BlockTrace(NamedTuple):
    """The intervals of one block, which its lines and planes need."""

    queries: Box
    keys: Box
    values: Box  # less their centre
    centre: Tensor
    scores: Box
    shares: Box
    wide: Box
    keep: tuple[Factors, Factors]  # of the two dropouts
    errors: dict[str, Tensor]


class Trace(NamedTuple):
    """The intervals of a whole network."""

    words: Words
    keep: Factors
    seen: Tensor  # rows x 1 x 1 x places
    blocks: list[BlockTrace]
    share: Tensor  # rows x places: what each place counts in the mean
    hidden: Box  # of the last features, before their ReLU
    keep_hidden: Factors
    errors: dict[str, Tensor]


def no_dropout(layer: Any, like: Tensor) -> float:
    """Nothing is dropped."""
    return 1.0


def drawn_dropout(layer: Any, like: Tensor) -> Tensor:
    """Factors drawn from torch's random numbers, if the layer is in training mode."""
    found: Tensor = layer(torch.ones_like(like))
    return found


def boxes_of(model: Any, words: Words, keep: Keep = no_dropout) -> Trace:
    """The intervals at every step of a classifier with the verifiable transformer."""
    reader = model.reader
    kept = keep(reader.drop, words.choices[:, :, 0])
    stream = Stream.of(words.choices * kept[:, :, None] if isinstance(kept, Tensor) else words.choices)
    rounded = words.errors is not None
    if words.errors is not None:
        stream = stream.off_by(words.errors)
    seen = words.inside[:, None, None]
    blocks = []
    for block in reader.blocks:
        stream, trace = _block(block, stream, seen, keep, Errors(rounded))
        blocks.append(trace)
    counts = words.inside.to(words.choices)
    share = counts / counts.sum(1, keepdim=True)
    layer, errors, each = reader.hidden, Errors(rounded), share[..., None]
    means = stream.through(layer.weight, torch.zeros_like(layer.bias)).map(lambda end: (each * end).sum(1))
    hidden = errors.widened(
        "hidden",
        means.map(lambda end: end + layer.bias),
        lambda: of_mean(layer, (each * stream.largest).sum(1), share.shape[1]),
    )
    return Trace(words, kept, seen, blocks, share, hidden, keep(model.drop, hidden.low), errors.by)


def _block(block: Any, stream: Stream, seen: Tensor, keep: Keep, errors: Errors) -> tuple[Stream, BlockTrace]:
    """The stream after a block."""
    before = stream
    triple = stream.through(block.triple.weight, block.triple.bias)
    triple = errors.widened("triple", triple, lambda: of_layer(block.triple, before.largest))
    halves = [by_head(end, block.heads).chunk(3, 3) for end in (triple.low, triple.high)]
    queries, keys, values = (Box(low, high) for low, high in zip(*halves, strict=True))
    root = queries.low.shape[3] ** 0.5
    scores = products(queries, keys).map(lambda end: end / root)
    scores = errors.widened("scores", scores, lambda: of_scores(queries.largest, keys.largest))
    shares = softmax_box(scores, seen)
    exact = shares
    shares = errors.widened("shares", exact, lambda: of_shares(exact.high, scores.largest.masked_fill(~seen, 0)))
    shares = Box(shares.low.clamp_min(0), shares.high)
    inside = seen.transpose(2, 3)
    centre = ((values.low + values.high) / 2 * inside).sum(2, keepdim=True) / inside.sum(2, keepdim=True)
    apart = values.map(lambda end: end - centre)
    looked = weighted(shares, apart).map(lambda end: end + centre)
    looked = errors.widened(
        "looked", looked, lambda: of_looked(shares.high, values.largest, centre, errors.by["shares"])
    )
    together = looked.map(lambda end: end.transpose(1, 2).flatten(2))
    kept = keep(block.drop, together.low)
    stream = stream.plus(together.map(lambda end: end * kept), block.mix.weight, block.mix.bias)
    stream = errors.beside(
        "between",
        stream.centred(block.between),
        lambda: of_sum(block.mix, together.largest, before.largest, block.between),
    )
    middle = stream
    wide = stream.through(block.wide.weight, block.wide.bias)
    wide = errors.widened("wide", wide, lambda: of_layer(block.wide, middle.largest))
    kept_wide = keep(block.drop, wide.low)
    risen = relu(wide)
    stream = stream.plus(risen.map(lambda end: end * kept_wide), block.narrow.weight, block.narrow.bias)
    stream = errors.beside(
        "after",
        stream.centred(block.after),
        lambda: of_sum(block.narrow, risen.largest, middle.largest, block.after),
    )
    trace = BlockTrace(queries, keys, apart, centre, scores, shares, wide, (kept, kept_wide), errors.by)
    return stream, trace
