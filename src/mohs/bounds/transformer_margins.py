"""Lower bounds on the margins of a batch of texts through a verifiable transformer, as training needs them.

Xu et al. 2020, Section 4.2 and its released code: the bound is `share` times that of the intervals plus 1 - `share`
times the linear one, so that a training begins with the tighter one and ends with the one that it can make small.
`share` also says how far each choice is from the text's own word: 0 is the word itself, 1 the choice.

Differs from the released code: the linear bound is never below that of the intervals, which is sound too and keeps a
training finite while linear bounds still say nothing.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from mohs.bounds.transformer_boxes import Trace, Words, boxes_of, drawn_dropout
from mohs.bounds.transformer_planes import linear_bound
from mohs.bounds.word_budget import least
from mohs.models.architectures import Lengths, inside_of

_ENOUGH = 1e-4  # of the linear bound


def least_margins(
    model: Any, choices: Tensor, lengths: Lengths, labels: Tensor, *, budget: int, share: float = 1.0
) -> Tensor:
    """For each text a lower bound on the label's margin over every other class, in the order of the classes.

    choices: row x place x choice, word numbers; the first choice is the word itself, the others may repeat it. budget:
    how many words may change, in the linear bound. Differentiable; dropout applies if the model is in training mode.
    """
    trace, margins = _trace(model, choices, lengths, labels, share)
    found = interval_margins(model, trace, margins)
    if 1 - share <= _ENOUGH:
        return found
    return share * found + (1 - share) * torch.maximum(_linear(model, trace, margins, budget), found)


def best_margins(model: Any, choices: Tensor, lengths: Lengths, labels: Tensor, *, budget: int) -> Tensor:
    """The same for all choices, with the better of both bounds."""
    trace, margins = _trace(model, choices, lengths, labels, 1.0)
    return torch.maximum(_linear(model, trace, margins, budget), interval_margins(model, trace, margins))


def _trace(model: Any, choices: Tensor, lengths: Lengths, labels: Tensor, share: float) -> tuple[Trace, Tensor]:
    read = model.reader.words(model.embedding(choices))
    own = read[:, :, :1]
    if lengths is None:
        inside = torch.ones(choices.shape[:2], dtype=torch.bool, device=choices.device)
    else:
        inside = inside_of(choices.shape[1], lengths, choices.device)
    words = Words(own + share * (read - own) if share < 1 else read, inside)
    return boxes_of(model, words, drawn_dropout), margins_over(labels, model.out.out_features).to(read.dtype)


def _linear(model: Any, trace: Trace, margins: Tensor, budget: int) -> Tensor:
    bound = linear_bound(model, trace, margins, margins.new_zeros(margins.shape[:2]))
    return bound.constant + least(bound.slopes, trace.words.choices, budget)


def margins_over(labels: Tensor, classes: int) -> Tensor:
    """For each row and each other class: one for the label's logit, minus one for that of the other class."""
    one = torch.eye(classes, device=labels.device)
    others = torch.arange(classes, device=labels.device).expand(len(labels), -1)
    others = others[others != labels[:, None]].view(len(labels), classes - 1)
    return one[labels][:, None] - one[others]


def interval_margins(model: Any, trace: Trace, margins: Tensor) -> Tensor:
    """Lower bounds on the margins from the intervals of the last features."""
    weights = margins @ model.out.weight
    features = trace.hidden.map(lambda end: end.relu() * trace.keep_hidden)
    up, down = weights.clamp_min(0), weights.clamp_max(0)
    found: Tensor = (up * features.low[:, None] + down * features.high[:, None]).sum(2) + margins @ model.out.bias
    return found
