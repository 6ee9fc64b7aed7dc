"""A bootstrap over judges and items at once, beside the intervals of `validity`.

Items are drawn anew, and so are judges, with all that they judged (Owen 2007, the pigeonhole bootstrap). A panel that
is drawn anew has fewer different judges, so its mean is noisier, and the draws lie around a share that is moved away
from the tails. tests/studies/test_resampled.py has by how much, and how often the intervals hold nevertheless.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from mohs.studies.ratings import Crossed, Floats, Ints, Ratings
from mohs.studies.validity import Rule, decided
from mohs.tasks.inference import FEWEST

_DRAWS = 1000
_ROUNDING = 1e-9
Ends = tuple[float, float]


@dataclass(frozen=True)
class Resampled:
    """95% percentile intervals: of the share of valid items, and of valid attacks by Eq. 6.2 (Hauser 2021)."""

    valid: Ends
    attacks: Ends | None  # None where whole attacks were judged

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dict."""
        return {"valid": list(self.valid), "valid_attacks": None if self.attacks is None else list(self.attacks)}


def resampled(
    ratings: Ratings, rule: Rule, changes: Mapping[int, int] | None = None, seed: int = 0
) -> Resampled | None:
    """Intervals by drawing items and judges anew; items alone if nobody knows which judgements are of one person.

    changes: how many successful attacks have how many perturbations; they are drawn anew, too. There is none for a rule
    by consensus, whose number of judges means nothing in a panel of another size, for fewer than six items, and where
    all draws are alike.
    """
    names = decided(ratings, rule, None)
    if rule.statistic == "consensus" or rule.expects or len(names) < FEWEST:
        return None
    if len(names) < ratings.n_items:
        ratings = ratings.keep(set(names))
    rows, values = Crossed.of_ratings(ratings), np.array(ratings.values)
    order = np.lexsort((values, rows.items))
    items, values = rows.items[order], values[order]
    judges = None if rows.judges is None else rows.judges[order]
    random = np.random.default_rng(seed)
    shares = []
    for _ in range(_DRAWS):
        times = np.ones(len(values))
        if judges is not None:
            people = int(judges.max()) + 1
            times = random.multinomial(people, np.full(people, 1 / people))[judges].astype(np.float64)
        found, known = _statistics(values, items, times, rule)
        weights = random.multinomial(len(names), np.full(len(names), 1 / len(names))) * known
        if weights.sum():
            shares.append(float((weights * rule.keeps(found)).sum() / weights.sum()))
    drawn = np.array(shares)
    if not len(drawn) or np.ptp(drawn) < _ROUNDING:
        return None
    counts = Counter({i: k for i, k in (changes or {}).items() if k})
    return Resampled(_ends(drawn), _ends(_attacks(drawn, counts, random)) if counts else None)


def _statistics(values: Floats, items: Ints, times: Floats, rule: Rule) -> tuple[Floats, Floats]:
    """The rule's statistic of each item, and 1 for the items that any judge was drawn for.

    values: in the order of items, and of their size. times: how often the judge of each was drawn.
    """
    whole = np.bincount(items, times).astype(np.float64)
    known = (whole > 0).astype(np.float64)
    if rule.statistic == "median":
        return _medians(values, items, times, whole), known
    scores = values if rule.statistic == "mean" else (values == rule.answer).astype(np.float64)
    return np.bincount(items, times * scores) / np.maximum(whole, 1), known


def _medians(values: Floats, items: Ints, times: Floats, whole: Floats) -> Floats:
    sizes = np.bincount(items)
    starts = np.cumsum(sizes) - sizes
    passed = np.cumsum(times)
    before = (passed - times)[starts]
    within = 2 * (passed - before[items])
    last = starts + sizes - 1
    low = np.minimum(starts + np.bincount(items, within < whole[items]).astype(np.intp), last)
    high = np.minimum(starts + np.bincount(items, within <= whole[items]).astype(np.intp), last)
    middle: Floats = (values[low] + values[high]) / 2
    return middle


def _attacks(shares: Floats, counts: Counter[int], random: np.random.Generator) -> Floats:
    """The share of attacks all of whose perturbations are valid, for each share of valid perturbations."""
    total = sum(counts.values())
    lengths = sorted(counts)
    drawn = random.multinomial(total, [counts[i] / total for i in lengths], len(shares)) / total
    found: Floats = (drawn * shares[:, None] ** np.array(lengths, np.float64)).sum(1)
    return found


def _ends(drawn: Floats) -> Ends:
    low, high = np.quantile(drawn, (0.025, 0.975))
    return float(low), float(high)
