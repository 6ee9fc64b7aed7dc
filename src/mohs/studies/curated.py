"""Curation by labels as in AdvGLUE: which texts people agree on, and whether that is the original label (paper 002)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mohs.report.rates import Rate
from mohs.studies.agreement import HumanAccuracy, consensus, human_accuracy
from mohs.studies.item import Item, Role, State
from mohs.studies.pool import Pool
from mohs.studies.ratings import Estimate, Ratings
from mohs.studies.study import Study
from mohs.studies.validity import Rule


@dataclass(frozen=True)
class Curated:
    """What curation keeps and why it rejects. The three shares are of items with a verdict and add up to one.

    filter_rate: the share rejected; for the successes of a run this is 1 - curated ASR / ASR (3.4 of the paper).
    """

    kept: Rate
    no_consensus: Rate
    other_label: Rate  # people agree, and not on the original label
    accuracy: HumanAccuracy  # on the texts kept: Table 3 of the paper has `with_own`

    @property
    def filter_rate(self) -> float | None:
        """The share that curation rejects."""
        return None if self.kept.value is None else 1 - self.kept.value

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dict."""
        shares = {name: getattr(self, name).to_json() for name in ("kept", "no_consensus", "other_label")}
        return {**shares, "filter_rate": self.filter_rate, "accuracy_curated": self.accuracy.to_json()}


@dataclass(frozen=True)
class Trained:
    """How the training went, and how well those who passed know the task.

    unchanged: judgements of unchanged texts against their known labels.
    """

    passed: Rate
    unchanged: Estimate
    accuracy: HumanAccuracy | None  # on the same texts, one judge against the others

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dict."""
        accuracy = None if self.accuracy is None else self.accuracy.to_json()
        return {"passed": self.passed.to_json(), "unchanged": self.unchanged.to_json(), "agreement": accuracy}


def curated(ratings: Ratings, rule: Rule, expected: Mapping[str, float], held: Mapping[str, bool | None]) -> Curated:
    """What curation keeps. held: the verdicts by the rule."""
    decided = {item: verdict for item, verdict in held.items() if verdict is not None}
    least = rule.least_agreeing or 1
    agreed = {item: consensus(ratings.by_item[item], least) for item in decided}
    other = sum(label is not None and label != expected[item] for item, label in agreed.items())
    kept, none = sum(decided.values()), sum(label is None for label in agreed.values())
    return Curated(
        Rate(kept, len(decided), "judged items"),
        Rate(none, len(decided), "judged items"),
        Rate(other, len(decided), "judged items"),
        human_accuracy(ratings.keep({item for item, verdict in decided.items() if verdict})),
    )


def trained(study: Study, pool: Pool) -> Trained | None:
    """How people did before the main part; None if the design has neither training nor unchanged texts."""
    items = [item for item in pool.items.values() if item.role is Role.ACCURACY]
    if study.design.training is None and not items:
        return None
    accuracy = None
    unchanged = Estimate(None, None, None, "judgements of unchanged texts", 0, None)
    ratings = pool.ratings(items)
    if ratings.values:
        accuracy = human_accuracy(ratings, {item.key: float(item.expected[0]) for item in items if item.expected})
        if accuracy.known is not None:
            unchanged = accuracy.known
    return Trained(_passed(study, pool.items), unchanged, accuracy)


def _passed(study: Study, items: Mapping[str, Item]) -> Rate:
    """Of those who ended their training: who answered something after it passed."""
    after = {one.annotator for one in study.judgements() if items[one.item].role is not Role.TRAINING}
    during = {one.annotator for one in study.judgements() if items[one.item].role is Role.TRAINING}
    people = [who for who in study.annotators() if who.name in during]
    failed = sum(who.state is State.FAILED for who in people)
    passed = sum(
        who.state is not State.FAILED and (who.state in (State.WORKING, State.FINISHED) or who.name in after)
        for who in people
    )
    return Rate(passed, passed + failed, "people who ended the training")
