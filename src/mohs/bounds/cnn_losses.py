"""What each position of a text can take from the margin of a CNN over words: one number each, to be added up.

A feature falls by no more than the substitutions in its best window take from that, nor below any other window whatever
happens there. It rises by no more than the sum of what each substitution lifts a window, each less its share of the
window's distance to the best. So the losses of several substitutions are at most the sum of the losses of each.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from mohs.bounds.cnn_filters import CnnFilters, Reals, Width
from mohs.bounds.word_numbers import Whole


class CnnLosses:
    """Of a text in which at most r words are substituted."""

    def __init__(self, filters: CnnFilters, r: int) -> None:
        self._filters = filters
        self._r = r
        self._reach = max(width.size for width in filters.widths)
        self._most = min(r, self._reach)  # substitutions in one window
        self._margins = sum((width.best @ width.slopes for width in filters.widths), filters.offset)
        self._table = np.zeros((self._most, len(filters.offset), len(filters.spots)))  # 1, 2 ... in a window
        falls = [self._falls(width) for width in filters.widths]
        for position in np.flatnonzero(filters.spots >= 0).tolist():
            taken = np.zeros((self._most, len(filters.choices[position]), len(filters.offset)))
            for width, fall in zip(filters.widths, falls, strict=True):
                for t, (falling, rising) in enumerate(self._moves(position, width, fall)):
                    taken[t] += falling @ np.maximum(width.slopes, 0) - rising @ np.minimum(width.slopes, 0)
            self._table[:, :, position] = taken.max(1, initial=0)

    def lower(self, places: Whole, free: npt.NDArray[np.bool_], more: int) -> Reals:
        """The least margin of each set in which those places that are free have any of their words."""
        spots = np.where(free, self._filters.spots[places], -self._reach)
        near = (np.abs(spots[:, :, None] - spots[:, None]) < self._reach) & free[:, None]
        each = self._table[np.minimum(near.sum(2) + more, self._most) - 1, :, places]
        total = np.where(free[:, :, None], each, 0).sum(1)
        if more:
            further = np.repeat(self._table[-1][None], len(places), 0)
            which, _ = np.nonzero(free)
            further[which, :, places[free]] = 0
            total += np.sort(further, 2)[:, :, -more:].sum(2)
        found: Reals = (self._margins - total).min(1)
        return found

    def _falls(self, width: Width) -> Reals:
        """What a substitution at each place of each window can do to each filter at the worst, the worst first."""
        filters = self._filters
        found = np.zeros((len(width.heights), width.size, len(width.bias)))
        for position in np.flatnonzero(filters.spots >= 0):
            spot = filters.spots[position]
            change = filters.least[position] - filters.adds[filters.row[spot]]
            for o in _offsets(spot, width):
                found[spot - o, o] = change[width.first + o]
        return np.sort(found, 1)

    def _moves(self, position: int, width: Width, falls: Reals) -> Iterator[tuple[Reals, Reals]]:
        """How far each choice can make features fall and rise, with 1, 2 ... substitutions in a window."""
        filters, heights, best = self._filters, width.heights, width.best
        spot = filters.spots[position]
        o = np.array(_offsets(spot, width))
        starts = spot - o  # of the windows that hold it
        change = (filters.adds[filters.choices[position]] - filters.adds[filters.row[spot]])[:, width.first + o]
        floors = heights + falls[:, : self._r - 1].sum(1)
        floor = np.concatenate([floors[: starts[-1]], floors[starts[0] + 1 :]]).max(0, initial=0)
        below = best - heights[starts]
        fall = np.where(below == 0, -change, 0).max(1, initial=0)  # of the best window, if it holds it
        for t in range(1, self._most + 1):
            own = (heights[starts] + change + falls[starts, : t - 1].sum(1)).max(1)
            falling = np.minimum(fall, np.maximum(best - np.maximum(own, floor), 0))
            yield falling, (change - below / min(t, width.size)).max(1, initial=0)


def _offsets(spot: int, width: Width) -> range:
    """The places that a word has in the windows that hold it."""
    return range(max(0, spot - len(width.heights) + 1), min(width.size, spot + 1))
