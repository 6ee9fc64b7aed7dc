"""Which texts of a level have to be asked, if a bound proves for most of them that they keep the label."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations, islice
from typing import Protocol

import numpy as np

from mohs.bounds.points import Block, Points, Table, Whole

_BLOCKS_AT_ONCE = 16_384
_LEAST_SETTLING_MARGIN = 1e-3  # in logits


class Bound(Protocol):
    """A lower bound on margins that needs no queries: see `mohs.bounds.cnn_bound`."""

    def lower(self, places: Whole, picks: Whole) -> Table:
        """For each block, a lower bound on the logit margins of its texts."""
        ...


class Open:
    """The open texts with exactly r changes: those that a bound does not prove.

    Blocks of positions with free words are bounded first. A block that stays open is split by the words of its next
    position and bounded again, down to single texts. Counts the texts that are settled and keeps their smallest bound.
    """

    def __init__(self, bound: Bound, points: Points, positions: Sequence[int], r: int) -> None:
        self._bound = bound
        self._sizes = np.array(points.sizes, np.int32)
        # A lead of b logits over every other class is a margin of at least (1 - exp(-b)) / classes in probability.
        self._floor = max(_LEAST_SETTLING_MARGIN, 2 * points.tolerance * points.classes)
        self._positions = positions
        self._r = r
        self.settled = 0  # texts
        self._lowest = math.inf  # of the bounds that settled them

    def margin(self, classes: int) -> float:
        """A lower bound on the label's probability margin in the texts that are settled."""
        return -math.expm1(-self._lowest) / classes if self.settled else 2.0

    def __iter__(self) -> Iterator[Block | None]:
        """The open texts, smallest bound first; None now and then, where other searches may run."""
        wanted = combinations(self._positions, self._r)
        while some := list(islice(wanted, _BLOCKS_AT_ONCE)):
            places = np.sort(np.array(some, np.int32), axis=1)
            yield from self._split(places, np.full_like(places, -1), 0)

    def _split(self, places: Whole, picks: Whole, column: int) -> Iterator[Block | None]:
        yield None
        low = self._bound.lower(places, picks)
        settled = low > self._floor
        free = np.where(picks < 0, self._sizes[places], 1)
        self.settled += int(free[settled].prod(axis=1, dtype=np.int64).sum())
        self._lowest = min(self._lowest, float(low[settled].min(initial=np.inf)))
        order = np.argsort(low, kind="stable")
        order = order[~settled[order]]
        places, picks = places[order], picks[order]
        if column == self._r:
            yield from (Block(tuple(one), tuple(own)) for one, own in zip(places.tolist(), picks.tolist(), strict=True))
            return
        sizes = self._sizes[places[:, column]] if len(places) else places
        step = max(1, _BLOCKS_AT_ONCE // int(max(1, sizes.max(initial=1))))
        for start in range(0, len(places), step):
            count = sizes[start : start + step]
            again = start + np.repeat(np.arange(len(count)), count)
            more = picks[again]
            more[:, column] = np.arange(len(again)) - np.repeat(np.cumsum(count) - count, count)
            yield from self._split(places[again], more, column + 1)
