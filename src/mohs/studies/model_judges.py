"""Judges that are models, beside people: how often they agree. A model's answers are in no other figure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

from mohs.report.rates import Rate
from mohs.studies.agreement import beside_others, consensus, fleiss_kappa, krippendorff_alpha, near
from mohs.studies.design import Question
from mohs.studies.item import Role
from mohs.studies.pool import Pool
from mohs.studies.question_figures import is_scale
from mohs.studies.ratings import Estimate, Ratings
from mohs.studies.relations import rank_correlation
from mohs.studies.validity import Rule, verdicts
from mohs.studies.verdict_rule import expected_of, judged_valid

_LEAST = 2  # people on an item, so that there is something to agree with


@dataclass(frozen=True)
class ModelJudge:
    """How one model agrees with people on one question. Items with fewer than two people are left out.

    agreeing: answers within one point of people's mean on a scale, else those that are people's majority (an item with
    a tie is left out). beyond_chance: Krippendorff's alpha of the model's score and people's mean on a scale, else
    Fleiss' kappa of its label and people's majority. same_verdict: whether an item is valid, by the model's one answer
    and by people.
    """

    model: str
    question: str
    answered: int  # main items
    agreeing: Rate
    beyond_chance: Estimate
    correlation: Estimate | None  # Spearman's, of its scores with people's mean scores
    difference: float | None  # its mean score minus people's, on the same items
    same_verdict: Rate | None
    people: Estimate  # the same share for one person against the others: what to compare `agreeing` with

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dict."""
        return {
            "model": self.model,
            "question": self.question,
            "answered": self.answered,
            "agreeing": self.agreeing.to_json(),
            "beyond_chance": self.beyond_chance.to_json(),
            "correlation": None if self.correlation is None else self.correlation.to_json(),
            "difference": self.difference,
            "same_verdict": None if self.same_verdict is None else self.same_verdict.to_json(),
            "people": self.people.to_json(),
        }


def model_judges(people: Pool, models: Sequence[Pool], rule: Rule | None) -> tuple[ModelJudge, ...]:
    """Each model on each question that it answered."""
    return tuple(
        _compared(people, model, question, rule)
        for model in models
        for question in people.design.questions
        if any(people.items[one.item].question == question.name for one in model.judgements)
    )


def _compared(people: Pool, model: Pool, question: Question, rule: Rule | None) -> ModelJudge:
    items = [item for item in people.items.values() if item.role is Role.MAIN and item.question == question.name]
    own = {item: values[0] for item, values in model.ratings(items).by_item.items()}
    theirs = people.ratings(items)
    panels = {item: values for item, values in theirs.by_item.items() if len(values) >= _LEAST}
    shared = [item for item in own if item in panels]
    correlation, difference = None, None
    if is_scale(question):
        of = "items, within one point of people's mean"
        means = {item: fmean(panels[item]) for item in shared}
        agreeing = Rate(sum(near(own[item], means[item]) for item in shared), len(shared), of)
        both = [(item, who, value) for item in shared for who, value in (("m", own[item]), ("p", means[item]))]
        beyond = krippendorff_alpha(Ratings.of(both), "interval")
        correlation = rank_correlation(dict(own), means)
        difference = fmean(own[item] - means[item] for item in shared) if shared else None
    else:
        of = "items with a majority of people"
        majority = {item: label for item in shared if (label := consensus(panels[item], 1)) is not None}
        agreeing = Rate(sum(own[item] == label for item, label in majority.items()), len(majority), of)
        both = [(item, who, value) for item in majority for who, value in (("m", own[item]), ("p", majority[item]))]
        beyond = fleiss_kappa(Ratings.of(both))
    return ModelJudge(
        model.whose,
        question.name,
        len(own),
        agreeing,
        beyond,
        correlation,
        difference,
        _verdicts(people, model, question, rule),
        beside_others(theirs, is_scale(question)),
    )


def _verdicts(people: Pool, model: Pool, question: Question, rule: Rule | None) -> Rate | None:
    """Whether model and people find the same items valid; only where one answer can say so."""
    valid = people.design.valid
    if rule is None or valid is None or valid.question != question.name:
        return None
    items = judged_valid(people.design, [item for item in people.items.values() if item.role is Role.MAIN])
    expected = expected_of(people.design, items)
    theirs = verdicts(people.ratings(items), rule, expected)
    one_judge = 1 if rule.statistic == "consensus" else None
    alone = replace(rule, least_agreeing=one_judge, least_judges=1)
    own = verdicts(model.ratings(items), alone, expected)
    same = [
        own[item] == verdict for item, verdict in theirs.items() if verdict is not None and own.get(item) is not None
    ]
    return Rate(sum(same), len(same), "items with a verdict of people")
