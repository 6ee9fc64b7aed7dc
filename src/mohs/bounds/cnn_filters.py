"""What each word of a text, and each word that may replace it, adds to the filters of a CNN over words.

A filter over k words sums what each word adds at its place in the window. A feature is the maximum of a filter over all
windows, or 0 if that is negative. The margin between two classes is a weighted sum of features.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from mohs.bounds.word_numbers import Whole, WordNumbers

Reals = npt.NDArray[np.float64]

_FLOAT32_ROUNDING = 2.0**-24  # relative


@dataclass(frozen=True)
class Width:
    """The filters of one window width."""

    size: int  # words in a window
    first: int  # index of its first place among the places of all widths
    bias: Reals
    heights: Reals  # window of the original text x filter
    slopes: Reals  # feature x other class: how the margin over that class changes with the feature

    @cached_property
    def best(self) -> Reals:
        """The features of the original text."""
        found: Reals = np.maximum(self.heights.max(0), 0)
        return found


class CnnFilters:
    """The filters for one text, its choices and one label. Words are renumbered. The last position means "none"."""

    def __init__(self, model: Any, text: WordNumbers, label: int) -> None:
        words = (text.row, *text.words, np.array([], np.int64))
        used, numbers = np.unique(np.concatenate(words), return_inverse=True)
        ends = list(accumulate(map(len, words)))
        self.row: Whole = numbers[: ends[0]].astype(np.int32)
        self.spots: Whole = np.append(text.spots, -1)
        self.choices: list[Whole] = [numbers[start:end] for start, end in pairwise(ends)]
        weights = [_numbers(layer.weight).transpose(2, 1, 0) for layer in model.reader.filters]
        biases = [_numbers(layer.bias) for layer in model.reader.filters]
        vectors, places = _numbers(model.embedding.weight.detach()[used]), np.concatenate(weights)
        self.adds: Reals = np.einsum("wd,pdf->wpf", vectors, places, optimize=True)  # word, place, filter
        own = self.adds[self.row[self.spots]]  # arbitrary for a position that is not read
        each = [np.vstack([self.adds[found], one[None]]) for found, one in zip(self.choices, own, strict=True)]
        self.least: Reals = np.array(
            [one.min(0) for one in each]
        )  # position, place, filter; the original word included
        self.most: Reals = np.array([one.max(0) for one in each])
        out, offset = _numbers(model.out.weight), _numbers(model.out.bias)
        others = [other for other in range(len(out)) if other != label]
        slopes = np.split((out[label] - out[others]).T, len(weights))
        firsts = [0, *accumulate(map(len, weights))]
        self.widths = [
            Width(len(weight), first, bias, bias + self._sums(len(weight), first), slope)
            for weight, first, bias, slope in zip(weights, firsts, biases, slopes, strict=False)
        ]
        sizes = np.einsum("wd,pdf->wpf", np.abs(vectors), np.abs(places), optimize=True).max(0)
        both, constant = np.abs(out[label]) + np.abs(out[others]), np.abs(offset[label]) + np.abs(offset[others])
        self.offset: Reals = offset[label] - offset[others] - self._slack(sizes, both, constant, vectors.shape[1])

    def _sums(self, size: int, first: int) -> Reals:
        windows = len(self.row) - size + 1
        return sum((self.adds[self.row[o : windows + o], first + o] for o in range(size)), np.zeros(1))

    def _slack(self, sizes: Reals, slopes: Reals, constant: Reals, dim: int) -> Reals:
        """An upper bound on the rounding error of a margin and of the bound itself, for any order of summation.

        A sum of n products of 32-bit numbers is off by at most n roundings of the sum of their absolute values.
        """
        features = slopes.shape[1]
        off = []
        for width in self.widths:
            largest = np.abs(width.bias) + sizes[width.first : width.first + width.size].sum(0)
            off.append(largest * (_lost(width.size * (dim + 4)) + _lost(features)))
        found: Reals = slopes @ np.concatenate(off) + constant * _lost(features)
        return found


def _lost(operations: int) -> float:
    """The largest relative error after this many roundings, plus a few of our own."""
    total = (operations + 16) * _FLOAT32_ROUNDING
    return total / (1 - total)


def _numbers(tensor: Any) -> Reals:
    found: Reals = tensor.detach().cpu().double().numpy()
    return found
