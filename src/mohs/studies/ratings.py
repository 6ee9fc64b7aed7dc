"""Who gave which item which score, and how far a figure of scores is off when other items and other judges are asked.

Judgements of one item resemble each other, and so do those of one judge. An interval that takes judgements for
independent is too narrow. Here the variance of a figure has two parts: that between items, and what judges add who see
several items. A judge is compared with the others on the same item only, so that items do not pass for judges.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from dataclasses import asdict, dataclass
from functools import cached_property
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt

from mohs.errors import BadInput
from mohs.tasks.inference import FEWEST

_ROUNDING = 1e-9
_Z = NormalDist().inv_cdf(0.975)

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Ratings:
    """Judgements as three columns of equal length. A judge scores an item at most once.

    named: whether `judges` says which judgements come from one person. If not, judges add nothing to any interval.
    """

    items: tuple[str, ...]
    judges: tuple[str, ...]
    values: tuple[float, ...]
    named: bool = True

    def __post_init__(self) -> None:
        assert len(self.items) == len(self.judges) == len(self.values), "columns differ in length"
        if any(map(math.isnan, self.values)):
            item = next(item for item, value in zip(self.items, self.values, strict=True) if math.isnan(value))
            raise BadInput(f"a score of item {item!r} is not a number; leave out judgements without a score")
        if self.named and len(pairs := set(zip(self.items, self.judges, strict=True))) < len(self.items):
            left = list(zip(self.items, self.judges, strict=True))
            for pair in pairs:
                left.remove(pair)
            raise BadInput(f"judge {left[0][1]!r} scored item {left[0][0]!r} more than once; keep one of the scores")

    @classmethod
    def of(cls, rows: Iterable[tuple[str, str, float]], named: bool = True) -> Ratings:
        """From rows of item, judge and score."""
        items, judges, values = zip(*given, strict=True) if (given := list(rows)) else ((), (), ())
        return cls(items, judges, tuple(map(float, values)), named)

    @cached_property
    def by_item(self) -> dict[str, list[float]]:
        """The scores of each item, in order of first appearance."""
        return _grouped(self.items, self.values)

    @cached_property
    def by_judge(self) -> dict[str, list[float]]:
        """The scores each judge gave, in order of first appearance."""
        return _grouped(self.judges, self.values)

    @property
    def n_items(self) -> int:
        """How many items were judged."""
        return len(self.by_item)

    @property
    def n_judges(self) -> int | None:
        """How many people judged; None if that is not known."""
        return len(set(self.judges)) if self.named else None

    def without(self, judges: Collection[str]) -> Ratings:
        """The judgements of all other judges."""
        rows = zip(self.items, self.judges, self.values, strict=True)
        return Ratings.of((row for row in rows if row[1] not in judges), self.named)

    def keep(self, items: Collection[str]) -> Ratings:
        """The judgements of these items."""
        rows = zip(self.items, self.judges, self.values, strict=True)
        return Ratings.of((row for row in rows if row[0] in items), self.named)


@dataclass(frozen=True)
class Estimate:
    """A figure with its 95% interval. `of` says what it is a share or a mean of."""

    value: float | None  # None if there is nothing to tell it from
    low: float | None
    high: float | None
    of: str
    items: int
    judges: int | None  # None if it is not known which judgements come from one person

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95% interval; None if there is none."""
        return None if self.low is None or self.high is None else (self.low, self.high)

    @property
    def judges_unknown(self) -> bool:
        """Whether the interval allows for other items alone, because judges could not be compared."""
        return self.judges is None or self.judges < 2

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dict."""
        return {**asdict(self), "judges_unknown": self.judges_unknown}


@dataclass(frozen=True)
class Spread:
    """The variance of a figure, and its degrees of freedom (Satterthwaite 1946)."""

    variance: float
    freedom: float

    @classmethod
    def added(cls, *parts: tuple[float, float, float]) -> Spread:
        """The sum of independent parts: the variance, how uncertain a one it is known as, and its freedom."""
        whole = sum(variance for variance, _, _ in parts)
        doubt = sum(known**2 / freedom for _, known, freedom in parts)
        return cls(whole, max(1.0, whole**2 / doubt) if doubt else math.inf)


@dataclass(frozen=True)
class Crossed:
    """Which item and which judge each judgement belongs to, as numbers from 0.

    panels: judgements of one panel answer the same question of the same text; by default that is the item.
    """

    items: Ints
    judges: Ints | None  # None if judges are not named
    panels: Ints

    @classmethod
    def of(cls, items: Iterable[str], judges: Iterable[str] | None, panels: Iterable[Any] | None = None) -> Crossed:
        """From names, one a judgement."""
        codes = numbered(items)
        return cls(codes, None if judges is None else numbered(judges), codes if panels is None else numbered(panels))

    @classmethod
    def of_ratings(cls, ratings: Ratings) -> Crossed:
        """Of ratings, with an item as a panel."""
        return cls.of(ratings.items, ratings.judges if ratings.named else None)

    def counts(self, weights: Floats) -> tuple[int, int | None]:
        """How many items and judges have a weight."""
        counted = weights > 0
        judges = None if self.judges is None else len(np.unique(self.judges[counted]))
        return len(np.unique(self.items[counted])), judges

    def equal_items(self) -> Floats:
        """Weights that give each item 1, shared by its judgements."""
        return 1 / np.bincount(self.items)[self.items] if len(self.items) else np.zeros(0)

    def ratio(self, top: Floats, bottom: Floats) -> tuple[float, Spread]:
        """The sum of `top` over that of `bottom`, each a number a judgement, and its spread."""
        whole = float(bottom.sum())
        value = float(top.sum()) / whole
        sizes = np.bincount(self.panels)
        shares = (np.bincount(self.panels, bottom) / sizes)[self.panels] / whole
        return value, self.spread((top - value * bottom) / whole, shares)

    def spread(self, effects: Floats, weights: Floats) -> Spread:
        """The spread of a figure that the judgements move by `effects`, which sum to 0.

        weights: how much a judgement counts in the figure.
        """
        n = int(self.items.max()) + 1
        between = float((np.bincount(self.items, effects) ** 2).sum()) * n / max(n - 1, 1)
        sizes = np.bincount(self.panels)
        others = sizes[self.panels] - 1
        sums = np.bincount(self.panels, effects)[self.panels] - effects
        apart = effects - np.where(others > 0, sums / np.maximum(others, 1), 0.0)
        return Spread.added((between, between, max(n - 1, 1)), self.judge_part(apart, weights))

    def judge_part(self, apart: Floats, weights: Floats) -> tuple[float, float, float]:
        """What judges add to the variance because they see several items: for `Spread.added`.

        apart: how far a judgement moves the figure from where the others on the same panel would have it, on average.
        What a judge does on all items adds up, what he does on a single one does not: the square of a judge's sum
        without the squares of its terms. That the others of his panels are judges too makes the sums of squares too
        large, by the factor that is taken out here. It does so exactly if judgements are item + judge + noise.

        A rule may be kept less often if two judges of a panel answer alike, whoever they are. Then `apart` is not 0 on
        average: what judgements of different panels have in common, by one judge or by two, is no judge's doing.
        """
        if self.judges is None or not len(weights):
            return 0.0, 0.0, 1.0
        loads = np.bincount(self.judges, weights) ** 2
        twice = float(loads.sum() - (weights**2).sum())  # pairs of judgements by one judge
        if twice <= 1e-12 * float(loads.sum()):
            return 0.0, 0.0, 1.0
        total = float((np.bincount(self.judges, apart) ** 2).sum())
        single = float((apart**2).sum())
        total -= twice * self._across(apart) / self._across(weights)
        scale = twice / (twice + self._from_others(weights))
        freedom = max(1.0, float(loads.sum() ** 2 / (loads**2).sum()) - 1)
        return max(0.0, (total - single) * scale), max(0.0, total * scale), freedom

    def _across(self, values: Floats) -> float:
        """The sum of the products of judgements of different panels."""
        return float(values.sum() ** 2 - (np.bincount(self.panels, values) ** 2).sum())

    def _from_others(self, weights: Floats) -> float:
        """What the other judges of shared panels add to the products of a judge's judgements, in units of one judge."""
        assert self.judges is not None
        m = int(self.judges.max()) + 1
        sizes = np.bincount(self.panels)
        fewer = np.where(sizes > 1, 1 / np.maximum(sizes - 1, 1), 0.0)[self.panels] * weights
        means = np.bincount(self.panels, fewer) / sizes
        order = np.argsort(self.panels, kind="stable")
        ordered, starts = self.judges[order], np.concatenate([[0], np.cumsum(sizes)])
        pairs, worth = [], []
        for size in np.unique(sizes):  # all pairs of judges of each panel
            some = np.flatnonzero(sizes == size)
            who = ordered[starts[some][:, None] + np.arange(size)]
            pairs.append((who[:, :, None] * m + who[:, None, :]).ravel())
            worth.append(np.repeat(means[some], size * size))
        _, met = np.unique(np.concatenate(pairs), return_inverse=True)
        together = np.bincount(met, np.concatenate(worth))
        alone = np.bincount(self.judges, fewer)
        return float((together**2).sum() - (means**2 * sizes**2).sum() - ((alone**2).sum() - (fewer**2).sum()))


