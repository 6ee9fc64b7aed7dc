"""Confidence intervals for PR, the share of Ω_r that keeps the label (Yang et al. 2022, type-4 problem).

With draws uniform on Ω_r every answer is Bernoulli(PR), and `hits` of `n` kept the label. delta is the probability that
an interval misses PR. All intervals are two-sided.

If the number of draws is fixed beforehand, use Hoeffding's inequality, as in the paper, or Clopper-Pearson, which needs
fewer draws (3188 instead of 4794 for epsilon 0.025 and delta 0.005). To look after every batch and stop early, use
`Sequential`: repeated looks at an interval for a fixed number of draws miss PR more often than delta.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from mohs.errors import BadInput

Floats = npt.NDArray[np.float64]

_HALVINGS = 60  # of an interval of length at most 1: the rest is below the spacing of doubles near 1
_LOG_PI = math.log(math.pi)  # of the beta function at (1/2, 1/2)


class Interval(NamedTuple):
    """A closed interval."""

    low: float
    high: float

    @property
    def half_width(self) -> float:
        """The largest distance of the centre to a value in the interval."""
        return (self.high - self.low) / 2

    @property
    def centre(self) -> float:
        """The estimate: within half_width of the truth whenever the interval contains it."""
        return (self.low + self.high) / 2

    def above(self, level: float) -> bool | None:
        """Whether every value in the interval is above a level (True) or none is (False); None if some are."""
        return True if self.low > level else False if self.high <= level else None


def hoeffding_size(epsilon: float, delta: float) -> int:
    """The smallest N > ln(2/delta) / (2 epsilon²): |mean - PR| < epsilon with probability above 1 - delta."""
    _check_share("epsilon", epsilon)
    _check_share("delta", delta)
    return math.floor(math.log(2 / delta) / (2 * epsilon**2)) + 1


def hoeffding_interval(hits: int, n: int, delta: float) -> Interval:
    """Mean ± sqrt(ln(2/delta) / 2n), cut to [0, 1]; for an n fixed beforehand."""
    _check_counts(hits, n)
    _check_share("delta", delta)
    if not n:
        return Interval(0.0, 1.0)
    reach = math.sqrt(math.log(2 / delta) / (2 * n))
    return Interval(max(0.0, hits / n - reach), min(1.0, hits / n + reach))


def clopper_pearson(hits: int, n: int, delta: float) -> Interval:
    """The shares that neither one-sided binomial test at delta / 2 rejects; for an n fixed beforehand.

    Clopper and Pearson 1934. It misses PR with probability at most delta, for every PR. If it is at most 2 epsilon
    wide, its centre (not the mean) is within epsilon of PR.
    """
    from scipy.special import betaincinv  # scipy.stats would take seconds to load

    _check_counts(hits, n)
    _check_share("delta", delta)
    low = float(betaincinv(hits, n - hits + 1, delta / 2)) if hits else 0.0
    high = 1 - float(betaincinv(n - hits, hits + 1, delta / 2)) if hits < n else 1.0
    return Interval(low, high)


def needed_clopper_pearson(epsilon: float, delta: float) -> int:
    """The smallest n for which Clopper-Pearson's half-width is at most epsilon for every number of hits.

    The interval is widest at n // 2 hits, and that width falls with n (the tests check both).
    """
    _check_share("epsilon", epsilon)
    _check_share("delta", delta)
    few, enough = 0, 1
    while clopper_pearson(enough // 2, enough, delta).half_width > epsilon:
        few, enough = enough, 2 * enough
    while enough - few > 1:
        middle = (few + enough) // 2
        if clopper_pearson(middle // 2, middle, delta).half_width > epsilon:
            few = middle
        else:
            enough = middle
    return enough


def each(delta: float, examples: int) -> float:
    """The delta for one example such that the intervals of all examples hold at once with probability 1 - delta.

    This is the union bound, delta / examples. It needs no independence. Every statement that follows from all intervals
    together then holds with probability 1 - delta too. For example: the mean PR lies between the mean low end and the
    mean high end; and at least as many examples have PR > 0.9 as have low > 0.9.

    Without it (as in the paper) each single interval holds with probability 1 - delta, and up to delta * examples of
    them are expected to miss: five for delta 0.005 and 1000 examples.
    """
    _check_share("delta", delta)
    if examples < 1:
        raise BadInput(f"{examples} examples cannot share delta; give at least one")
    return delta / examples


def anytime(hits: npt.ArrayLike, n: npt.ArrayLike, delta: float) -> tuple[Floats, Floats]:
    """Low and high ends that contain PR at every n at once with probability 1 - delta, for arrays of hits and n.

    The beta-binomial mixture (Robbins 1970; as prior over posterior, Waudby-Smith and Ramdas 2020). For a share p let
    M_n(p) be the likelihood of the draws so far, averaged over q ~ Beta(1/2, 1/2) and divided by their likelihood at p.
    If p is the truth, each q's likelihood ratio is a martingale that starts at 1. So is their average M_n(p), which is
    not negative. By Ville's inequality it ever reaches 1/delta with probability at most delta. The interval consists of
    the p with M_n(p) < 1/delta. log M_n is convex in p with its minimum at hits / n, so these p do form an interval.

    The prior puts most weight near 0 and 1, where PR mostly lies. It affects the width only: nothing is assumed about
    PR.
    """
    _check_share("delta", delta)
    hits, n = np.broadcast_arrays(np.asarray(hits, np.float64), np.asarray(n, np.float64))
    return _anytime_low(hits, n - hits, delta), 1 - _anytime_low(n - hits, hits, delta)


def _anytime_low(hits: Floats, misses: Floats, delta: float) -> Floats:
    """The low end. The prior is symmetric, so the high end is 1 minus this with hits and misses exchanged."""
    from scipy.special import betaln, xlog1py, xlogy

    mixture = betaln(hits + 0.5, misses + 0.5) - betaln(0.5, 0.5) + math.log(delta)
    outside, inside = np.zeros_like(hits), hits / np.maximum(hits + misses, 1)  # M at the mean is at most 1
    for _ in range(_HALVINGS):
        middle = (outside + inside) / 2
        rejected = mixture >= xlogy(hits, middle) + xlog1py(misses, -middle)
        outside, inside = np.where(rejected, middle, outside), np.where(rejected, inside, middle)
    return outside  # rounded away from the mean; 0 without hits


def _low_end(hits: int, misses: int, delta: float) -> float:
    """The same for one interval. Plain numbers are ten times as fast here, and a sequence looks every few draws."""
    if not hits:
        return 0.0
    mixture = math.lgamma(hits + 0.5) + math.lgamma(misses + 0.5) - math.lgamma(hits + misses + 1) - _LOG_PI
    mixture += math.log(delta)
    outside, inside = 0.0, hits / (hits + misses)
    for _ in range(_HALVINGS):
        middle = (outside + inside) / 2
        if middle in (0.0, outside, inside):
            break
        if mixture >= hits * math.log(middle) + misses * math.log1p(-middle):
            outside = middle
        else:
            inside = middle
    return outside


class Sequential:
    """An interval for PR that may be looked at after every batch, at any time, for any reason.

    Add the results and stop as soon as `interval.half_width` is small enough. With probability 1 - delta the intervals
    at all looks contain PR (see `anytime`). So does their intersection, and so does the interval at the stop. If the
    intersection is empty, which happens with probability at most delta, the previous interval is kept.

    Use the interval's centre as the estimate: the mean is biased when the draws themselves decide when to stop.

    last: a number of draws, fixed beforehand, at which Clopper-Pearson is used too. Each of the two then gets half of
    delta, and the union bound covers both. With it (`Sequential.within`) drawing ends there at the latest.

    Mean number of draws for epsilon 0.025 and delta 0.005 with a look after every ten (Hoeffding needs 4794):

        PR                   1     0.99   0.95   0.9    0.8    0.5
        Sequential(delta)    170   312    1239   2413   4435   7058
        Sequential.within    180   344    1362   2635   3684   3692
        to decide about 0.9   90   121     546   2635    199     20
    """

    def __init__(self, delta: float, last: int | None = None) -> None:
        _check_share("delta", delta)
        self.delta = delta
        self.last = last
        self.hits = 0
        self.n = 0
        self._interval = Interval(0.0, 1.0)

    @classmethod
    def within(cls, epsilon: float, delta: float) -> Sequential:
        """A sequence whose half-width is at most epsilon after `last` draws at the latest."""
        return cls(delta, needed_clopper_pearson(epsilon, delta / 2))

    @property
    def interval(self) -> Interval:
        """The interval for PR so far."""
        return self._interval

    def decided(self, level: float) -> bool | None:
        """Whether PR is above a level; None while the interval has shares on both sides of it."""
        return self._interval.above(level)

    @property
    def before_last(self) -> int | None:
        """Draws left until `last`; None without `last`, or after it."""
        return None if self.last is None or self.n >= self.last else self.last - self.n

    def add(self, hits: int, n: int) -> None:
        """Add n more draws, `hits` of which kept the label."""
        _check_counts(hits, n)
        room = self.before_last
        if room is not None and n > room:
            raise BadInput(f"{n} draws go past the fixed look at {self.last}; add {room} of them first")
        self.hits += hits
        self.n += n
        delta, misses = self.delta if self.last is None else self.delta / 2, self.n - self.hits
        self._meet(Interval(_low_end(self.hits, misses, delta), 1 - _low_end(misses, self.hits, delta)))
        if self.n == self.last:
            self._meet(clopper_pearson(self.hits, self.n, self.delta / 2))

    def _meet(self, other: Interval) -> None:
        low, high = max(self._interval.low, other.low), min(self._interval.high, other.high)
        if low <= high:
            self._interval = Interval(low, high)


def _check_share(name: str, value: float) -> None:
    if not 0 < value < 1:
        raise BadInput(f"{name} is {value}; it must lie between 0 and 1")


def _check_counts(hits: int, n: int) -> None:
    if not 0 <= hits <= n:
        raise BadInput(f"{hits} hits in {n} draws are impossible; hits must lie between 0 and the number of draws")
