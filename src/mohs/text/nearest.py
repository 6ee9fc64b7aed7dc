"""The exact k nearest rows of a table for many rows at once: rough scores of all pairs, exact values of few."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Numbers = npt.NDArray[np.int64]
Lists = tuple[Numbers, Floats]  # of each row asked for: the numbers of the nearest rows, and how near each is

_SCORES_AT_ONCE = 1 << 24  # 64 MiB of rough ones
_EXACT_VALUES_AT_ONCE = 1 << 14


@dataclass(frozen=True, eq=False)
class Nearest:
    """A search that reads every row for every question, in float32 and in large batches, and is exact all the same.

    The k-th largest of the maxima of blocks is never above the k-th largest score; so every row of the answer scores
    at least that, less what rounding can do. Only those few rows are compared exactly, which costs far less than to
    sort or partition all scores. Rows that are equally near come in their order in the table.
    """

    table: Floats  # a rough score is the product of two rows, each divided ...
    bias: Floats  # ... and the bias of the second: -inf for a row that is nobody's neighbour and has none
    slack: float  # no rough score is further than this from the exact one, in the same unit
    nearness: Callable[[Numbers, Numbers], Floats]  # of pairs of rows, exactly; large is near
    divisor: npt.NDArray[np.float64] | None = None  # ... by this, one number a row or one for all

    def width(self, k: int) -> int:
        """How long the list of a row is when k are asked for: fewer where there are not so many others."""
        return max(0, min(k, self._usable - 1))

    @cached_property
    def _usable(self) -> int:
        return int(np.isfinite(self.bias).sum())

    def __call__(self, rows: Numbers, k: int) -> Lists:
        """Of each row the k nearest others, nearest first; all nan for a row that is nobody's neighbour itself."""
        k = self.width(k)
        numbers = np.zeros((len(rows), k), np.int64)
        values = np.full((len(rows), k), np.nan, np.float32)
        usable = np.flatnonzero(np.isfinite(self.bias[rows])) if k else rows[:0]
        step = max(1, _SCORES_AT_ONCE // len(self.table))
        for start in range(0, len(usable), step):
            part = usable[start : start + step]
            numbers[part], values[part] = self._some(rows[part], k)
        return numbers, values

    @cached_property
    def _divided(self) -> Floats:
        """Made for the first search: where all lists are known already there is none."""
        return self.table if self.divisor is None else divided(self.table, self.divisor)

    def _some(self, rows: Numbers, k: int) -> Lists:
        scores = self._divided[rows] @ self._divided.T
        if self.bias.any():
            scores += self.bias
        scores[np.arange(len(rows)), rows] = -np.inf  # nobody is their own neighbour
        least = np.maximum(_lower_bound(scores, k) - 2 * np.float32(self.slack), np.finfo(np.float32).min)
        asked, found = np.divmod(np.flatnonzero(scores >= least[:, None]), len(self.table))
        values = np.concatenate(
            [
                self.nearness(rows[asked[i : i + _EXACT_VALUES_AT_ONCE]], found[i : i + _EXACT_VALUES_AT_ONCE])
                for i in range(0, len(asked), _EXACT_VALUES_AT_ONCE)
            ]
        )
        order = np.lexsort((-values, asked))  # stable: what is equally near keeps its order
        starts = np.searchsorted(asked, np.arange(len(rows)))  # asked is ascending, and each row has at least k
        best = order[starts[:, None] + np.arange(k)]
        return found[best], values[best]


def divided(table: Floats, by: npt.NDArray[np.float64]) -> Floats:
    """In float64, without a whole table in float64."""
    quotients = np.empty(table.shape, np.float32)
    np.divide(table, by, out=quotients, casting="same_kind")
    return quotients


def _lower_bound(scores: Floats, k: int) -> Floats:
    """For each row a number that at least k of its scores reach; close below the k-th largest."""
    height = max(1, scores.shape[1] // (16 * k))  # many more blocks than k, so that few of the best share one
    width = scores.shape[1] // height
    maxima = scores[:, : height * width].reshape(len(scores), height, width).max(axis=1)
    return np.partition(maxima, -k, axis=1)[:, -k]
