"""Fair success: how many successes people would accept, with an interval that includes the judge's own error."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mohs.text.calibration import Calibration

_DRAWS = 400  # of what is not known about the judge
_RATES = 10  # of the rate, for each of them
_PRIOR = 2  # so many successes' worth of yes and no in the variance


@dataclass(frozen=True)
class Fair:
    """The expected share of examples with a success that people would accept.

    A success that the judge cannot judge (an unknown spelling, a word added or removed) is not counted in `expected`;
    the interval's upper end counts all of them, its lower end none. So does a `value` without any judged success, which
    is None.
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


def fair_of(texts: Sequence[Sequence[float]], unjudged: int, total: int, of: str, calibration: Calibration) -> Fair:
    """The fair success of an attack on `total` examples.

    texts: for each judged success the probabilities of its changed words.
    """
    expected = math.fsum(calibration.whole(words) for words in texts)
    if not total:
        return Fair(expected, len(texts), unjudged, total, None, None, of)
    random = np.random.default_rng(0)
    drawn = calibration.redrawn(texts, _DRAWS, random)
    low = np.percentile(_rates(drawn, 0, total, random), 2.5)
    high = np.percentile(_rates(drawn, unjudged, total, random), 97.5)
    nothing, everything = not texts, unjudged == total
    return Fair(
        expected, len(texts), unjudged, total, 0.0 if nothing else float(low), 1.0 if everything else float(high), of
    )


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
