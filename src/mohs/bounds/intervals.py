"""How well a share is known from draws: PR (Yang et al. 2022, type-4 problem) with a guarantee.

PR is the share of Ω_r that keeps the label. With draws uniform on Ω_r every answer is Bernoulli(PR), and `hits` of `n`
kept it. delta is the probability that an interval does not hold PR, and always two-sided.

For a number of draws fixed beforehand: Hoeffding's inequality, as in the paper, and Clopper-Pearson, which needs fewer
draws (3188 instead of 4794 for epsilon 0.025 and delta 0.005). To look after every batch and stop when it is enough:
`Sequential`. Repeated looks at an interval made for a fixed number fail more often than delta.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from mohs.errors import BadInput

Floats = npt.NDArray[np.float64]

_HALVINGS = 60  # of an interval no longer than one: what is left is below the spacing of doubles near one


class Interval(NamedTuple):
    """Both ends belong to it."""

    low: float
    high: float

    @property
    def half_width(self) -> float:
        """How far the centre can be from any value in the interval."""
        return (self.high - self.low) / 2

    @property
    def centre(self) -> float:
        """The estimate that is within half_width of the truth whenever the interval holds it."""
        return (self.low + self.high) / 2


def hoeffding_size(epsilon: float, delta: float) -> int:
    """The smallest N > ln(2/delta) / (2 epsilon²), for which |mean - PR| < epsilon with more than 1 - delta."""
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

    Clopper and Pearson 1934. It never fails more often than delta, whatever PR; at most 2 epsilon wide it promises that
    its centre, not the mean, is within epsilon.
    """
    from scipy.special import betaincinv  # scipy.stats would take seconds to load

    _check_counts(hits, n)
    _check_share("delta", delta)
    low = float(betaincinv(hits, n - hits + 1, delta / 2)) if hits else 0.0
    high = 1 - float(betaincinv(n - hits, hits + 1, delta / 2)) if hits < n else 1.0
    return Interval(low, high)


def needed_clopper_pearson(epsilon: float, delta: float) -> int:
    """The smallest n for which Clopper-Pearson's half-width is at most epsilon whatever the hits.

    The interval is widest at n // 2 hits, and that width falls with n (the tests look at both).
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
    """The delta of one example with which the intervals of all examples hold at once with probability 1 - delta.

    That is the union bound, delta / examples: it needs no independence, and makes any statement that follows from the
    intervals together hold with 1 - delta: the mean of PR lies between the mean low and the mean high end, at least as
    many examples as have low > 0.9 have PR > 0.9. Without it (the paper) each interval by itself holds with 1 - delta,
    and delta * examples of them are expected to fail: with 0.005 and 1000 examples as many as five.
    """
    _check_share("delta", delta)
    if examples < 1:
        raise BadInput(f"{examples} examples cannot share delta; give one or more")
    return delta / examples


def anytime(hits: npt.ArrayLike, n: npt.ArrayLike, delta: float) -> tuple[Floats, Floats]:
    """Low and high ends that hold PR at every n at once with probability 1 - delta, for arrays of hits and n.

    The beta-binomial mixture (Robbins 1970; as prior over posterior, Waudby-Smith and Ramdas 2020). For a share p let
    M_n(p) be the likelihood of the draws so far averaged over q ~ Beta(1/2, 1/2), divided by their likelihood at p. If
    p is the truth, each q's likelihood ratio is a martingale that starts at 1, so their average M_n(p) is one too, not
    negative, and by Ville's inequality it ever reaches 1/delta with probability at most delta. The interval holds the p
    with M_n(p) < 1/delta; log M_n is convex in p with its least value at hits / n, so these p are indeed an interval.

    The weights fall on the ends, where PR mostly lies: nothing is assumed about PR, only the width depends on them.
    """
    _check_share("delta", delta)
    hits, n = np.broadcast_arrays(np.asarray(hits, np.float64), np.asarray(n, np.float64))
    return _anytime_low(hits, n - hits, delta), 1 - _anytime_low(n - hits, hits, delta)


def _anytime_low(hits: Floats, misses: Floats, delta: float) -> Floats:
    """The low end; by symmetry of the weights one less the high end with hits and misses exchanged."""
    from scipy.special import betaln, xlog1py, xlogy

    mixture = betaln(hits + 0.5, misses + 0.5) - betaln(0.5, 0.5) + math.log(delta)
    outside, inside = np.zeros_like(hits), hits / np.maximum(hits + misses, 1)  # M at the mean is at most 1
    for _ in range(_HALVINGS):
        middle = (outside + inside) / 2
        rejected = mixture >= xlogy(hits, middle) + xlog1py(misses, -middle)
        outside, inside = np.where(rejected, middle, outside), np.where(rejected, inside, middle)
    return outside  # rounded away from the mean; zero where there are no hits


class Sequential:
    """An interval for PR that may be looked at after every batch, at any time, for any reason.

    Add what was seen and stop as soon as `interval.half_width` is small enough: with probability 1 - delta `interval`
    holds PR at all looks together (see `anytime`), hence their intersection does, and hence the one at which one
    stopped. Where the intersection is empty, which happens with probability at most delta, the last one stays.

    Take the interval's centre for the estimate: the mean of draws that were stopped by looking at them leans towards
    what stops them.

    last: a number of draws, fixed beforehand, at which Clopper-Pearson is consulted too. Each of the two then gets half
    of delta, and the union bound covers both. With it (`Sequential.within`) draws end there at the latest.

    For epsilon 0.025 and delta 0.005, where Hoeffding asks for 4794, mean draws with looks after every ten:

        PR                   1     0.99   0.95   0.9    0.8    0.5
        Sequential(delta)    170   312    1239   2413   4435   7058
        Sequential.within    180   340    1350   2637   3685   3691
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
        """One whose half-width is at most epsilon at `last` draws at the latest."""
        return cls(delta, needed_clopper_pearson(epsilon, delta / 2))

    @property
    def interval(self) -> Interval:
        """Where PR lies."""
        return self._interval

    @property
    def before_last(self) -> int | None:
        """How many draws until the look that was fixed beforehand; None without one, or after it."""
        return None if self.last is None or self.n >= self.last else self.last - self.n

    def add(self, hits: int, n: int) -> None:
        """So many of n more draws kept the label."""
        _check_counts(hits, n)
        room = self.before_last
        if room is not None and n > room:
            raise BadInput(f"{n} draws pass the look fixed at {self.last}; add {room} of them first")
        self.hits += hits
        self.n += n
        low, high = anytime(self.hits, self.n, self.delta if self.last is None else self.delta / 2)
        self._meet(Interval(float(low), float(high)))
        if self.n == self.last:
            self._meet(clopper_pearson(self.hits, self.n, self.delta / 2))

    def _meet(self, other: Interval) -> None:
        low, high = max(self._interval.low, other.low), min(self._interval.high, other.high)
        if low <= high:
            self._interval = Interval(low, high)


def _check_share(name: str, value: float) -> None:
    if not 0 < value < 1:
        raise BadInput(f"{name} is {value}, but must lie between 0 and 1")


def _check_counts(hits: int, n: int) -> None:
    if not 0 <= hits <= n:
        raise BadInput(f"{hits} hits of {n} draws is impossible; hits go from 0 to the number of draws")
