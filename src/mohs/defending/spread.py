"""A share of the same examples for each of several keys of a defence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any

from mohs.report.rates import Rate, wilson


@dataclass(frozen=True)
class Spread:
    """The mean over keys, the standard deviation over keys, and an interval over examples.

    The keys tell how much a figure depends on a draw, the examples how much it depends on them. The interval is
    Wilson's for the mean share and the examples of one key, since all keys see the same examples.
    """

    rates: tuple[Rate, ...]  # one a key

    @property
    def of(self) -> str:
        """The denominator."""
        return self.rates[0].of

    @property
    def errors(self) -> int:
        """Errors with any key."""
        return sum(rate.errors for rate in self.rates)

    @property
    def value(self) -> float | None:
        """The mean over keys; None if no key has an example."""
        found = self._values
        return fmean(found) if found else None

    @property
    def deviation(self) -> float | None:
        """The standard deviation over keys (that of a sample); None for fewer than two."""
        return stdev(self._values) if len(self._values) > 1 else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """A 95% interval over examples."""
        if len(self.rates) == 1:
            return self.rates[0].interval
        totals = [rate.whole for rate in self.rates if rate.value is not None]
        return wilson(self.value, fmean(totals)) if self.value is not None else None

    @property
    def _values(self) -> list[float]:
        return [rate.value for rate in self.rates if rate.value is not None]

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dict with the share of each key."""
        return {
            "mean": self.value,
            "standard_deviation_over_keys": self.deviation,
            "interval_over_examples": self.interval,
            "of": self.of,
            "keys": [rate.to_json() for rate in self.rates],
        }


def spread(rates: Sequence[Rate]) -> Spread | None:
    """The shares of the keys; None without any."""
    return Spread(tuple(rates)) if rates else None
