"""What the words of a text, and those that may replace them, add to the filters of a CNN over words.

A filter over k words is a sum of what each word adds at its place of the window, a feature the maximum over all
windows (or nought), and a margin between two classes a sum of features.
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
    """The filters over so many words."""

    size: int
    first: int  # of its places among the places of all widths
    bias: Reals
    heights: Reals  # of each window of the original text, each filter
    slopes: Reals  # of the margin over each other class by each feature

    @cached_property
    def best(self) -> Reals:
        """The features of the original text."""
        found: Reals = np.maximum(self.heights.max(0), 0)
        return found


class CnnFilters:
    """One text with its choices, one label; words are numbered anew. The last position stands for none at all."""

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
        own = self.adds[self.row[self.spots]]  # of a position that is not read: whatever
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
        """What rounding may cost a margin at most, in whatever order the victim adds up, and a bound itself.

        A sum of n products of 32-bit numbers is off by at most n roundings of the sum of their sizes.
        """
        features = slopes.shape[1]
        off = []
        for width in self.widths:
            largest = np.abs(width.bias) + sizes[width.first : width.first + width.size].sum(0)
            off.append(largest * (_lost(width.size * (dim + 4)) + _lost(features)))
        found: Reals = slopes @ np.concatenate(off) + constant * _lost(features)
        return found


def _lost(operations: int) -> float:
    """The largest relative error of so many roundings, and some of our own."""
    total = (operations + 16) * _FLOAT32_ROUNDING
    return total / (1 - total)


def _numbers(tensor: Any) -> Reals:
    found: Reals = tensor.detach().cpu().double().numpy()
    return found
