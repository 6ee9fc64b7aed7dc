"""Shares and means, each with a named denominator and a 95% interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from mohs.tasks.inference import interval_of

_Z = NormalDist().inv_cdf(0.975)


@dataclass(frozen=True)
class Rate:
    """A share: `hits` out of `total`, with its Wilson interval. `of` names the denominator.

    Attempts that ended in an error are not in `total`. What they might have changed is in `bounds`.
    """

    hits: int
    total: int
    of: str
    errors: int = 0
    errors_hit: int = 0  # errors that are known to be hits all the same
    errors_missed: int = 0  # errors that are known to be none

    @property
    def value(self) -> float | None:
        """The share, or None if the denominator is zero."""
        return self.hits / self.total if self.total else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95% Wilson score interval."""
        if not self.total:
            return None
        # Computed by hand: loading scipy.stats takes longer than a whole small run.
        n, share, z = self.total, self.hits / self.total, _Z
        middle = (share + z * z / (2 * n)) / (1 + z * z / n)
        half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
        return (0.0 if not self.hits else middle - half), (1.0 if self.hits == n else middle + half)

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The share if no error had been a hit, and if all had been; of `total` and all errors."""
        n = self.total + self.errors
        if not n:
            return None
        return (self.hits + self.errors_hit) / n, (self.hits + self.errors - self.errors_missed) / n

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dict with the value, its interval and its bounds."""
        return {
            "hits": self.hits,
            "total": self.total,
            "of": self.of,
            "errors": self.errors,
            "value": self.value,
            "interval": self.interval,
            "bounds": self.bounds,
        }


@dataclass(frozen=True)
class Mean:
    """A mean with its 95% interval. `over` names what is averaged over."""

    value: float | None
    low: float | None  # None for fewer than six values, or if all are equal
    high: float | None
    total: int
    over: str


def mean_of(values: Sequence[float], over: str, least: float = -math.inf, most: float = math.inf) -> Mean:
    """The mean of the values. Its interval is Student's, corrected for skewness (see `mohs.tasks.inference`).

    least, most: what a value can be; the interval does not go beyond.
    """
    if not values:
        return Mean(None, None, None, 0, over)
    numbers = np.asarray(values, np.float64)
    low, high = interval_of(numbers, least=least, most=most) or (None, None)
    return Mean(float(numbers.mean()), low, high, len(values), over)