def shares_at(share: float, units: float, reach: npt.ArrayLike) -> Floats:
    """The shares so many standard errors from the one seen, by the score test of a share of `units` (Wilson 1927)."""
    far = np.asarray(reach, np.float64)
    z = far * far / units
    found = (share + z / 2 + far * np.sqrt((share * (1 - share) + z / 4) / units)) / (1 + z)
    outside = ((share <= 0) & (far < 0)) | ((share >= 1) & (far > 0))  # despite rounding
    return np.where(outside, share, found)


def wilson(share: float, units: float, freedom: float = math.inf) -> tuple[float, float]:
    """Wilson's 95% interval of a share, with Student's quantile."""
    reach = t_quantile(freedom)
    low, high = shares_at(share, units, (-reach, reach))
    return float(low), float(high)


def share_of(top: Floats, bottom: Floats, rows: Crossed, of: str) -> Estimate:
    """The sum of `top`, parts of `bottom`, as a share of it; Wilson's interval for as many units as would tell as much.

    If all are hits, or none is, nothing shows how judgements resemble each other: there are as many units as items.
    """
    items, judges = rows.counts(bottom)
    if not bottom.sum() > 0:
        return Estimate(None, None, None, of, items, judges)
    value, spread = rows.ratio(top, bottom)
    if abs(value - round(value)) < _ROUNDING:
        value, units, freedom = float(round(value)), float(items), math.inf
    elif spread.variance < _ROUNDING**2:  # all items have the same share
        units, freedom = float(items), math.inf
    else:
        units, freedom = value * (1 - value) / spread.variance, spread.freedom
    low, high = wilson(value, units, freedom)
    return Estimate(value, low, high, of, items, judges)


