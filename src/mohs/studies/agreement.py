"""How far judges agree with each other.

Intervals of kappa and alpha come from leaving out one item at a time. They are for other items and the same judges.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Literal

import numpy as np

from mohs.studies.ratings import Crossed, Estimate, Floats, Ratings, mean_of, share_of, t_quantile
from mohs.tasks.inference import FEWEST

_ROUNDING = 1e-9
_Level = Literal["nominal", "ordinal", "interval"]


@dataclass(frozen=True)
class HumanAccuracy:
    """How often one random judge of an item is right. Items with fewer than two judges are left out.

    with_own: against the majority of all judges of the item, that one included, as in AdvGLUE (paper 002, Table 3). It
    flatters: of five judges who guess, the majority holds at least one's own vote. Ties do not matter: whichever of the
    tied labels counts, an equal number of judges gave it.
    without_own: against the majority of the others. Where t labels tie, each of them counts as right by 1 / t.
    known: against the known label, for the items that have one; None if no labels are given.
    """

    with_own: Estimate
    without_own: Estimate
    known: Estimate | None = None

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dict."""
        known = None if self.known is None else self.known.to_json()
        return {"with_own": self.with_own.to_json(), "without_own": self.without_own.to_json(), "known": known}


@dataclass(frozen=True)
class WithinOne(Estimate):
    """How many judges of an item lie within one point of its mean, of how many on average."""

    panel: float | None


@dataclass(frozen=True)
class OverItems(Estimate):
    """A figure whose interval allows for other items and takes the judges as they are."""

    @property
    def judges_unknown(self) -> bool:
        """Always true: judges are not in the interval."""
        return True


def fleiss_kappa(ratings: Ratings) -> Estimate:
    """Fleiss' (1971) kappa of categories: (P - Pe) / (1 - Pe). It has no value if all judgements are the same.

    Items may have different numbers of judges: each has its own P_i and shares of categories, and counts once (Gwet
    2014, 2.5). Items with fewer than two judges are left out.
    """
    panels = [values for values in ratings.by_item.values() if len(values) > 1]
    of = "agreement beyond chance (Fleiss' kappa)"
    if not panels:
        return OverItems(None, None, None, of, 0, ratings.n_judges)
    categories = {value: number for number, value in enumerate(sorted({v for panel in panels for v in panel}))}
    counts = np.zeros((len(panels), len(categories)))
    for row, panel in zip(counts, panels, strict=True):
        for value in panel:
            row[categories[value]] += 1
    sizes = counts.sum(1)
    agreeing = ((counts**2).sum(1) - sizes) / (sizes * (sizes - 1))
    shares = counts / sizes[:, None]

    def kappa(agreeing: Floats, shares: Floats) -> Floats:
        """From mean agreements and mean shares of categories."""
        chance = (shares**2).sum(-1)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(1 - chance > _ROUNDING, (agreeing - chance) / (1 - chance), np.nan)

    n = len(panels)
    value = float(kappa(agreeing.mean(), shares.mean(0)))
    rest = max(n - 1, 1)
    without = kappa((agreeing.sum() - agreeing) / rest, (shares.sum(0) - shares) / rest)
    return _jackknifed(value, without, of, ratings)


def krippendorff_alpha(ratings: Ratings, level: _Level = "ordinal") -> Estimate:
    """Krippendorff's alpha, 1 - Do / De, from the matrix of coincidences; judgements may be missing.

    level: what scores mean: names, ranks or numbers. It has no value if all judgements are the same.
    """
    panels = [values for values in ratings.by_item.values() if len(values) > 1]
    of = f"agreement beyond chance (Krippendorff's alpha, {level})"
    if not panels:
        return OverItems(None, None, None, of, 0, ratings.n_judges)
    answers = np.unique(np.concatenate(panels))
    coincidences = []
    for panel in panels:
        counts = (np.array(panel)[:, None] == answers).sum(0).astype(np.float64)
        coincidences.append((np.outer(counts, counts) - np.diag(counts)) / (len(panel) - 1))
    whole = np.sum(coincidences, axis=0)
    value = _alpha(whole, answers, level)
    return _jackknifed(value, np.array([_alpha(whole - one, answers, level) for one in coincidences]), of, ratings)


def human_accuracy(ratings: Ratings, truth: Mapping[str, float] | None = None) -> HumanAccuracy:
    """How often one random judge of an item is right, in expectation. truth: the known labels of items."""
    several = ratings.keep({item for item, values in ratings.by_item.items() if len(values) > 1})
    counts = {item: Counter(values) for item, values in several.by_item.items()}
    judged = list(zip(several.items, several.values, strict=True))
    own = [_credit(value, counts[item]) for item, value in judged]
    others = [_credit(value, counts[item] - Counter([value])) for item, value in judged]
    known = None
    if truth is not None:
        labelled = ratings.keep(truth.keys())
        right = [float(truth[item] == value) for item, value in zip(labelled.items, labelled.values, strict=True)]
        known = _right(right, labelled, "judgements against the known label")
    return HumanAccuracy(
        _right(own, several, "judgements against the majority of their item"),
        _right(others, several, "judgements against the majority of the others"),
        known,
    )


