"""Which texts of a level are asked twice: a victim that answers otherwise the second time proves nothing."""

from __future__ import annotations

import hashlib

import numpy as np

from mohs.bounds.points import Table, Whole

_SHARE = 0.01  # of the texts of a level
_LEAST = 20  # texts, or all of them if there are fewer
_SMALLEST = 10  # margins


class Again:
    """A random part of the texts that were asked, and those with the smallest margins."""

    def __init__(self, seed: str) -> None:
        digest = hashlib.sha256(seed.encode("utf-8", "surrogatepass")).digest()
        self._random = np.random.default_rng(list(digest))
        self._keys: Table | None = None
        self.places: Whole = np.zeros((0, 0), np.int32)
        self.picks: Whole = self.places
        self.margins: Table = np.zeros(0)

    def add(self, places: Whole, picks: Whole, margins: Table) -> None:
        """Take note of some answers; keep those that will be asked for again."""
        keys = self._random.random(len(margins))
        if self._keys is not None:
            keys = np.concatenate([self._keys, keys])
            places = np.concatenate([self.places, places])
            picks = np.concatenate([self.picks, picks])
            margins = np.concatenate([self.margins, margins])
        kept = keys < _SHARE
        kept[np.argsort(keys)[:_LEAST]] = True
        kept[np.argsort(margins, kind="stable")[:_SMALLEST]] = True
        self._keys, self.places, self.picks, self.margins = keys[kept], places[kept], picks[kept], margins[kept]
