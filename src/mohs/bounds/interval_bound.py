"""Interval bounds on a label's margin for a bag of words, a CNN or an LSTM of `mohs train --verifiable`.

In interval bound propagation (Jia et al. 2019, Section 3), every word that may stand at a place goes through the layers
for single words; then come intervals. Three things are tighter than in the paper, none looser:
- The words also go one by one through what the next layer does to a single word (the filters of a CNN, the gates of an
  LSTM), and the intervals are taken after it.
- At most `budget` words change. Sums over the text then take the changes that weigh most, number by number; an LSTM
  has one box for each number of words changed so far.
- The last layer bounds the difference of two logits, not each of them.

Bounds are computed in float64 and widened by all that the network may lose in float32 (mohs.bounds.boxes).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from torch import Tensor

from mohs.bounds.boxes import FLOAT32, Box, affine, lost, relu
from mohs.bounds.pooled import Choices, Means, of_bag, of_states, of_windows
from mohs.bounds.word_numbers import WordNumbers
from mohs.models.verifiable import VerifiableBag, VerifiableConvolutions


def interval_bound(model: Any, text: WordNumbers, label: int) -> IntervalBound:
    """The bound for a bag of words, a CNN or an LSTM."""
    reader = {name: tensor.detach().cpu().double() for name, tensor in model.reader.state_dict().items()}
    out, bias = (tensor.detach().cpu().double() for tensor in (model.out.weight, model.out.bias))
    choices = Choices.of(model.embedding.weight.detach(), text)
    of = {VerifiableBag: of_bag, VerifiableConvolutions: of_windows}.get(type(model.reader), of_states)
    return IntervalBound(reader, out, bias, label, of(reader, choices), len(choices.others))


@dataclass(frozen=True)
class IntervalBound:
    """Interval bounds for a network that averages over the text."""

    reader: Mapping[str, Tensor]
    out: Tensor
    bias: Tensor
    label: int
    means: Means
    changeable: int  # words that may change
    method: str = "ibp"

    def lower(self, budget: int | None) -> float:
        """The bound; with a budget never looser than without."""
        if budget is None or budget >= self.changeable:
            return self._any
        return max(self._any, self._lower(budget))

    @cached_property
    def _any(self) -> float:
        return self._lower(None)

    def _lower(self, budget: int | None) -> float:
        hidden = affine(self.means(budget), self.reader["hidden.weight"], self.reader["hidden.bias"], FLOAT32)
        return float(lead_below(relu(hidden), self.out, self.bias, self.label))


def lead_below(features: Box, out: Tensor, bias: Tensor, label: int) -> Tensor:
    """The least by which the logit of a label leads all others, for any features in a box."""
    others = [other for other in range(len(out)) if other != label]
    leads = affine(features, out[label] - out[others], bias[label] - bias[others]).low
    sizes = (out[label].abs() + out[others].abs()) @ features.largest + bias[label].abs() + bias[others].abs()
    found: Tensor = (leads - sizes * lost(out.shape[1] + 1, FLOAT32)).min()
    return found
