"""Shares and medians of substitutions, with intervals that take the example as the unit.

An example brings several substitutions that resemble each other. An interval that took them for independent would be
too narrow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mohs.report.rates import Rate, wilson
from mohs.tasks.inference import FEWEST, interval_of

DRAWS = 1000
_NUMBERS_IN_MEMORY = 1 << 22

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Clustered(Rate):
    """A share of words. Its interval comes from the spread between examples, or None with too few of them."""

    examples: int = 0
    low: float | None = None
    high: float | None = None

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95% interval."""
        return None if self.low is None or self.high is None else (self.low, self.high)

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dict."""
        return {**super().to_json(), "examples": self.examples}


def share_of(hits: Sequence[bool], examples: Sequence[int], of: str) -> Clustered:
    """The share of hits among words; `examples` has the number of each word's example.

    The interval is Student's over examples, weighed by their words and corrected for skewness. If the examples do not
    differ (all words are hits, or none is), it is Wilson's for as many units as there are examples.
    """
    units, of_unit = np.unique(np.asarray(examples, np.int64), return_inverse=True)
    m = len(units)
    if m < FEWEST:
        return Clustered(sum(hits), len(hits), of, examples=m)
    sizes = np.bincount(of_unit, minlength=m)
    shares = np.bincount(of_unit, np.asarray(hits, np.float64), m) / sizes
    low, high = interval_of(shares, sizes, 0.0, 1.0) or wilson(sum(hits) / len(hits), m)
    return Clustered(sum(hits), len(hits), of, examples=m, low=low, high=high)


@dataclass(frozen=True)
class Median:
    """A median over words with a 95% bootstrap interval over examples; no interval below six examples."""

    value: float | None
    low: float | None
    high: float | None
    total: int
    examples: int
    over: str

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dict."""
        return asdict(self)


def median_of(values: Sequence[float] | Numbers, examples: Sequence[int], over: str, seed: int = 0) -> Median:
    """The median of the values; `examples` has the number of each value's example.

    For the interval, examples are drawn with replacement, each with all its values (1,000 times).
    """
    found = np.asarray(values, np.float64)
    units, of_unit = np.unique(np.asarray(examples, np.int64), return_inverse=True)
    m = len(units)
    if not found.size:
        return Median(None, None, None, 0, 0, over)
    low = high = None
    if m >= FEWEST:
        low, high = (float(end) for end in np.quantile(_drawn_medians(found, of_unit, m, seed), (0.025, 0.975)))
    return Median(float(np.median(found)), low, high, found.size, m, over)


def _drawn_medians(values: Numbers, of_unit: npt.NDArray[np.int64], m: int, seed: int) -> Numbers:
    random = np.random.default_rng(seed)
    order = np.argsort(values, kind="stable")
    ordered, owner = values[order], of_unit[order]
    medians: list[Numbers] = []
    rows = max(1, _NUMBERS_IN_MEMORY // len(values))
    for start in range(0, DRAWS, rows):
        times = random.multinomial(m, np.full(m, 1 / m), size=min(rows, DRAWS - start))
        reached = times[:, owner].cumsum(1)
        total = reached[:, -1]
        lower = (reached < ((total + 1) // 2)[:, None]).sum(1)  # the place of the middle value, or of the lower one
        upper = (reached < (total // 2 + 1)[:, None]).sum(1)
        medians.append((ordered[lower] + ordered[upper]) / 2)
    return np.concatenate(medians)
