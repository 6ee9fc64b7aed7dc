"""Which items people find valid, how many attacks that leaves, and how far the figures may be off.

A share of items is known as well as other items *and* other judges would let it be. What judges add is read off
replacements: how a verdict changes if one judge of an item answers as another of its judges did. That keeps the size of
the panel. Drawing judges anew inside a panel of five would not: means of few answers become noisier, and a share in
their tail moves.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from mohs.errors import BadInput
from mohs.studies.ratings import Crossed, Estimate, Floats, Ratings, Spread, shares_at, wilson

Truths = npt.NDArray[np.bool_]

_ROUNDING = 1e-9  # of a mean: 4.999999999 is 5
_BOUNDS = ("at_most", "at_least", "below", "above")
_NUMBERS_IN_MEMORY = 1 << 22
_DRAWS = 2000


@dataclass(frozen=True)
class Rule:
    """When an item is valid: a statistic of its scores keeps all bounds given, or enough judges agree.

    share: of the judges who gave `answer`, or the item's expected answer if `answer` is None.
    consensus: at least `least_agreeing` judges gave the same answer, more than any other; it is the expected one, if
    one is expected.
    """

    statistic: Literal["mean", "median", "share", "consensus"]
    at_most: float | None = None
    at_least: float | None = None
    below: float | None = None
    above: float | None = None
    answer: float | None = None
    least_agreeing: int | None = None
    least_judges: int = 1  # an item with fewer has no verdict

    def __post_init__(self) -> None:
        if self.statistic not in ("mean", "median", "share", "consensus"):
            raise BadInput(f"there is no statistic {self.statistic!r}; use mean, median, share or consensus")
        if self.statistic == "consensus":
            if self.least_agreeing is None or self.bounds:
                raise BadInput("a consensus needs least_agreeing, the number of judges, and no other bound")
        elif self.least_agreeing is not None or not self.bounds:
            raise BadInput(f"a rule on the {self.statistic} needs at_most, at_least, below or above")

    @property
    def bounds(self) -> dict[str, float]:
        """The bounds given."""
        return {name: bound for name in _BOUNDS if (bound := getattr(self, name)) is not None}

    def at(self, threshold: float) -> Rule:
        """The rule with another threshold; it has one bound."""
        (name,) = self.bounds
        changed: dict[str, Any] = {name: threshold}
        return replace(self, **changed)

    def holds(self, values: Sequence[float], expected: float | None = None) -> bool | None:
        """Whether an item with these scores is valid; None if it has too few, or no expected answer to compare with."""
        if len(values) < max(1, self.least_judges) or (expected is None and self.expects):
            return None
        return bool(self.verdicts(np.array(values, np.float64), np.float64(math.nan if expected is None else expected)))

    @property
    def expects(self) -> bool:
        """Whether there is no verdict without an expected answer."""
        return self.statistic == "share" and self.answer is None

    def verdicts(self, scores: Floats, expected: npt.ArrayLike) -> Truths:
        """Whether items are valid; an item's scores lie along the last axis. expected: nan if nothing is expected."""
        wanted = np.asarray(expected, np.float64)
        if self.statistic == "consensus":
            agreeing = (scores[..., :, None] == scores[..., None, :]).sum(-1)
            most = agreeing.max(-1)
            label = np.take_along_axis(scores, agreeing.argmax(-1)[..., None], -1)
            tied = ((agreeing == most[..., None]) & (scores != label)).any(-1)
            meant: Truths = np.isnan(wanted) | (label[..., 0] == wanted)
            agreed: Truths = (most >= (self.least_agreeing or 0)) & ~tied & meant
            return agreed
        if self.statistic == "share":
            answer = wanted[..., None] if self.answer is None else self.answer
            found = (scores == answer).mean(-1)
        else:
            found = scores.mean(-1) if self.statistic == "mean" else np.median(scores, -1)
        return self.keeps(found)

    def keeps(self, found: Floats) -> Truths:
        """Whether the statistic of items keeps all bounds."""
        kept = np.ones(found.shape, np.bool_)
        if self.at_most is not None:
            kept &= found <= self.at_most + _ROUNDING
        if self.at_least is not None:
            kept &= found >= self.at_least - _ROUNDING
        if self.below is not None:
            kept &= found < self.below - _ROUNDING
        if self.above is not None:
            kept &= found > self.above + _ROUNDING
        return kept


