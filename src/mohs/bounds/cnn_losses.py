"""How much each position of a text can take from the margin of a CNN over words: one number each, to be added up.

A feature falls by at most what the substitutions take from its best window. It also never falls below the worst case of
any other window. It rises by at most the sum of what each substitution adds to a window, each less its share of the
window's distance to the best one. So several substitutions together cost at most the sum of their single losses.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from mohs.bounds.cnn_filters import CnnFilters, Reals, Width
from mohs.bounds.word_numbers import Whole


class CnnLosses:
    """The losses in a text with at most r substitutions."""

    def __init__(self, filters: CnnFilters, r: int) -> None:
        self._filters = filters
        self._r = r
        self._reach = max(width.size for width in filters.widths)
        self._most = min(r, self._reach)  # substitutions in one window
        self._margins = sum((width.best @ width.slopes for width in filters.widths), filters.offset)
        # For 1, 2 ... substitutions in a window.
        self._table = np.zeros((self._most, len(filters.offset), len(filters.spots)))
        falls = [self._falls(width) for width in filters.widths]
        for position in np.flatnonzero(filters.spots >= 0).tolist():
            taken = np.zeros((self._most, len(filters.choices[position]), len(filters.offset)))
            for width, fall in zip(filters.widths, falls, strict=True):
                for t, (falling, rising) in enumerate(self._moves(position, width, fall)):
                    taken[t] += falling @ np.maximum(width.slopes, 0) - rising @ np.minimum(width.slopes, 0)
            self._table[:, :, position] = taken.max(1, initial=0)

    def lower(self, places: Whole, free: npt.NDArray[np.bool_], more: int) -> Reals:
        """A lower bound on the margin of each set, where every free place may have any of its words."""
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
        """The worst change of each filter by one substitution at each place of each window, worst first."""
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
        starts = spot - o  # of the windows that contain the position
        change = (filters.adds[filters.choices[position]] - filters.adds[filters.row[spot]])[:, width.first + o]
        floors = heights + falls[:, : self._r - 1].sum(1)
        floor = np.concatenate([floors[: starts[-1]], floors[starts[0] + 1 :]]).max(0, initial=0)
        below = best - heights[starts]
        fall = np.where(below == 0, -change, 0).max(1, initial=0)  # of the best window, if it contains the position
        for t in range(1, self._most + 1):
            own = (heights[starts] + change + falls[starts, : t - 1].sum(1)).max(1)
            falling = np.minimum(fall, np.maximum(best - np.maximum(own, floor), 0))
            yield falling, (change - below / min(t, width.size)).max(1, initial=0)


def _offsets(spot: int, width: Width) -> range:
    """The places of a word in the windows that contain it."""
    return range(max(0, spot - len(width.heights) + 1), min(width.size, spot + 1))
