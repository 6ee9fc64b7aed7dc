"""The habit of agreeing: the same items under two opposite statements (Morris et al. 2020, 4.2 and A.2).

People who read "preserves the meaning" and people who read "changes the meaning" should give opposite answers. What
both groups agree with beyond the middle of the scale is a habit, not a judgement, and can be taken out of a score.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from mohs.studies.ratings import Crossed, Estimate, Floats, mean_of, share_of, student
from mohs.tasks.inference import FEWEST

Truths = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Reply:
    """One judgement. agreement: on a scale where more is more agreement, whichever statement was shown."""

    item: str
    judge: str
    agreement: float
    negated: bool


@dataclass(frozen=True)
class Scale:
    """An agreement scale. agree: the one answer that is plainly called "Agree"."""

    least: float
    most: float
    agree: float

    @property
    def middle(self) -> float:
        """Neither agreement nor disagreement."""
        return (self.least + self.most) / 2

    def mirrored(self, agreement: float) -> float:
        """The agreement with the opposite statement."""
        return self.least + self.most - agreement


@dataclass(frozen=True)
class Phrasing:
    """How people answered under one statement, or under both."""

    plainly: Estimate  # the share that chose the one answer "Agree"
    agreeing: Estimate  # the share beyond the middle
    mean: Estimate

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dict."""
        return {name: getattr(self, name).to_json() for name in ("plainly", "agreeing", "mean")}


@dataclass(frozen=True)
class Acquiescence:
    """The habit of agreeing. `habit` is in points of the scale; None if only one statement was shown."""

    plain: Phrasing
    negated: Phrasing
    both: Phrasing
    habit: Estimate
    paired: int  # items that were judged under both statements

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dict."""
        phrasings = {name: getattr(self, name).to_json() for name in ("plain", "negated", "both")}
        return {**phrasings, "habit": self.habit.to_json(), "paired": self.paired}


@dataclass(frozen=True)
class Corrected:
    """The score of an item as agreement with the plain statement, without the habit of agreeing."""

    score: float
    statements: Literal["both", "plain", "negated"]  # under which it was judged

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dict."""
        return asdict(self)


def acquiescence(replies: Sequence[Reply], scale: Scale, named: bool = True) -> Acquiescence:
    """How much people agree whatever the statement says.

    The habit is the mean agreement above the middle of the scale. Both statements count alike, and so does every item
    under each. It is taken of the items judged under both, where what they mean cancels out. If these are fewer than
    six, it is taken of all, and right if chance decided which statement an item was shown with. The interval allows
    for other items and, if they are named, other judges.
    """
    rows, scores, negated = _columns(replies, named)

    def phrasing(some: Floats, name: str) -> Phrasing:
        return Phrasing(
            share_of(some * (scores == scale.agree), some, rows, f"replies to {name}"),
            share_of(some * (scores > scale.middle), some, rows, f"replies to {name}"),
            mean_of(some * scores, some, rows, f"replies to {name}", scale.least, scale.most),
        )

    paired = {r.item for r in replies if r.negated} & {r.item for r in replies if not r.negated}
    return Acquiescence(
        phrasing((~negated).astype(np.float64), "the plain statement"),
        phrasing(negated.astype(np.float64), "the negated statement"),
        phrasing(np.ones(len(scores)), "both statements"),
        _habit(replies, scale, named, paired),
        len(paired),
    )


def corrected(replies: Iterable[Reply], scale: Scale, habit: float) -> dict[str, Corrected]:
    """Each item's score. Under both statements the habit cancels out; under one, `habit` points are taken out."""
    found: dict[str, tuple[list[float], list[float]]] = {}
    for reply in replies:
        found.setdefault(reply.item, ([], []))[reply.negated].append(reply.agreement)
    return {item: _corrected(*scores, scale, habit) for item, scores in found.items()}


def corrected_mean(replies: Sequence[Reply], scale: Scale, habit: float, named: bool = True) -> Estimate:
    """The mean score of items as agreement with the plain statement, without the habit of agreeing.

    The interval allows for other items and, if they are named, other judges, and takes the habit as known: it only
    matters where an item was judged under one statement.
    """
    rows, scores, negated = _columns(replies, named)
    if not replies:
        return Estimate(None, None, None, "the corrected scores of items", 0, 0 if named else None)
    sizes = np.bincount(rows.panels)[rows.panels]
    statements = np.zeros(int(rows.items.max()) + 1)
    np.add.at(statements, rows.items, 1 / sizes)  # how many statements each item was shown with
    under_one = statements[rows.items] < 1.5
    plain = np.where(negated, scale.least + scale.most - scores, scores)
    plain += np.where(under_one, np.where(negated, habit, -habit), 0.0)
    weights = 1 / (sizes * np.round(statements[rows.items]))
    return mean_of(weights * plain, weights, rows, "the corrected scores of items")


def _corrected(plain: Sequence[float], negated: Sequence[float], scale: Scale, habit: float) -> Corrected:
    if plain and negated:
        return Corrected((fmean(plain) + scale.mirrored(fmean(negated))) / 2, "both")
    if plain:
        return Corrected(fmean(plain) - habit, "plain")
    return Corrected(scale.mirrored(fmean(negated)) + habit, "negated")


def _habit(replies: Sequence[Reply], scale: Scale, named: bool, paired: Collection[str]) -> Estimate:
    of = "items under either statement"
    if len(paired) >= FEWEST:
        replies, of = [reply for reply in replies if reply.item in paired], "items under both statements"
    rows, scores, negated = _columns(replies, named)
    weights = np.zeros(len(scores))
    effects = np.zeros(len(scores))
    value = -scale.middle
    sizes = np.bincount(rows.panels)[rows.panels] if len(scores) else np.zeros(0)
    for some in (negated, ~negated):
        items, judges = rows.counts(some.astype(np.float64))
        if not items:
            return Estimate(None, None, None, of, *rows.counts(np.ones(len(scores))))
        weights[some] = 1 / (2 * items * sizes[some])
        mean = 2 * float(weights[some] @ scores[some])
        effects[some] = weights[some] * (scores[some] - mean)
        value += mean / 2
    items, judges = rows.counts(weights)
    ends = student(value, rows.spread(effects, weights), items, scale.least - scale.middle, scale.most - scale.middle)
    low, high = ends or (None, None)
    return Estimate(value, low, high, of, items, judges)


def _columns(replies: Sequence[Reply], named: bool) -> tuple[Crossed, Floats, Truths]:
    """Who judged what under which statement, the agreement, and whether the statement was negated."""
    rows = Crossed.of(
        (reply.item for reply in replies),
        (reply.judge for reply in replies) if named else None,
        ((reply.item, reply.negated) for reply in replies),
    )
    scores = np.array([reply.agreement for reply in replies], np.float64)
    return rows, scores, np.array([reply.negated for reply in replies], np.bool_)
