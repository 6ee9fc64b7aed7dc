"""Fair success: how many successes people would accept, with an interval that includes the judge's own error."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mohs.report.rates import Rate
from mohs.text.calibration import Calibration

_DRAWS = 1000


Words = Sequence[float]  # the probabilities of the changed words of a text; nan where the judge has no opinion


@dataclass(frozen=True)
class Fair:
    """The expected share of examples with a success that people would accept.

    The judge cannot judge some successes: an unknown spelling, a word added or removed. They are not counted in
    `expected` nor in the lower end of the interval. The upper end counts each as far as its other words allow, since a
    text is accepted at most as often as its worst word.
    """

    expected: float  # number of judged successes that people would accept
    judged: int
    unjudged: int
    total: int
    low: float | None
    high: float | None
    of: str
    judge: str = ""  # the name of the judge
    errors: int = 0  # attempts that ended in an error; not in `total`

    @property
    def value(self) -> float | None:
        """The share, or None if nothing was attacked or no success could be judged."""
        return None if not self.total or (self.unjudged and not self.judged) else self.expected / self.total

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95% interval."""
        return None if self.low is None or self.high is None else (self.low, self.high)

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The share if no error had been a fair success, and if all had been; of `total` and all errors."""
        n = self.total + self.errors
        return (self.expected / n, (self.expected + self.errors) / n) if n else None

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dict with the value, its interval and its bounds."""
        return {**asdict(self), "value": self.value, "interval": self.interval, "bounds": self.bounds}


def fair_of(
    texts: Iterable[Words | None], total: int, of: str, calibration: Calibration, judge: str = "", errors: int = 0
) -> Fair:
    """The fair success of an attack on `total` examples. texts: its successes; None if nothing can be judged.

    errors: attempts that ended in an error, which are not in `total`.
    """
    judged, partly, free = [], [], 0
    for words in texts:
        known = [value for value in words or () if not math.isnan(value)]
        if not known:
            free += 1
        elif words is not None and len(known) == len(words):
            judged.append(known)
        else:
            partly.append(known)
    counts = (math.fsum(map(calibration.whole, judged)), len(judged), len(partly) + free, total)
    if not total:
        return Fair(*counts, None, None, of, judge, errors)
    random = np.random.default_rng(0)
    rows = calibration.redrawn_by_rows([*judged, *partly], _DRAWS, random)
    low, high = _ends(rows, len(judged), len(partly), free, total, random)
    most = Rate(len(judged) + len(partly) + free, total, of).interval  # people cannot accept more than succeeded
    high = 1.0 if free == total else min(high, most[1]) if most else high
    return Fair(*counts, low if judged else 0.0, high, of, judge, errors)


def _ends(
    rows: Iterable[npt.NDArray[np.float64]],
    judged: int,
    partly: int,
    free: int,
    total: int,
    random: np.random.Generator,
) -> tuple[float, float]:
    """The ends of the interval for the rate among all examples that might have been attacked.

    The share of an example is its success's probability, 1 for each of the `free`, and else 0. The mean of shares is
    drawn by the Bayesian bootstrap: each example gets a random weight. Half an example with 0 and, for the upper end,
    half an example with 1 are added, for what the sample happens not to hold; with shares of 0 and 1 alone the upper
    end is that of Jeffreys' interval.
    """
    parts = []
    for drawn in rows:  # a weight for each draw and success is too much memory for a large run
        weights = random.standard_exponential(drawn.shape)
        sure, some = weights[:, :judged], drawn[:, :judged]
        parts.append(((weights * drawn).sum(axis=1), (sure * some).sum(axis=1), weights.sum(axis=1)))
    whole, certain, summed = (np.concatenate(part) for part in zip(*parts, strict=True))
    nothing = random.standard_gamma(total - judged - partly - free + 0.5, _DRAWS)
    more = random.standard_gamma(free + 0.5, _DRAWS)
    upper = (whole + more) / (summed + nothing + more)
    lower = certain / (summed + nothing + random.standard_gamma(max(free, 1e-9), _DRAWS))
    return float(np.percentile(lower, 2.5)), float(np.percentile(upper, 97.5))
