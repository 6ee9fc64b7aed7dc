"""Exact k-nearest-neighbour search for many rows at once: approximate scores for all pairs, exact values for few."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Numbers = npt.NDArray[np.int64]
Lists = tuple[Numbers, Floats]  # for each queried row: the numbers of the nearest rows, and how near each is

_SCORES_AT_ONCE = 1 << 24  # 64 MiB of approximate scores
_EXACT_VALUES_AT_ONCE = 1 << 14


@dataclass(frozen=True, eq=False)
class Nearest:
    """An exact brute-force search that works in float32 and in large batches.

    The approximate score of two rows is their dot product, each divided by `divisor`, plus the bias of the second.
    The scores of a row are split into blocks. The k-th largest block maximum is a lower bound on the k-th largest
    score, so every row of the answer scores at least that, minus the rounding error. Only these few rows are compared
    exactly. This is much cheaper than sorting or partitioning all scores. Ties keep the order of the table.
    """

    table: Floats
    bias: Floats  # -inf for a row that has no neighbours and is nobody's neighbour
    slack: float  # upper bound on the error of an approximate score
    nearness: Callable[[Numbers, Numbers], Floats]  # the exact value for pairs of rows; large means near
    divisor: npt.NDArray[np.float64] | None = None  # one number per row, or one for all

    def width(self, k: int) -> int:
        """The length of a list: k, or fewer if the table has fewer other rows."""
        return max(0, min(k, self._usable - 1))

    @cached_property
    def _usable(self) -> int:
        return int(np.isfinite(self.bias).sum())

    def __call__(self, rows: Numbers, k: int) -> Lists:
        """The k nearest other rows of each row, nearest first; all nan for a row with a bias of -inf."""
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
        """The divided table. Computed at the first search; with all lists cached there is no search."""
        return self.table if self.divisor is None else divided(self.table, self.divisor)

    def _some(self, rows: Numbers, k: int) -> Lists:
        scores = self._divided[rows] @ self._divided.T
        if self.bias.any():
            scores += self.bias
        scores[np.arange(len(rows)), rows] = -np.inf  # no row is its own neighbour
        least = np.maximum(_lower_bound(scores, k) - 2 * np.float32(self.slack), np.finfo(np.float32).min)
        asked, found = np.divmod(np.flatnonzero(scores >= least[:, None]), len(self.table))
        values = np.concatenate(
            [
                self.nearness(rows[asked[i : i + _EXACT_VALUES_AT_ONCE]], found[i : i + _EXACT_VALUES_AT_ONCE])
                for i in range(0, len(asked), _EXACT_VALUES_AT_ONCE)
            ]
        )
        order = np.lexsort((-values, asked))  # stable: ties keep their order
        starts = np.searchsorted(asked, np.arange(len(rows)))  # asked is ascending, and each row has at least k
        best = order[starts[:, None] + np.arange(k)]
        return found[best], values[best]


def divided(table: Floats, by: npt.NDArray[np.float64]) -> Floats:
    """Divide in float64 without a float64 copy of the whole table."""
    quotients = np.empty(table.shape, np.float32)
    np.divide(table, by, out=quotients, casting="same_kind")
    return quotients


def _lower_bound(scores: Floats, k: int) -> Floats:
    """For each row a close lower bound on its k-th largest score."""
    height = max(1, scores.shape[1] // (16 * k))  # many more blocks than k, so few of the best share one
    width = scores.shape[1] // height
    maxima = scores[:, : height * width].reshape(len(scores), height, width).max(axis=1)
    return np.partition(maxima, -k, axis=1)[:, -k]
