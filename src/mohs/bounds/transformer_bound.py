"""A lower bound on a label's margin for the verifiable transformer of `mohs train`, without querying it (LiRPA).

Xu et al. 2020 ("Automatic Perturbation Analysis for Scalable Certified Robustness and Beyond"): linear bounds going
backwards (CROWN) between intervals (IBP), and at the words a budget of changes. The bound is the best of these, each of
them sound:

1. The intervals alone, with every word free.
2. Linear bounds with the intervals of 1 and at most `budget` changed words, with both ways to bound a ReLU from below.
3. If there are few ways to choose `budget` places: 1 and 2 for each choice, where all other words stand still, so that
   intervals are much shorter. The least of these is the bound.

Differs from the released code: 3, the shape (mohs.models.verifiable_transformer), how intervals are joined
(mohs.bounds.transformer_boxes), and wide rows of attention (mohs.bounds.transformer_planes). Their synonyms are those
that a language model finds likely in the text; here they are the choices of the space.

Soundness in floating point: the network computes with 32-bit numbers, the bound with 64-bit ones. At each step the
bound allows for all that 32-bit numbers may lose there in any order of summation (mohs.bounds.step_errors). It makes
the intervals wider, and going back it is subtracted with the absolute slopes of that step.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import comb, inf
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor

from mohs.bounds.boxes import relu
from mohs.bounds.step_errors import of_margins, of_words
from mohs.bounds.transformer_boxes import Words, boxes_of
from mohs.bounds.transformer_margins import interval_margins, margins_over
from mohs.bounds.transformer_planes import linear_bound
from mohs.bounds.word_budget import least
from mohs.bounds.word_numbers import WordNumbers

_MOST_SETS = 64  # of places, that are bounded one by one
_NUMBERS = 1 << 22  # in the largest table of one batch


@dataclass(frozen=True)
class TransformerBound:
    """Bounds on one label's margin over the texts of one space."""

    model: Any  # in 64-bit numbers
    choices: Tensor  # 1 x places x choices x numbers of a word vector; the first choice is the text's own word
    free: tuple[int, ...]  # the places that may change
    label: int
    method: str = "lirpa"

    def lower(self, budget: int | None) -> float:
        """A lower bound on how far the label's logit leads all others, for at most so many changed words."""
        if budget is None or budget >= len(self.free):
            return self._any
        found = max(self._any, self._among([self.free], budget))
        if found <= 0 and comb(len(self.free), budget) <= _MOST_SETS:
            found = max(found, self._among(list(combinations(self.free, budget)), None))
        return found

    @cached_property
    def _any(self) -> float:
        return self._among([self.free], None)

    def _among(self, sets: list[tuple[int, ...]], budget: int | None) -> float:
        """The least bound over sets of places, each with only its own places free."""
        length, device = self.choices.shape[1], self.choices.device
        step = max(1, _NUMBERS // (length * length * self.model.reader.width))
        found = inf
        with torch.no_grad():
            for start in range(0, len(sets), step):
                part = sets[start : start + step]
                open_places = torch.zeros(len(part), length, 1, 1, dtype=torch.bool, device=device)
                for row, places in enumerate(part):
                    open_places[row, list(places)] = True
                choices = torch.where(open_places, self.choices, self.choices[:, :, :1])
                found = min(found, float(self._margins(choices, budget).min()))
        return found

    def _margins(self, embedded: Tensor, budget: int | None) -> Tensor:
        reader = self.model.reader
        inside = torch.ones(embedded.shape[:2], dtype=torch.bool, device=embedded.device)
        words = Words(reader.words(embedded), inside, of_words(reader, embedded))
        trace = boxes_of(self.model, words)
        label = torch.tensor([self.label], device=embedded.device)
        margins = margins_over(label, self.model.out.out_features).double()
        margins = margins.expand(len(embedded), -1, -1)
        offset = -of_margins(self.model.out, relu(trace.hidden).high, margins)
        found = _proven(interval_margins(self.model, trace, margins) + offset)
        for steep in (False, True):
            bound = linear_bound(self.model, trace, margins, offset, steep=steep)
            found = torch.maximum(found, _proven(bound.constant + least(bound.slopes, words.choices, budget)))
        return found


def transformer_bound(model: Any, text: WordNumbers, label: int) -> TransformerBound:
    """The bound for a text and the words that may replace its words."""
    open_words = [(int(spot), words) for spot, words in zip(text.spots, text.words, strict=True) if spot >= 0]
    widest = max((len(words) for _, words in open_words), default=0) + 1
    table = torch.from_numpy(text.row)[:, None].repeat(1, widest)
    for spot, words in open_words:
        table[spot, 1 : len(words) + 1] = torch.from_numpy(words)
    used, places = torch.unique(table, return_inverse=True)
    every = model.embedding.weight.detach()
    vectors = every[used.to(every.device)].double()[places.to(every.device)]
    free = tuple(spot for spot, words in open_words if len(words))
    return TransformerBound(_in_double(model), vectors[None], free, label)


def _proven(bounds: Tensor) -> Tensor:
    """The bounds; one that is no number, because a step overflowed, proves nothing."""
    return bounds.masked_fill(~bounds.isfinite(), -inf)


def _in_double(model: Any) -> Any:
    """The layers after the word vectors, in 64-bit numbers."""
    parts = {name: copy.deepcopy(getattr(model, name)).double() for name in ("reader", "drop", "out")}
    return SimpleNamespace(**parts)
