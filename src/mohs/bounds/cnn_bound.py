"""A lower bound on a label's margin for a CNN over words, without querying the victim.

There are two bounds. Both subtract what the victim may lose by rounding.

1. By position: the losses of mohs.bounds.cnn_losses are added up. This is fast.
2. By filter, where the first bound proves nothing: each feature gets a lower and an upper bound. A known word adds a
   known amount to a filter. A word that may be any of several adds between the smallest and the largest of theirs. Only
   windows with a changed word are recomputed; for the others, maxima over stretches of the text are kept.

If every word is known, the second bound is the margin itself.
"""

from __future__ import annotations

import sys
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from mohs.bounds.cnn_filters import CnnFilters, Reals, Width
from mohs.bounds.cnn_losses import CnnLosses
from mohs.bounds.word_numbers import Whole, word_numbers_of
from mohs.models.victim import Victim, traits_of
from mohs.space import Space

Truths = npt.NDArray[np.bool_]
Singles = npt.NDArray[np.float32]

_NUMBERS_PER_TABLE = 1 << 20  # this many fit into a processor's cache


class CnnBound:
    """Lower bounds on one label's margin, for sets of texts of one space."""

    def __init__(self, filters: CnnFilters) -> None:
        import torch

        self._filters = filters
        self._losses = cache(lambda r: CnnLosses(filters, r))
        self._any = len(filters.adds)  # word number `_any + p` means any word of position p
        self._picked = np.zeros((len(filters.choices), max(1, *map(len, filters.choices))), np.int64)
        for position, words in enumerate(filters.choices):
            self._picked[position, : len(words)] = words
        both = [np.concatenate([filters.adds, end]).astype(np.float32) for end in (filters.least, filters.most)]
        self._tables = [torch.from_numpy(table.reshape(-1, table.shape[2])) for table in both]
        self._stretches = [_stretches(width.heights) for width in filters.widths]

    def lower(self, places: Whole, picks: Whole, more: int = 0) -> Reals:
        """A lower bound on the label's logit margin over every other class, for each of n sets of texts.

        places: n x m position numbers of the space (-1: none), different within each set. picks: n x m choice numbers
        at these positions (-1: any choice, or the original word). more: allow up to this many substitutions at other
        positions too; `picks` is then ignored. A bound above 0 is not always the tightest one.
        """
        places, picks = np.asarray(places), np.asarray(picks)
        if not places.shape[1]:
            places = picks = np.full((len(places), 1), -1)
        found = np.empty(len(places))
        adds = self._filters.adds
        numbers = places.shape[1] * adds.shape[1] * adds.shape[2] // 2 + len(self._filters.row)  # for each set
        step = max(1, _NUMBERS_PER_TABLE // numbers)
        for start in range(0, len(places), step):
            part = slice(start, start + step)
            found[part] = self._lower(places[part], picks[part], more)
        return found

    def _lower(self, places: Whole, picks: Whole, more: int) -> Reals:
        read = self._filters.spots[places] >= 0
        if more:
            return self._by_position(places, read, more)
        free = read & (picks < 0)
        found = np.full(len(places), -np.inf)
        unpicked = free.any(1) & (free == read).all(1)
        if unpicked.any():
            found[unpicked] = self._by_position(places[unpicked], free[unpicked], 0)
        left = found <= 0
        if left.any():
            found[left] = np.maximum(found[left], self._by_filter(places[left], picks[left], read[left]))
        return found

    def _by_position(self, places: Whole, free: Truths, more: int) -> Reals:
        return self._losses(int(free.sum(1).max()) + more).lower(places, free, more)

    def _by_filter(self, places: Whole, picks: Whole, read: Truths) -> Reals:
        words = np.where(picks < 0, self._any + places, self._picked[places, picks])
        spots = np.where(read, self._filters.spots[places], 0)  # recomputing the windows of an extra word is harmless
        rows = np.repeat(self._filters.row[None], len(places), 0)
        which, _ = np.nonzero(read)
        rows[which, spots[read]] = words[read]
        known = bool((picks[read] >= 0).all())
        margins = np.repeat(self._filters.offset[None], len(places), 0)
        for width, stretches in zip(self._filters.widths, self._stretches, strict=True):
            beside = _beside(stretches, width, spots)
            low = self._features(self._tables[0], width, rows, spots, beside)
            high = low if known else self._features(self._tables[1], width, rows, spots, beside)
            margins += low @ np.maximum(width.slopes, 0) + high @ np.minimum(width.slopes, 0)
        found: Reals = margins.min(1)
        return found

    def _features(self, table: Any, width: Width, rows: Whole, spots: Whole, beside: Singles) -> Reals:
        """A bound on each feature: lower with the table of smallest additions, upper with that of the largest."""
        import torch
        from torch.nn.functional import embedding_bag

        n, length = rows.shape
        o = np.arange(width.size)
        starts = np.clip(spots[:, :, None] - o, 0, length - width.size).reshape(n, -1, 1)  # windows with a changed word
        words = rows.ravel()[np.arange(n)[:, None, None] * length + starts + o]
        bags = words * np.int32(self._filters.adds.shape[1]) + (width.first + o).astype(np.int32)
        sums = embedding_bag(torch.from_numpy(bags.reshape(-1, width.size)), table, mode="sum").numpy()
        found: Reals = np.maximum(np.maximum(sums.reshape(n, starts.shape[1], -1).max(1) + width.bias, beside), 0)
        return found


def _stretches(heights: Reals) -> Singles:
    """The maximum over 1, 2, 4 ... windows in a row, starting at each window; the last row is -inf, for no window."""
    levels, reach = [heights], 1
    while 2 * reach <= len(heights):
        before = levels[-1]
        later = np.concatenate([before[reach:], np.full((reach, before.shape[1]), -np.inf)])
        levels.append(np.maximum(before, later))
        reach *= 2
    levels.append(np.full((1, heights.shape[1]), -np.inf))
    return np.concatenate(levels).astype(np.float32)


def _beside(stretches: Singles, width: Width, spots: Whole) -> Singles:
    """The maximum over windows without a changed word: before the first, between neighbours, after the last."""
    windows = len(width.heights)
    ordered, edge = np.sort(spots, 1), np.zeros((len(spots), 1), np.int64)
    froms = np.concatenate([edge, ordered + 1], 1)
    tos = np.concatenate([ordered - width.size + 1, edge + windows], 1)
    level = np.frexp(np.maximum(tos - froms, 1))[1].astype(np.int64) - 1  # 2 ** level is at most the length
    ends = np.concatenate([froms, tos - (1 << level)], 1)
    there = np.concatenate([tos > froms] * 2, 1)
    found: Singles = stretches[np.where(there, np.concatenate([level] * 2, 1) * windows + ends, -1)].max(1)
    return found


def bound_of(model: Victim, space: Space, label: int) -> CnnBound | None:
    """The bound for a CNN of `mohs train` that reads a space word by word; None for other victims and spaces."""
    if "mohs.models.neural" not in sys.modules:  # no such victim is loaded, so skip the slow import
        return None
    import torch

    from mohs.models.architectures import Convolutions
    from mohs.models.neural import NeuralVictim

    inside = traits_of(model).inside
    if type(inside) is not NeuralVictim or not isinstance(inside.model.reader, Convolutions):
        return None
    numbers = word_numbers_of(inside.vocabulary, space) if inside.model.out.weight.dtype == torch.float32 else None
    return None if numbers is None else CnnBound(CnnFilters(inside.model, numbers, label))
