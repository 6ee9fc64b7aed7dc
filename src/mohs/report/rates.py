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

    Attempts that ended in an error are not in `total`. What they might have changed is in `bounds`. `Completed` is for
    shares in which only some of the examples can end in an error.
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
    def whole(self) -> int:
        """The denominator."""
        return self.total

    @property
    def counted(self) -> str:
        """The share as a fraction: "38/84"."""
        return f"{self.hits}/{self.total}"

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95% Wilson score interval."""
        return wilson(self.hits / self.total, self.total) if self.total else None

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
class Completed(Rate):
    """A share of examples of which only some, those attacked, can end in an error.

    To leave the errors out would leave out attacked examples alone, and bias the share towards the others. So each late
    error, one of an example that is known to have been attacked, counts as the attacked examples without an error do on
    average. That is right if errors do not depend on what the attack would have found. `hits` and `total` are without
    errors, `expected` and `whole` with the late ones.
    """

    tried: int = 0  # of `total`: examples attacked
    tried_hits: int = 0  # of `hits`
    late: int = 0  # of `errors`

    @property
    def whole(self) -> int:
        """The denominator: examples without an error and late errors."""
        return self.total + self.late

    @property
    def expected(self) -> float | None:
        """The hits, if late errors are such as often as attacked examples without an error; None if there are none."""
        if not self.late:
            return self.hits
        return self.hits + self.late * self.tried_hits / self.tried if self.tried else None

    @property
    def value(self) -> float | None:
        """The share, or None if there is nothing to tell it from."""
        return None if self.expected is None or not self.whole else self.expected / self.whole

    @property
    def counted(self) -> str:
        """The share as a fraction, after late errors with the number expected: "40.0/100"."""
        if not self.late:
            return super().counted
        return f"{'-' if self.expected is None else f'{self.expected:.1f}'}/{self.whole}"

    @property
    def interval(self) -> tuple[float, float] | None:
        """The Wilson interval of as many examples as would tell the share as well as these do.

        The variance is that of the share of examples attacked, of the hits among them, and of those among the others.
        Where all or none of the attacked are hits it would be too small, so hits are moved towards a half for it, as
        Wilson's interval does. Without late errors this is the usual interval.
        """
        if self.value is None:
            return None
        if not self.late:
            return super().interval
        n, others, z = self.whole, self.total - self.tried, _Z
        attacked = (self.tried + self.late) / n
        held = (self.tried_hits + z * z / 2) / (self.tried + z * z)
        aside = (self.hits - self.tried_hits) / others if others else 0.0
        share = attacked * held + (1 - attacked) * aside
        variance = (
            attacked * (1 - attacked) * (held - aside) ** 2 / n
            + (1 - attacked) * aside * (1 - aside) / n
            + attacked**2 * held * (1 - held) / self.tried
        )
        return wilson(self.value, share * (1 - share) / variance)

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dict; after late errors `hits` is the number expected, and `total` counts them."""
        return {**super().to_json(), "hits": self.expected, "total": self.whole}


def wilson(share: float, n: float) -> tuple[float, float]:
    """The 95% Wilson score interval of a share of n."""
    # Computed by hand: loading scipy.stats takes longer than a whole small run.
    z = _Z
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return (0.0 if share == 0 else middle - half), (1.0 if share == 1 else middle + half)


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
