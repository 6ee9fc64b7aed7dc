"""Interval bound propagation through a batch of texts, as training needs it (Jia et al. 2019, Section 3.2).

Here the intervals are taken after the layer for single words, as in the paper. All is differentiable.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from mohs.bounds.boxes import Box, affine, relu, stretched
from mohs.bounds.lstm_steps import Steps
from mohs.models.architectures import Lengths, inside_of
from mohs.models.verifiable import (
    Verifiable,
    VerifiableBag,
    VerifiableConvolutions,
    VerifiableRecurrence,
    masked,
    sizes,
    windows,
)


def logits_and_leads(
    model: Any, choices: Tensor, lengths: Lengths, labels: Tensor, share: float = 1.0
) -> tuple[Tensor, Tensor]:
    """The logits of each text, and the most that the logit of each class can lead that of the label.

    choices: row x place x choice, word numbers; the first choice is the word itself, the last may repeat it. share:
    how far the intervals reach, from 0, the text alone, to 1, all choices.
    """
    reader: Verifiable = model.reader
    words = reader.word(model.embedding(choices))
    own = words[:, :, 0]
    box = relu(stretched(Box(words.amin(2), words.amax(2)), own, share))
    own, box = masked(own.relu(), lengths), Box(masked(box.low, lengths), masked(box.high, lengths))
    size = sizes(own, lengths)
    mean = reader.states(own, lengths).sum(1) / size
    states = _states(reader, box, lengths)
    kept = reader.drop(torch.ones_like(mean))  # the same numbers are dropped everywhere
    means = Box(kept * (states.low.sum(1) / size), kept * (states.high.sum(1) / size))
    hidden = relu(affine(means, reader.hidden.weight, reader.hidden.bias))
    features = reader.hidden(kept * mean).relu()
    left = model.drop(torch.ones_like(features))
    out, bias = model.out.weight, model.out.bias
    return model.decide(left * features), leads_above(Box(left * hidden.low, left * hidden.high), out, bias, labels)


def leads_above(features: Box, out: Tensor, bias: Tensor, labels: Tensor) -> Tensor:
    """For each text and class the most that its logit can lead the label's, which is 0 for the label itself."""
    slopes = out[None] - out[labels][:, None]
    middle = (features.low + features.high) / 2
    radius = (features.high - features.low) / 2
    found: Tensor = torch.einsum("bkh,bh->bk", slopes, middle) + torch.einsum("bkh,bh->bk", slopes.abs(), radius)
    return found + bias[None] - bias[labels][:, None]


def _states(reader: Verifiable, words: Box, lengths: Lengths) -> Box:
    """What is averaged over the text: row x place x number, zero beyond its end."""
    if isinstance(reader, VerifiableBag):
        return words
    if isinstance(reader, VerifiableConvolutions):
        sides = Box(windows(words.low), windows(words.high))
        heights = relu(affine(sides, reader.filters.weight, reader.filters.bias))
        return Box(masked(heights.low, lengths), masked(heights.high, lengths))
    assert isinstance(reader, VerifiableRecurrence), f"no intervals are known for {type(reader).__name__}"
    weights = dict(reader.lstm.named_parameters())
    each = [_read(Steps.of(weights, backwards=way), words, lengths, way) for way in reader.ways]
    return Box(torch.cat([one.low for one in each], 2), torch.cat([one.high for one in each], 2))


def _read(steps: Steps, words: Box, lengths: Lengths, backwards: bool) -> Box:
    """The states of one direction."""
    rows, length = words.low.shape[:2]
    entering = steps.entering(words)
    inside = None if lengths is None else inside_of(length, lengths, words.low.device)[..., None]
    zero = words.low.new_zeros(rows, steps.stay.shape[1])
    hidden = cell = Box(zero, zero)
    found: list[Box] = []
    for place in reversed(range(length)) if backwards else range(length):
        after, kept = steps(entering[:, place], hidden, cell)
        if inside is not None:
            after, kept = _where(inside[:, place], after), _where(inside[:, place], kept)
        hidden, cell = after, kept
        found.append(after)
    if backwards:
        found.reverse()
    return Box(torch.stack([one.low for one in found], 1), torch.stack([one.high for one in found], 1))


def _where(inside: Tensor, box: Box) -> Box:
    """The box, zero for rows that have ended: backwards they have not begun, and forwards nothing reads on."""
    return Box(box.low * inside, box.high * inside)
