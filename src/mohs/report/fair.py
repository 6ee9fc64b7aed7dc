"""Fair success: how many successes people would accept, with an interval that includes the judge's own error."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mohs.text.calibration import Calibration

_DRAWS = 400  # of what is not known about the judge
_RATES = 10  # of the rate, for each of them
_PRIOR = 2  # so many successes' worth of yes and no in the variance


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

    @property
    def value(self) -> float | None:
        """The share, or None if nothing was attacked or no success could be judged."""
        return None if not self.total or (self.unjudged and not self.judged) else self.expected / self.total

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95% interval."""
        return None if self.low is None or self.high is None else (self.low, self.high)


def fair_of(texts: Iterable[Words | None], total: int, of: str, calibration: Calibration) -> Fair:
    """The fair success of an attack on `total` examples. texts: its successes; None if nothing can be judged."""
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
        return Fair(*counts, None, None, of)
    random = np.random.default_rng(0)
    drawn = calibration.redrawn([*judged, *partly], _DRAWS, random)
    low = np.percentile(_rates(drawn[:, : len(judged)], 0, total, random), 2.5)
    high = np.percentile(_rates(drawn, free, total, random), 97.5)
    return Fair(*counts, float(low) if judged else 0.0, 1.0 if free == total else float(high), of)


def _rates(
    drawn: npt.NDArray[np.float64], sure: int, total: int, random: np.random.Generator
) -> npt.NDArray[np.float64]:
    """Draws of the rate among all examples that might have been attacked.

    The share of an example is its success's probability, 1 for each of the `sure`, and else 0. Shares vary less than
    yes and no, so the examples count for more: as many as would give yes and no the same variance. That variance is
    poorly known from few successes, so it is drawn towards that of yes and no. The rate then has the beta distribution
    of that many examples with Jeffreys' prior.
    """
    count = drawn.shape[1] + sure
    hits = drawn.sum(axis=1) + sure
    squares = ((np.square(drawn).sum(axis=1) + sure) * count + _PRIOR * hits) / (count + _PRIOR)
    mean = hits / total
    variance = squares / total - mean**2
    plain = mean * (1 - mean)
    size = total * np.divide(plain, variance, out=np.ones_like(plain), where=variance > 1e-12)
    found: npt.NDArray[np.float64] = random.beta(
        (mean * size + 0.5)[:, None], ((1 - mean) * size + 0.5)[:, None], (len(mean), _RATES)
    )
    return found
