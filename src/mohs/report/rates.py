"""Shares and means, each with a named denominator and a 95% interval."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

_RESAMPLES = 2000
_Z = NormalDist().inv_cdf(0.975)
_DRAWN = 1 << 16  # numbers per chunk: few enough to fit the processor's cache


@dataclass(frozen=True)
class Rate:
    """A share: `hits` out of `total`, with its Wilson interval. `of` names the denominator."""

    hits: int
    total: int
    of: str

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


@dataclass(frozen=True)
class Mean:
    """A mean with its 95% percentile-bootstrap interval. `over` names what is averaged over."""

    value: float | None
    low: float | None
    high: float | None
    total: int
    over: str


def mean_of(values: Sequence[float], over: str) -> Mean:
    """The mean of the values. Its interval comes from resampling with a fixed seed."""
    if not values:
        return Mean(None, None, None, 0, over)
    numbers = np.asarray(values, dtype=np.float64)
    low, high = float(numbers[0]), float(numbers[0])
    if len(set(values)) > 1:
        low, high = np.percentile(np.concatenate(list(_resampled(numbers))), [2.5, 97.5]).tolist()
    return Mean(float(numbers.mean()), low, high, len(values), over)


def _resampled(numbers: npt.NDArray[np.float64]) -> Iterator[npt.NDArray[np.float64]]:
    """Means of bootstrap samples as large as the data, in chunks to save memory."""
    generator = np.random.default_rng(0)
    step = max(1, _DRAWN // len(numbers))
    for done in range(0, _RESAMPLES, step):
        yield generator.choice(numbers, (min(step, _RESAMPLES - done), len(numbers))).mean(axis=1)