@dataclass(frozen=True)
class Validity(Estimate):
    """The share of items that are valid. It is known as well as a share of `units` items would tell it alone."""

    valid: int
    undecided: int  # items without a verdict, which are not in `items`
    units: float
    freedom: float  # of the variance behind `units`

    @property
    def shrunk(self) -> float:
        """The share moved towards a half, for variances: no valid item of ten does not mean that there are none."""
        return (self.valid + 2) / (self.items + 4)

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dict; no degrees of freedom if judges add nothing."""
        return {**super().to_json(), "freedom": self.freedom if math.isfinite(self.freedom) else None}


def verdicts(ratings: Ratings, rule: Rule, expected: Mapping[str, float] | None = None) -> dict[str, bool | None]:
    """The verdict on each item."""
    known, having = expected or {}, set(decided(ratings, rule, expected))
    return {
        item: rule.holds(values, known.get(item)) if item in having else None
        for item, values in ratings.by_item.items()
    }


def validity(
    ratings: Ratings, rule: Rule, expected: Mapping[str, float] | None = None, of: str = "judged items"
) -> Validity:
    """The share of valid items: how probably an item like these is valid, if people like these judge it.

    Its variance is that of independent items, p (1 - p) / n, and what judges add who see several items
    (`Crossed.judge_part`). The interval is Wilson's for n_eff = p (1 - p) / variance items, with Student's quantile for
    few judges. tests/studies/test_validity.py has how often it holds.
    """
    known, names = expected or {}, decided(ratings, rule, expected)
    undecided = ratings.n_items - len(names)
    n = len(names)
    if not n:
        return Validity(None, None, None, of, 0, 0 if ratings.named else None, 0, undecided, 0.0, math.inf)
    if undecided:
        ratings = ratings.keep(set(names))
    rows = Crossed.of_ratings(ratings)
    wanted = np.array([known.get(name, math.nan) for name in names])
    valid, effects = moved(rows, np.array(ratings.values), wanted, rule)
    shrunk = (valid + 2) / (n + 4)  # as `Validity.shrunk`
    alone = shrunk * (1 - shrunk) / n
    added, total, freedom = rows.judge_part(effects / n, rows.equal_items() / n)
    more = n / max(n - 1, 1)  # pairs of items
    spread = Spread.added((alone, 0.0, 1.0), (added * more, total * more, freedom))
    units = shrunk * (1 - shrunk) / spread.variance
    low, high = wilson(valid / n, units, spread.freedom)
    return Validity(valid / n, low, high, of, n, ratings.n_judges, valid, undecided, units, spread.freedom)


def curve(
    ratings: Ratings, rule: Rule, thresholds: Iterable[float], expected: Mapping[str, float] | None = None
) -> tuple[tuple[float, Validity], ...]:
    """Validity at each threshold (Figure 6.1 of Hauser 2021, for its P_val)."""
    return tuple((threshold, validity(ratings, rule.at(threshold), expected)) for threshold in thresholds)


def valid_attacks(valid: Validity, changes: Mapping[int, int] | Iterable[int], seed: int = 0) -> Estimate:
    """The share of successful attacks all of whose perturbations are valid: sum of p(i) P^i (Hauser 2021, Eq. 6.2).

    valid: the share P of valid perturbations. changes: how many perturbations successful attacks have, as counts or one
    number an attack; p(i) is the share with i. An attack without any counts as valid.

    It takes the perturbations of an attack for independent, and all for alike. The thesis calls the estimate unbiased;
    that holds for P alone. P^i is convex, so its estimate is too high on average for i >= 2 (Jensen), about
    i (i - 1) / 2 P^(i-2) Var(P).

    For the interval attacks are drawn anew, and P from the ends of its own interval at every level.
    """
    counts = Counter(changes)
    total, of = sum(counts.values()), "successful attacks"
    if valid.value is None or not total:
        return Estimate(None, None, None, of, valid.items, valid.judges)
    low, high = np.quantile(_powered(valid, counts, seed), (0.025, 0.975))
    value = sum(count * valid.value**i for i, count in counts.items()) / total
    return Estimate(value, float(low), float(high), of, valid.items, valid.judges)


def fair_attacks(valid: Validity, changes: Mapping[int, int] | Iterable[int], attacked: int, seed: int = 0) -> Estimate:
    """The share of attacked examples with a success all of whose perturbations are valid, by `valid_attacks`.

    For the interval the share of successes is drawn, too: from the ends of its Wilson interval at every level.
    """
    counts = Counter(changes)
    total, of = sum(counts.values()), "attacked examples"
    if not attacked or not total or valid.value is None:
        return fair_success(total, attacked, valid)
    levels = np.random.default_rng([seed, 1]).permutation((np.arange(_DRAWS) + 0.5) / _DRAWS)
    rates = shares_at(total / attacked, attacked, _quantiles(levels, math.inf))
    low, high = np.quantile(rates * _powered(valid, counts, seed), (0.025, 0.975))
    value = sum(count * valid.value**i for i, count in counts.items()) / attacked
    return Estimate(value, float(low), float(high), of, valid.items, valid.judges)


def _powered(valid: Validity, counts: Counter[int], seed: int) -> Floats:
    """Draws of the share of valid attacks: attacks are drawn anew, P is one end of its interval at each level."""
    assert valid.value is not None
    total = sum(counts.values())
    powers = np.array(sorted(counts), np.float64)
    shares = np.array([counts[i] for i in sorted(counts)]) / total
    random = np.random.default_rng(seed)
    levels = (np.arange(_DRAWS) + 0.5) / _DRAWS
    p = shares_at(valid.value, valid.units, _quantiles(levels, valid.freedom))
    attacks = random.multinomial(total, shares, _DRAWS) / total
    found: Floats = (attacks * p[:, None] ** powers).sum(1)
    return found


def fair_success(successes: int, attacked: int, valid: Validity) -> Estimate:
    """The share of attacked examples with a valid success. valid: of the successes, or of some drawn at random.

    The variance is that of the share of successes and that of the valid ones among them. If all were judged, by people
    who add nothing, the interval is Wilson's of valid successes among the attacked.
    """
    of = "attacked examples"
    if not attacked or (successes and valid.value is None):
        return Estimate(None, None, None, of, valid.items, valid.judges)
    if not successes:
        low, high = wilson(0.0, attacked)
        return Estimate(0.0, low, high, of, valid.items, valid.judges)
    assert valid.value is not None
    rate, share = successes / attacked, valid.shrunk
    judged = rate**2 * share * (1 - share) / valid.units
    spread = Spread.added((judged, judged, valid.freedom), (share**2 * rate * (1 - rate) / attacked, 0.0, 1.0))
    value, units = rate * valid.value, rate * share * (1 - rate * share) / spread.variance
    low, high = wilson(value, units, spread.freedom)
    return Estimate(value, low, high, of, valid.items, valid.judges)


def decided(ratings: Ratings, rule: Rule, expected: Mapping[str, float] | None) -> list[str]:
    """The items that have a verdict: enough judges, and an expected answer where answers are expected."""
    least, found = max(1, rule.least_judges), ratings.by_item
    needed = rule.expects or (rule.statistic == "consensus" and expected is not None)
    return [item for item in found if len(found[item]) >= least and (not needed or item in (expected or {}))]


def _quantiles(levels: Floats, freedom: float) -> Floats:
    from scipy.special import ndtri, stdtrit  # scipy.stats would take a second to load

    found: Floats = ndtri(levels) if math.isinf(freedom) else stdtrit(freedom, levels)
    return found


def moved(rows: Crossed, values: Floats, expected: Floats, rule: Rule) -> tuple[int, Floats]:
    """How many items are valid, and what each judgement adds to its item's verdict.

    That is the verdict minus the mean one if the judge had answered like one of the others. An item with one judge is
    compared with the mean of all items.
    """
    found = np.empty(len(values))
    sizes = np.bincount(rows.items)
    order = np.argsort(rows.items, kind="stable")
    starts = np.cumsum(sizes) - sizes
    answers = np.unique(values)
    valid, single = 0, []
    for size in np.unique(sizes):
        every = np.flatnonzero(sizes == size)
        block = max(1, _NUMBERS_IN_MEMORY // (size * size * len(answers)))
        for first in range(0, len(every), block):
            some = every[first : first + block]
            places = order[starts[some][:, None] + np.arange(size)]
            scores, wanted = values[places], expected[some]
            held = rule.verdicts(scores, wanted)
            valid += int(held.sum())
            if size == 1:
                single.append(places[:, 0])
                found[places[:, 0]] = held
            else:
                found[places] = held[:, None] - _if_replaced(scores, wanted, answers, rule)
    if single:
        found[np.concatenate(single)] -= valid / len(sizes)
    return valid, found


def _if_replaced(scores: Floats, expected: Floats, answers: Floats, rule: Rule) -> Floats:
    """The mean verdict on each item if a judge answers like one of the others, one column a judge."""
    n, size = scores.shape
    given = scores[:, :, None] == answers
    others = given.sum(1, keepdims=True) - given  # how many other judges gave each answer
    tried = np.broadcast_to(scores[:, None, None, :], (n, size, len(answers), size)).copy()
    own = np.arange(size)
    tried[:, own, :, own] = answers
    held = rule.verdicts(tried, expected[:, None, None])
    found: Floats = (held * others).sum(-1) / (size - 1)
    return found
