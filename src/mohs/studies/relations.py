"""How a number of each item, such as a cosine, goes with what people say (Hauser 2021, 6.1.3).

Buckets are left-aligned: [x, x + 0.05), and [x, x + 0.1) for two numbers at once. A number of 1 has the bucket that
begins there. Items without the number or without a verdict are left out.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from mohs.analyses.buckets import PER_UNIT, number_of
from mohs.report.rates import Rate
from mohs.studies.ratings import Estimate, Floats
from mohs.tasks.inference import FEWEST

FEWEST_IN_CELL = 10
_PER_CELL = 2  # buckets
_Z = NormalDist().inv_cdf(0.975)

Numbers = Mapping[str, float | None]
Verdicts = Mapping[str, bool | None]


@dataclass(frozen=True)
class Bucket:
    """The valid items among those whose number lies in [left, left + 0.05), with Wilson's interval of their share."""

    left: float
    count: int
    valid: int
    share: float
    low: float
    high: float

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dict."""
        return asdict(self)


@dataclass(frozen=True)
class Cell:
    """The valid items in [left, left + 0.1) x [bottom, bottom + 0.1). With fewer than ten items there is no share."""

    left: float
    bottom: float
    count: int
    valid: int
    share: float | None
    low: float | None
    high: float | None

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dict."""
        return asdict(self)


def buckets(numbers: Numbers, verdicts: Verdicts) -> tuple[Bucket, ...]:
    """P(valid) by one number of each item; buckets without an item are left out."""
    found: defaultdict[int, list[bool]] = defaultdict(list)
    for item, verdict in _decided(verdicts):
        if (number := _known(numbers, item)) is not None:
            found[number_of(number)].append(verdict)
    return tuple(
        Bucket(round(place / PER_UNIT, 2), len(given), sum(given), *_share(given))
        for place, given in sorted(found.items())
    )


def cells(first: Numbers, second: Numbers, verdicts: Verdicts) -> tuple[Cell, ...]:
    """P(valid) by two numbers of each item; cells without an item are left out."""
    found: defaultdict[tuple[int, int], list[bool]] = defaultdict(list)
    for item, verdict in _decided(verdicts):
        x, y = _known(first, item), _known(second, item)
        if x is not None and y is not None:
            found[number_of(x) // _PER_CELL, number_of(y) // _PER_CELL].append(verdict)
    return tuple(
        Cell(
            round(x * _PER_CELL / PER_UNIT, 2),
            round(y * _PER_CELL / PER_UNIT, 2),
            len(given),
            sum(given),
            *(_share(given) if len(given) >= FEWEST_IN_CELL else (None, None, None)),
        )
        for (x, y), given in sorted(found.items())
    )


def rank_correlation(numbers: Numbers, scores: Mapping[str, float], of: str = "items") -> Estimate:
    """Spearman's rank correlation of the number with the mean score, ties with their mean rank.

    The interval is Fisher's, with the variance of Bonett and Wright (2000), (1 + r^2 / 2) / (n - 3). It is for other
    items; judges are part of the noise of a score.
    """
    pairs = [(number, score) for item, score in scores.items() if (number := _known(numbers, item)) is not None]
    n = len(pairs)
    x, y = (_ranks(np.array(side, np.float64)) for side in zip(*pairs, strict=True)) if pairs else ((), ())
    if n < 2 or not np.ptp(x) or not np.ptp(y):
        return Estimate(None, None, None, of, n, None)
    value = float(np.corrcoef(x, y)[0, 1])
    if n < FEWEST or abs(value) > 1 - 1e-12:
        return Estimate(value, None, None, of, n, None)
    half = _Z * math.sqrt((1 + value**2 / 2) / (n - 3))
    return Estimate(value, math.tanh(math.atanh(value) - half), math.tanh(math.atanh(value) + half), of, n, None)


def _decided(verdicts: Verdicts) -> Iterable[tuple[str, bool]]:
    return ((item, verdict) for item, verdict in verdicts.items() if verdict is not None)


def _known(numbers: Numbers, item: str) -> float | None:
    value = numbers.get(item)
    return None if value is None or math.isnan(value) else value


def _share(given: list[bool]) -> tuple[float, float, float]:
    rate = Rate(sum(given), len(given), "items")
    assert rate.value is not None
    assert rate.interval is not None
    return rate.value, *rate.interval


def _ranks(values: Floats) -> Floats:
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks: Floats = (counts.cumsum() - (counts - 1) / 2)[places]
    return ranks
