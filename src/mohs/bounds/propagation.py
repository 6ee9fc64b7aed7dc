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
    own, box = masked(own.relu(), lengths), box.map(lambda end: masked(end, lengths))
    size = sizes(own, lengths)
    mean = reader.states(own, lengths).sum(1) / size
    states = _states(reader, box, lengths)
    kept = reader.drop(torch.ones_like(mean))  # the same numbers are dropped everywhere
    means = states.map(lambda end: kept * (end.sum(1) / size))
    hidden = relu(affine(means, reader.hidden.weight, reader.hidden.bias))
    features = reader.hidden(kept * mean).relu()
    left = model.drop(torch.ones_like(features))
    out, bias = model.out.weight, model.out.bias
    leads = leads_above(hidden.map(lambda end: left * end), out, bias, labels)
    return model.decide(left * features), leads


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
        heights = relu(affine(words.map(windows), reader.filters.weight, reader.filters.bias))
        return heights.map(lambda end: masked(end, lengths))
    assert isinstance(reader, VerifiableRecurrence), f"no intervals are known for {type(reader).__name__}"
    weights = dict(reader.lstm.named_parameters())
    sides = torch.cat([_read(Steps.of(weights, backwards=way), words, lengths, way) for way in reader.ways], 3)
    return Box(-sides[:, :, 0], sides[:, :, 1])


def _read(steps: Steps, words: Box, lengths: Lengths, backwards: bool) -> Tensor:
    """The sides of the states of one direction: row x place x side x number."""
    rows, length = words.low.shape[:2]
    entering = steps.entering(words)
    inside = None if lengths is None else inside_of(length, lengths, words.low.device)[..., None, None]
    hidden = cell = steps.nothing(rows)
    found: list[Tensor] = []
    for place in reversed(range(length)) if backwards else range(length):
        hidden, cell = steps(entering[:, place], hidden, cell)
        if inside is not None:  # backwards, a shorter row has not begun; forwards, nothing reads on after its end
            hidden, cell = hidden * inside[:, place], cell * inside[:, place]
        found.append(hidden)
    return torch.stack(found[::-1] if backwards else found, 1)
