"""Buckets of similarities: 0.05 wide and left-aligned, [x, x + 0.05), as in Hauser 2021."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

PER_UNIT = 20
_DECIMALS = 6  # of the bucket's number: 0.15 is no binary number, and must not fall below its own edge


@dataclass(frozen=True)
class Buckets:
    """How many values lie in each bucket. A value of 1 has the bucket that begins there."""

    counts: tuple[tuple[float, int], ...]  # left edges from the lowest bucket with a value to the highest
    total: int
    unknown: int  # without a value

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dict."""
        rows = [
            {"from": edge, "below": round(edge + 1 / PER_UNIT, 2), "count": count, "share": count / self.total}
            for edge, count in self.counts
        ]
        return {"buckets": rows, "total": self.total, "unknown": self.unknown}


def number_of(value: float) -> int:
    """The number of a value's bucket: 0 for [0, 0.05), 20 for exactly 1, negative below 0."""
    return math.floor(round(value * PER_UNIT, _DECIMALS))


def buckets_of(values: Iterable[float | None]) -> Buckets:
    """Count the values; None and nan are unknown."""
    given = list(values)
    known = [value for value in given if value is not None and not math.isnan(value)]
    found = Counter(map(number_of, known))
    numbers = range(min(found), max(found) + 1) if found else range(0)
    counts = tuple((round(number / PER_UNIT, 2), found[number]) for number in numbers)
    return Buckets(counts, len(known), len(given) - len(known))
