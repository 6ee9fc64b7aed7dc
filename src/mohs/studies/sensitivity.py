"""How much the figures of a study hang on annotators whose work looks wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mohs.studies.item import COUNTED, PEOPLE, Item, State
from mohs.studies.pool import Pool
from mohs.studies.quality import Quality
from mohs.studies.question_figures import is_scale
from mohs.studies.ratings import Estimate, mean_score
from mohs.studies.validity import Rule, Validity, validity
from mohs.studies.verdict_rule import expected_of, judged_valid


@dataclass(frozen=True)
class Changed:
    """One figure with and without the flagged annotators."""

    name: str
    all: Estimate
    rest: Estimate

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dict."""
        return {"figure": self.name, "all": self.all.to_json(), "without_flagged": self.rest.to_json()}


@dataclass(frozen=True)
class Sensitivity:
    """What changes if the judgements of flagged annotators are left out."""

    flagged: tuple[str, ...]
    judgements: int  # of main and accuracy items, by them
    figures: tuple[Changed, ...]

    def __str__(self) -> str:
        if not self.flagged:
            return "No annotator is flagged."
        who = f"{len(self.flagged)} annotator{'s are' if len(self.flagged) > 1 else ' is'} flagged"
        told = [_said(one) for one in self.figures]
        changes = f" Without them, {' and '.join(told)}." if told else ""
        return f"{who} ({', '.join(self.flagged)}), with {self.judgements:,} judgements.{changes}"

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dict."""
        return {
            "flagged": list(self.flagged),
            "judgements": self.judgements,
            "figures": [one.to_json() for one in self.figures],
            "said": str(self),
        }


def sensitivity(pool: Pool, found: Quality, rule: Rule | None) -> Sensitivity:
    """Compare the figures of all people with those of people who are not flagged."""
    judged = {one.annotator for one in pool.judgements}
    flagged = tuple(
        one.annotator.name
        for one in found.work
        if one.flags
        and one.annotator.name in judged
        and one.annotator.kind in PEOPLE
        and one.annotator.state is not State.ASIDE
    )
    rest = pool.without(flagged)
    items = pool.main()
    figures: list[Changed] = []
    if flagged:
        if rule is not None:
            about = judged_valid(pool.design, items)
            figures.append(Changed("valid items", _valid(pool, about, rule), _valid(rest, about, rule)))
        for question in pool.design.questions:
            if is_scale(question):
                own = [item for item in items if item.question == question.name]
                ends = min(question.values), max(question.values)
                means = (mean_score(one.ratings(own), *ends) for one in (pool, rest))
                figures.append(Changed(f"mean of {question.name}", *means))
    counted = {item.key for item in pool.items.values() if item.role in COUNTED}
    by_them = sum(one.annotator in flagged and one.item in counted for one in pool.judgements)
    return Sensitivity(flagged, by_them, tuple(figures))


def _valid(pool: Pool, items: Sequence[Item], rule: Rule) -> Validity:
    return validity(pool.ratings(items), rule, expected_of(pool.design, items))


def _said(one: Changed) -> str:
    share = isinstance(one.all, Validity)

    def written(value: float | None) -> str:
        return "-" if value is None else f"{value:.1%}" if share else f"{value:.2f}"

    before, after = written(one.all.value), written(one.rest.value)
    name = "the share of valid items" if share else f"the {one.name}"
    if one.rest.value is None:
        return f"{name}, which is {before}, is not known"
    return f"{name} stays {before}" if before == after else f"{name} goes from {before} to {after}"
