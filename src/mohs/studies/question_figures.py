"""The figures of one question: how people answered, how far they agree, and whether they merely like to agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mohs.report.rates import Rate
from mohs.studies.acquiescence import Acquiescence, Reply, Scale, acquiescence, corrected, corrected_mean
from mohs.studies.agreement import (
    HumanAccuracy,
    WithinOne,
    fleiss_kappa,
    human_accuracy,
    krippendorff_alpha,
    within_one,
)
from mohs.studies.design import Question
from mohs.studies.item import Item
from mohs.studies.pool import Pool
from mohs.studies.ratings import Estimate, mean_score, share_of_answer
from mohs.studies.validity import Rule

SCALES = ("mean", "median")


@dataclass(frozen=True)
class Answered:
    """How often one answer was given, as if the plain statement had been shown each time."""

    value: int
    label: str
    count: int
    share: Estimate

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dict."""
        return {"value": self.value, "label": self.label, "count": self.count, "share": self.share.to_json()}


@dataclass(frozen=True)
class Agreeing:
    """The habit of agreeing with whatever is said, and the scores without it."""

    label: str  # the one answer that `plainly` counts
    scale: Scale
    found: Acquiescence
    mean: Estimate  # of the corrected scores of items, on the scale of the answers
    valid: Rate | None  # items whose corrected score keeps the rule, if the rule is about the mean

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dict."""
        return {
            "agree": self.label,
            **self.found.to_json(),
            "corrected_mean": self.mean.to_json(),
            "corrected_valid": None if self.valid is None else self.valid.to_json(),
        }


@dataclass(frozen=True)
class QuestionFigures:
    """What was answered to one question about some items."""

    question: str
    items: int
    judges: int | None
    judgements: int
    answers: tuple[Answered, ...]
    mean: Estimate | None  # None if answers are no scale
    kappa: Estimate  # Fleiss' kappa of the answers as categories
    kappa_curated: Estimate | None  # of the items that a consensus keeps; None where the rule is none
    alpha: Estimate  # Krippendorff's: ordinal on a scale, else nominal
    accuracy: HumanAccuracy
    within_one: WithinOne | None
    agreeing: Agreeing | None  # None without opposite statements

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dict."""

        def told(part: Any) -> Any:
            return None if part is None else part.to_json()

        return {
            "question": self.question,
            "items": self.items,
            "judges": self.judges,
            "judgements": self.judgements,
            "answers": [one.to_json() for one in self.answers],
            "mean": told(self.mean),
            "kappa": told(self.kappa),
            "kappa_curated": told(self.kappa_curated),
            "alpha": told(self.alpha),
            "accuracy": told(self.accuracy),
            "within_one": told(self.within_one),
            "acquiescence": told(self.agreeing),
        }


def question_figures(
    pool: Pool, question: Question, items: Sequence[Item], valid: Collection[str] | None, rule: Rule | None
) -> QuestionFigures:
    """The figures of a question. items: those it is asked about; valid: the keys of the valid ones, if it decides that.

    rule: by which they are valid.
    """
    items = [item for item in items if item.question == question.name]
    ratings = pool.ratings(items)
    scale = is_scale(question)
    counts = Counter(ratings.values)
    known = {item.key: float(item.expected[0]) for item in items if len(item.expected) == 1}
    least, most = min(question.values), max(question.values)
    return QuestionFigures(
        question.name,
        ratings.n_items,
        ratings.n_judges,
        len(ratings.values),
        tuple(
            Answered(one.value, one.label, counts[one.value], share_of_answer(ratings, one.value))
            for one in question.answers
        ),
        mean_score(ratings, least, most) if scale else None,
        fleiss_kappa(ratings),
        fleiss_kappa(ratings.keep(valid)) if valid is not None and rule and rule.statistic == "consensus" else None,
        krippendorff_alpha(ratings, "ordinal" if scale else "nominal"),
        human_accuracy(ratings, known or None),
        within_one(ratings) if scale else None,
        _agreeing(pool, question, items, rule if valid is not None else None),
    )


def is_scale(question: Question) -> bool:
    """Whether the answers are points of a scale."""
    return question.statistic in SCALES


def scale_of(question: Question) -> tuple[Scale, str]:
    """The scale of agreement of a question, and the answer called "Agree", or the one that agrees most."""
    high = question.agree == "high"
    least, most = min(question.values), max(question.values)
    named = [one for one in question.answers if one.label.casefold() == "agree"]
    plain = named[0].value if named else (most if high else least)
    return Scale(least, most, plain if high else question.mirrored(plain)), question.label(plain)


def _agreeing(pool: Pool, question: Question, items: Sequence[Item], rule: Rule | None) -> Agreeing | None:
    if not question.agree or len({statement.negated for statement in question.statements}) < 2:
        return None
    replies = [
        Reply(
            one.item,
            one.annotator,
            float(one.value if question.agree == "high" else question.mirrored(one.value)),
            question.statements[one.statement].negated,
        )
        for one in pool.of(items)
    ]
    scale, label = scale_of(question)
    found = acquiescence(replies, scale, pool.named)
    if found.habit.value is None:
        return Agreeing(label, scale, found, Estimate(None, None, None, "items", 0, None), None)
    scores = corrected(replies, scale, found.habit.value)
    mean = corrected_mean(replies, scale, found.habit.value, pool.named)
    if question.agree == "low":
        mean = _mirrored(mean, scale)
    valid = None
    if rule is not None and rule.statistic == "mean":
        sizes = Counter(reply.item for reply in replies)
        told = {
            item: one.score if question.agree == "high" else scale.mirrored(one.score)
            for item, one in scores.items()
            if sizes[item] >= rule.least_judges
        }
        one_score = replace(rule, least_judges=1)
        held = [bool(one_score.holds([score])) for score in told.values()]
        valid = Rate(sum(held), len(held), "judged items")
    return Agreeing(label, scale, found, mean, valid)


def _mirrored(one: Estimate, scale: Scale) -> Estimate:
    def end(value: float | None) -> float | None:
        return None if value is None else scale.mirrored(value)

    return Estimate(end(one.value), end(one.high), end(one.low), one.of, one.items, one.judges)