def mean_of(
    top: Floats, bottom: Floats, rows: Crossed, of: str, least: float = -math.inf, most: float = math.inf
) -> Estimate:
    """The sum of `top` over that of `bottom` with Student's interval, which ends where the figure does."""
    items, judges = rows.counts(bottom)
    if not bottom.sum() > 0:
        return Estimate(None, None, None, of, items, judges)
    value, spread = rows.ratio(top, bottom)
    low, high = student(value, spread, items, least, most) or (None, None)
    return Estimate(value, low, high, of, items, judges)


def student(
    value: float, spread: Spread, items: int, least: float = -math.inf, most: float = math.inf
) -> tuple[float, float] | None:
    """Student's interval; None below six items, or if nothing differs."""
    if items < FEWEST or spread.variance < _ROUNDING**2:
        return None
    half = t_quantile(spread.freedom) * math.sqrt(spread.variance)
    return max(value - half, least), min(value + half, most)


def mean_score(ratings: Ratings, least: float = -math.inf, most: float = math.inf) -> Estimate:
    """The mean over items of their mean scores. least, most: the ends of the scale."""
    rows, values = Crossed.of_ratings(ratings), np.array(ratings.values)
    weights = rows.equal_items()
    return mean_of(weights * values, weights, rows, "the mean scores of items", least, most)


def share_of_answer(ratings: Ratings, answer: float) -> Estimate:
    """How many of the judgements give this answer."""
    rows, values = Crossed.of_ratings(ratings), np.array(ratings.values, np.float64)
    return share_of((values == answer).astype(np.float64), np.ones(len(values)), rows, "judgements")


def t_quantile(freedom: float) -> float:
    """How many standard errors a 95% interval reaches to each side."""
    from scipy.special import stdtrit  # scipy.stats would take a second to load

    return _Z if math.isinf(freedom) else float(stdtrit(freedom, 0.975))


def numbered(names: Iterable[Any]) -> Ints:
    """The names as numbers from 0, in order of first appearance."""
    numbers: dict[Any, int] = {}
    return np.array([numbers.setdefault(name, len(numbers)) for name in names], np.int64)


def _grouped(names: Iterable[str], values: Iterable[float]) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for name, value in zip(names, values, strict=True):
        found.setdefault(name, []).append(value)
    return found
