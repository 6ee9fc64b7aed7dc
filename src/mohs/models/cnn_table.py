"""A faster word CNN: a table holds what each word adds to each filter at each place of a window.

A filter over k words is a sum of k products. Each product depends only on one word and its place in the window. So the
products are computed once for the whole vocabulary. A window is then the sum of k rows of that table, and a text is the
maximum over its windows. That takes a tenth of the arithmetic of a convolution, and no answer depends on the other
texts of a batch. Rows of different lengths can share a batch, because a window that reaches past the end of its text
counts as minus infinity. The results differ from the convolution's in the last bits, since the sum has another order.
"""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import embedding_bag

from mohs.models.architectures import FILTERS, Classifier, Convolutions

NO_WORD_BYTE = b"\xff"  # four of these bytes are -1, the id for "no word" after the end of a text
_MOST_NUMBERS = 64 << 20  # 256 MB

_PLACES_OF_A_WORD = sum(FILTERS)  # over the windows of all widths


class CnnTable:
    """Gives the logits of a CNN classifier. It copies the weights: later changes to them have no effect."""

    def __init__(self, model: Classifier) -> None:
        self._model = model
        filters: Any = model.reader.filters
        with torch.inference_mode():
            places = torch.cat([layer.weight.permute(2, 0, 1).flatten(0, 1) for layer in filters])
            words = model.embedding.weight
            table = torch.full((len(words) + 1, len(places)), float("-inf"))  # the first row stands for no word
            torch.mm(words, places.T, out=table[1:])
            self._table = table.view((len(words) + 1) * _PLACES_OF_A_WORD, -1)
            self._biases = torch.cat([layer.bias for layer in filters])
        ends = list(accumulate(FILTERS))
        self._places = [
            torch.arange(end - size, end, dtype=torch.int32) for size, end in zip(FILTERS, ends, strict=True)
        ]

    @staticmethod
    def fits(model: Classifier) -> bool:
        """Whether a classifier is a CNN on the CPU whose table is not too large."""
        words = model.embedding.weight
        if words.device.type != "cpu" or not isinstance(model.reader, Convolutions):
            return False
        return (len(words) + 1) * model.reader.width * _PLACES_OF_A_WORD // len(FILTERS) <= _MOST_NUMBERS

    def __call__(self, rows: Tensor) -> Tensor:
        """Logits for rows of 32-bit word ids, each filled with -1 to the length of the longest."""
        first = (rows + 1) * _PLACES_OF_A_WORD  # where the word's rows in the table begin
        found = []
        for size, places in zip(FILTERS, self._places, strict=True):
            windows = first.unfold(1, size, 1) + places
            heights = embedding_bag(windows.reshape(-1, size), self._table, mode="sum")
            found.append(heights.view(len(rows), -1, heights.shape[1]).amax(1))
        features = torch.cat(found, 1).add_(self._biases).relu_()
        return self._model.decide(features)
