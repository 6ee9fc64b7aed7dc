"""The ROC curve of a detector and the area under it, with an interval that takes the example as the unit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt

from mohs.report.rates import wilson
from mohs.tasks.inference import FEWEST

Numbers = npt.NDArray[np.float64]

_Z = NormalDist().inv_cdf(0.975)


@dataclass(frozen=True)
class Area:
    """The chance that an adversarial text is more suspicious than an original; ties count one half."""

    value: float | None  # None without texts of both kinds
    low: float | None
    high: float | None
    adversarial: int
    originals: int

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dict."""
        return asdict(self)


def area_of(
    adversarial: Sequence[float] | Numbers,
    originals: Sequence[float] | Numbers,
    examples_of_adversarial: Sequence[str],
    examples_of_originals: Sequence[str],
) -> Area:
    """The area under the curve (Mann and Whitney 1947) with a 95% interval over examples (Obuchowski 1997).

    An original and the adversarial text made of it are alike, so the variance of DeLong et al. 1988 is taken over
    examples, each with all its texts. The interval is symmetric on the logit scale. If the area is 0 or 1, or the texts
    show no spread, it is Wilson's interval for as many trials as there are texts of the rarer kind. Below six texts of
    a kind there is none.
    """
    high, low = np.asarray(adversarial, np.float64), np.asarray(originals, np.float64)
    m, n = len(high), len(low)
    if not m or not n:
        return Area(None, None, None, m, n)
    of_high, of_low = _shares_below(high, low), 1 - _shares_below(low, high)
    value = float(of_high.mean())
    if min(m, n) < FEWEST:
        return Area(value, None, None, m, n)
    units, number = np.unique([*examples_of_adversarial, *examples_of_originals], return_inverse=True)
    k = len(units)
    spread = np.bincount(number[:m], of_high - value, k) / m + np.bincount(number[m:], of_low - value, k) / n
    error = math.sqrt(float((spread**2).sum()) * k / (k - 1))
    if not 0 < value < 1 or error == 0:
        return Area(value, *wilson(value, min(m, n)), m, n)
    middle, half = math.log(value / (1 - value)), _Z * error / (value * (1 - value))
    return Area(value, _sigmoid(middle - half), _sigmoid(middle + half), m, n)


def _shares_below(values: Numbers, others: Numbers) -> Numbers:
    """For each value the share of the others below it; equal ones count one half."""
    ordered = np.sort(others)
    found = np.searchsorted(ordered, values, "left") + np.searchsorted(ordered, values, "right")
    return np.asarray(found / (2 * len(others)), np.float64)


def _sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))


@dataclass(frozen=True)
class Curve:
    """The points of a ROC curve: the shares of originals and of adversarial texts above each threshold."""

    alarms: tuple[float, ...]  # from 0 to 1
    found: tuple[float, ...]

    def at(self, rate: float) -> tuple[float, float]:
        """The largest share found with at most this share of false alarms, and that share of alarms."""
        alarms, found = (np.array(side) for side in (self.alarms, self.found))
        place = int(np.flatnonzero(alarms <= rate)[-1])
        return float(found[place]), float(alarms[np.flatnonzero(found == found[place])[0]])


def curve_of(adversarial: Sequence[float] | Numbers, originals: Sequence[float] | Numbers) -> Curve:
    """The curve, one point for each threshold that tells texts apart, highest threshold first."""
    high, low = np.sort(np.asarray(adversarial, np.float64)), np.sort(np.asarray(originals, np.float64))
    thresholds = np.unique(np.concatenate([high, low]))[::-1]
    found = 1 - np.searchsorted(high, thresholds, "left") / len(high)
    alarms = 1 - np.searchsorted(low, thresholds, "left") / len(low)
    return Curve((0.0, *alarms.tolist()), (0.0, *found.tolist()))


def f1_of(found: float, alarms: float) -> float:
    """F1 of a detector on equally many adversarial and ordinary texts, from the shares of each that it rejects."""
    return 2 * found / (1 + found + alarms)
