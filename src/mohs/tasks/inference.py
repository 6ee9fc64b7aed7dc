"""What a sample of examples says about all of them: intervals and tests that every verb's figures use.

`docs/statistics.md` lists where each is printed, and how often it holds in simulations.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

FEWEST = 6  # units; fewer have no interval
TESTED = 8  # units; fewer have no test of a mean
_STEEPER = 7  # how much of the skewness n units hide: their own is multiplied by 1 + 7 / n (docs/statistics.md)
_ALL_PATTERNS = 12  # up to so many units every sign pattern is tried; beyond, patterns are drawn
_DRAWN_PATTERNS = 10_000
_NUMBERS_IN_MEMORY = 1 << 22
_Z = NormalDist().inv_cdf(0.975)


@dataclass(frozen=True)
class Pooled:
    """Mean effects over units, weighed by their sizes, and what their spread says. Arrays: one study a row.

    Student's t with three corrections. The error is the jackknife's over units. A few large units count as few: the
    degrees of freedom are those of the effective number of units, (sum w)^2 / sum w^2. And t is bent as the skewness of
    the effects bends its distribution (Hall 1992, the cubic transformation). With equal sizes only the last differs
    from the usual t.
    """

    value: Floats
    error: Floats
    freedom: Floats
    bend: Floats
    units: int

    @classmethod
    def of(cls, effects: npt.ArrayLike, sizes: npt.ArrayLike | None = None) -> Pooled:
        """From the mean effect of each unit, along the last axis, and its size; by default all sizes are equal."""
        found = np.asarray(effects, np.float64)
        weights = np.ones_like(found) if sizes is None else np.asarray(sizes, np.float64)
        m, whole = found.shape[-1], weights.sum(-1, keepdims=True)
        share = weights / whole
        value = (share * found).sum(-1, keepdims=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            moved = share * (found - value) / (1 - share)  # how far leaving a unit out moves the mean
            moved -= moved.mean(-1, keepdims=True)
            apart = found - found.mean(-1, keepdims=True)
            spread = (apart**2).mean(-1)
            skewness = (apart**3).mean(-1) / spread**1.5 * math.sqrt(m * (m - 1)) / max(m - 2, 1)
        squares = (share**2).sum(-1)
        return cls(
            value=value[..., 0],
            error=np.sqrt((m - 1) / m * (moved**2).sum(-1)),
            freedom=np.maximum(1 / squares - 1, 1.0),
            bend=np.where(spread > 0, skewness, 0.0) * (share**3).sum(-1) / squares**1.5,
            units=m,
        )

    def interval(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """The ends of the interval."""
        from scipy.special import stdtrit  # scipy.stats would take a second to load

        reach = stdtrit(self.freedom, (1 + level) / 2)
        return self.value - self._unbent(reach) * self.error, self.value - self._unbent(-reach) * self.error

    def p(self) -> Floats:
        """The two-sided p value of a mean of 0; it is below 0.05 where the interval does not hold 0."""
        from scipy.special import stdtr

        with np.errstate(divide="ignore", invalid="ignore"):
            t = self.value / self.error
            bent = t + self.bend * t**2 / 3 + self.bend**2 * t**3 / 27 + self.bend / 6
        found = 2 * stdtr(self.freedom, -np.abs(bent))
        return np.where(self.error > 0, found, np.where(self.value == 0, 1.0, 0.0))

    def cautious_p(self) -> Floats:
        """The larger of `p` and of p with more skewness than was seen; (1 + 7 / n) times as much with n units."""
        return np.maximum(self.p(), replace(self, bend=self.bend * (1 + _STEEPER / self.units)).p())

    def _unbent(self, y: Floats) -> Floats:
        """The t that is bent to y."""
        flat = np.abs(self.bend) < 1e-9
        bend = np.where(flat, 1.0, self.bend)
        return np.where(flat, y, 3 / bend * (np.cbrt(1 + bend * (y - bend / 6)) - 1))


def interval_of(
    effects: npt.ArrayLike, sizes: npt.ArrayLike | None = None, least: float = -math.inf, most: float = math.inf
) -> tuple[float, float] | None:
    """A 95% interval of the mean; None for fewer than FEWEST units, or if they do not differ.

    least, most: the range of a mean effect.
    """
    found = np.asarray(effects, np.float64)
    if found.size < FEWEST or float(np.ptp(found)) <= 1e-12 * float(np.abs(found).max()):
        return None
    low, high = (float(end) for end in Pooled.of(found, sizes).interval())
    return (max(low, least), min(high, most)) if math.isfinite(low) and math.isfinite(high) else None


def p_of(effects: npt.ArrayLike, sizes: npt.ArrayLike, random: np.random.Generator) -> float:
    """The p value of a mean of 0, the largest of three: that of `Pooled`, of a steeper one, and of the sign-flip test.

    It is nan below TESTED units. Few units look less skewed than what they were drawn from, because the rare large
    effects are missing, so `Pooled` is also asked with more skewness than it saw. Sign flips are for heavy tails.
    """
    found, weights = np.asarray(effects, np.float64), np.asarray(sizes, np.float64)
    if found.size < TESTED:
        return math.nan
    return max(float(Pooled.of(found, weights).cautious_p()), sign_flip(found * weights, random))


def sign_flip(totals: npt.ArrayLike, random: np.random.Generator) -> float:
    """How often the sum is as far from 0 if each total has a random sign; exact if they are few.

    To studentise the sum would change nothing: the sum of squares is the same for all signs.
    """
    found = np.asarray(totals, np.float64)
    m = len(found)
    seen = abs(float(found.sum())) - 1e-12 * float(np.abs(found).sum())  # a tie stays a tie despite rounding
    if m <= _ALL_PATTERNS:
        patterns = np.arange(1 << m)[:, None] >> np.arange(m) & 1
        return float(np.mean(np.abs((1 - 2 * patterns) @ found) >= seen))
    far = sum(
        int((np.abs(found.sum() - 2 * (random.integers(2, size=(rows, m), dtype=np.int8) @ found)) >= seen).sum())
        for rows in _blocks(_DRAWN_PATTERNS, m)
    )
    return (far + 1) / (_DRAWN_PATTERNS + 1)  # the observed signs are one of the patterns


def holm(values: Sequence[float]) -> list[float]:
    """P values adjusted for multiple tests (Holm 1979): bounds the probability of any false positive.

    What was not tested (nan) is no part of the family.
    """
    adjusted = [math.nan] * len(values)
    tested = sorted((place for place, value in enumerate(values) if not math.isnan(value)), key=values.__getitem__)
    largest = 0.0
    for rank, place in enumerate(tested):
        largest = max(largest, min(1.0, (len(tested) - rank) * values[place]))
        adjusted[place] = largest
    return adjusted


def mcnemar(first: int, second: int) -> float:
    """The p value of two methods on the same examples (exact): `first` and `second` succeeded alone so often."""
    n = first + second
    return min(1.0, float(2 * sum(math.comb(n, i) for i in range(min(first, second) + 1)) / 2**n))


def paired_interval(first: float, second: float, n: float) -> tuple[float, float] | None:
    """A 95% interval of the difference of two shares of the same n examples (Tango 1998); None below FEWEST examples.

    It holds the differences that a score test does not reject. first, second: examples that count for one share alone.
    """
    if n < FEWEST:
        return None
    seen = (first - second) / n

    def z(difference: float) -> float:
        """How many standard deviations the difference seen lies above this one."""
        b = -first - second + (2 * n - first + second) * difference
        c = -second * difference * (1 - difference)
        share = (math.sqrt(max(b * b - 8 * n * c, 0.0)) - b) / (4 * n)
        variance = n * (2 * share + difference * (1 - difference))
        far = first - second - n * difference
        return far / math.sqrt(variance) if variance > 1e-12 else math.copysign(math.inf, far) if far else 0.0

    def end(outer: float, wanted: float) -> float:
        inner = seen
        for _ in range(60):
            middle = (inner + outer) / 2
            inner, outer = (middle, outer) if abs(z(middle)) < wanted else (inner, middle)
        return inner

    return end(-1.0, _Z), end(1.0, _Z)


def _blocks(rows: int, width: int) -> Iterator[int]:
    """Sizes of blocks of rows that fit into memory."""
    size = max(1, _NUMBERS_IN_MEMORY // width)
    for start in range(0, rows, size):
        yield min(size, rows - start)