def within_one(ratings: Ratings) -> WithinOne:
    """How many judges of an item lie within one point of its mean, on average over items (Hauser 2021, 6.1.1)."""
    rows, values = Crossed.of_ratings(ratings), np.array(ratings.values)
    weights = rows.equal_items()
    if not len(values):
        return WithinOne(None, None, None, "judges within one point of an item's mean", 0, ratings.n_judges, None)
    sizes = np.bincount(rows.items)[rows.items]
    means = (np.bincount(rows.items, values) / np.bincount(rows.items))[rows.items]
    near = (np.abs(values - means) <= 1 + _ROUNDING) * sizes
    found = mean_of(weights * near, weights, rows, "judges within one point of an item's mean", 0.0, float(sizes.max()))
    panel = float((weights * sizes).sum() / weights.sum())
    return WithinOne(found.value, found.low, found.high, found.of, found.items, found.judges, panel)


def beside_others(ratings: Ratings, scale: bool) -> Estimate:
    """How many judgements agree with the others of their item. An item's only judgement is left out.

    scale: whether agreeing means within one point of the others' mean; otherwise it is their majority's label, and
    judgements whose others tie are left out.

    The interval allows for other items and other judges, but not for what a judge's answers change in the agreement of
    others: with few judges who differ much it is somewhat too narrow (tests/studies/test_agreement.py has how much).
    """
    kept: list[tuple[str, str]] = []
    agreeing: list[bool] = []
    places = {item: iter(_against_others(values, scale)) for item, values in ratings.by_item.items()}
    for item, judge in zip(ratings.items, ratings.judges, strict=True):
        if (found := next(places[item])) is not None:
            kept.append((item, judge))
            agreeing.append(found)
    rows = Crossed.of((item for item, _ in kept), (judge for _, judge in kept) if ratings.named else None)
    of = "judgements of people, against the others of their item"
    return share_of(np.array(agreeing, np.float64), np.ones(len(kept)), rows, of)


def near(value: float, mean: float) -> bool:
    """Whether a score lies within one point of a mean."""
    return abs(value - mean) <= 1 + _ROUNDING


def _against_others(values: Sequence[float], scale: bool) -> Iterator[bool | None]:
    """Whether each judgement of an item agrees with the others; None where these do not say."""
    for place, value in enumerate(values):
        others = [*values[:place], *values[place + 1 :]]
        if not others:
            yield None
        elif scale:
            yield near(value, fmean(others))
        else:
            label = consensus(others, 1)
            yield None if label is None else value == label


def consensus(values: Sequence[float], least: int) -> float | None:
    """The label that at least `least` judges gave, and more than gave any other; None if there is none."""
    ranked = Counter(values).most_common(2)
    if not ranked or ranked[0][1] < least or (len(ranked) > 1 and ranked[0][1] == ranked[1][1]):
        return None
    return ranked[0][0]


def _alpha(coincidences: Floats, answers: Floats, level: _Level) -> float:
    counts = coincidences.sum(0)
    n = counts.sum()
    if level == "nominal":
        far = 1 - np.eye(len(answers))
    else:
        places = answers if level == "interval" else counts.cumsum() - counts / 2  # the middle of its ranks
        far = (places[:, None] - places) ** 2
    expected = float(counts @ far @ counts)
    return 1 - (n - 1) * float((coincidences * far).sum()) / expected if expected > _ROUNDING else math.nan


def _credit(value: float, votes: Counter[float]) -> float:
    """1 for the majority's label; a part of it if labels tie."""
    most = max(votes.values())
    tied = [label for label, count in votes.items() if count == most]
    return (value in tied) / len(tied)


def _right(right: Sequence[float], ratings: Ratings, of: str) -> Estimate:
    """The mean over items of the shares that are right."""
    rows = Crossed.of_ratings(ratings)
    weights = rows.equal_items()
    return share_of(weights * np.array(right), weights, rows, of)


def _jackknifed(value: float, without: Floats, of: str, ratings: Ratings) -> Estimate:
    """A figure with Student's interval from its values without each of the items."""
    n = len(without)
    if math.isnan(value):
        return OverItems(None, None, None, of, n, ratings.n_judges)
    mean = float(without.mean())
    half = t_quantile(n - 1) * math.sqrt((n - 1) / n * float(((without - mean) ** 2).sum()))
    if n < FEWEST or not half > _ROUNDING:  # nan where leaving an item out leaves a single category
        return OverItems(value, None, None, of, n, ratings.n_judges)
    middle = value + (n - 1) * (value - mean)  # without the bias of few items
    return OverItems(value, max(middle - half, -1.0), min(middle + half, 1.0), of, n, ratings.n_judges)
