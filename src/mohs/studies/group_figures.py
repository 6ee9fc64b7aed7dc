"""The figures of one attack in a study, or of all of them together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from mohs.studies.confusion import Confusion, Guess, confusion
from mohs.studies.curated import Curated, curated
from mohs.studies.item import Item
from mohs.studies.pool import Pool
from mohs.studies.question_figures import QuestionFigures, question_figures
from mohs.studies.ratings import Estimate
from mohs.studies.resampled import Resampled, resampled
from mohs.studies.validity import Rule, Validity, fair_attacks, fair_success, valid_attacks, validity, verdicts
from mohs.studies.verdict_rule import (
    at_threshold,
    expected_of,
    is_altered,
    is_direct,
    judged_valid,
    thresholds_of,
)
from mohs.studies.versions import Versions, versions

Measured = Literal["directly", "by formula", ""]


@dataclass(frozen=True)
class Point:
    """One point of a curve: what is valid at a threshold. attacks: None where `valid` is about whole attacks."""

    threshold: float
    valid: Validity
    attacks: Estimate | None

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dict."""
        attacks = None if self.attacks is None else self.attacks.to_json()
        return {"threshold": self.threshold, "valid": self.valid.to_json(), "attacks": attacks}


@dataclass(frozen=True)
class GroupFigures:
    """The figures of a group: an attack of a run. `valid` has no value if the design has no rule.

    measured: whether `valid_attacks` and `fair` come from judgements of whole attacks, or from those of single changes
    by Eq. 6.2 of Hauser 2021. Both are None for all attacks together, and for items of no run.
    """

    name: str
    attack: str
    run: str
    attacked: int
    successes: int
    items: int  # main items of the group, judged or not
    valid: Validity
    valid_attacks: Estimate | None
    fair: Estimate | None  # the share of attacked examples with a valid success
    measured: Measured
    bootstrap: Resampled | None  # of `valid` and, by formula, of `valid_attacks`
    questions: tuple[QuestionFigures, ...]
    curve: tuple[Point, ...]
    confusion: Confusion | None  # of a design with single texts
    recognised: Mapping[str, float] = field(repr=False)  # R of each altered text, by its key
    versions: Versions | None  # of a second-order design
    curated: Curated | None  # of a label design
    verdicts: Mapping[str, bool | None] = field(repr=False)  # by the item's key

    @property
    def success(self) -> float | None:
        """The share of attacked examples that the attack succeeded on."""
        return self.successes / self.attacked if self.attacked else None

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dict."""

        def told(part: Any) -> Any:
            return None if part is None else part.to_json()

        return {
            "name": self.name,
            "attack": self.attack,
            "run": self.run,
            "attacked": self.attacked,
            "successes": self.successes,
            "items": self.items,
            "valid": self.valid.to_json(),
            "valid_attacks": told(self.valid_attacks),
            "fair": told(self.fair),
            "measured": self.measured or None,
            "bootstrap": told(self.bootstrap),
            "questions": [one.to_json() for one in self.questions],
            "curve": [one.to_json() for one in self.curve],
            "confusion": told(self.confusion),
            "versions": told(self.versions),
            "curated": told(self.curated),
        }


def group_figures(
    pool: Pool, name: str, items: Sequence[Item], facts: Mapping[str, Any] | None, rule: Rule | None
) -> GroupFigures:
    """The figures of a group. facts: what the study knows of its run; None for all groups together."""
    design = pool.design
    about = judged_valid(design, items)
    expected = expected_of(design, about)
    ratings = pool.ratings(about)
    found = no_validity(pool)
    held: dict[str, bool | None] = {}
    curve: list[Point] = []
    changes = {int(n): int(k) for n, k in ((facts or {}).get("changes") or {}).items()}
    attacked, successes = int((facts or {}).get("attacked", 0)), int((facts or {}).get("successes", 0))
    direct = is_direct(design)
    if rule is not None:
        found = validity(ratings, rule, expected)
        held = verdicts(ratings, rule, expected)
        for threshold in thresholds_of(design, rule):
            point = validity(ratings, at_threshold(rule, threshold), expected)
            formula = valid_attacks(point, changes) if facts and not direct else None
            curve.append(Point(threshold, point, formula))
    attacks = fair = None
    measured: Measured = ""
    if rule is not None and facts and (attacked or successes):
        measured = "directly" if direct else "by formula"
        attacks = found if direct else valid_attacks(found, changes)
        fair = fair_success(successes, attacked, found) if direct else fair_attacks(found, changes, attacked)
    valid = {key for key, verdict in held.items() if verdict}
    asked = {item.question for item in items}
    questions = tuple(
        question_figures(
            pool,
            question,
            items,
            valid if design.valid is not None and question.name == design.valid.question else None,
            rule,
        )
        for question in design.questions
        if question.name in asked
    )
    guesses = _guesses(pool, items)
    return GroupFigures(
        name=name,
        attack=str((facts or {}).get("attack", name)),
        run=str((facts or {}).get("run", "")),
        attacked=attacked,
        successes=successes,
        items=len(items),
        valid=found,
        valid_attacks=attacks,
        fair=fair,
        measured=measured,
        bootstrap=None if rule is None else resampled(ratings, rule, changes if measured == "by formula" else None),
        questions=questions,
        curve=tuple(curve),
        confusion=confusion(guesses, pool.named) if guesses else None,
        recognised=_recognised(pool, about) if guesses else {},
        versions=versions(pool, items) if design.items == "versions" else None,
        curated=curated(ratings, rule, expected, held) if design.items == "labels" and rule and expected else None,
        verdicts=held,
    )


def no_validity(pool: Pool) -> Validity:
    """The validity of no item."""
    return validity(pool.ratings([]), Rule("mean", at_least=0))


def _guesses(pool: Pool, items: Sequence[Item]) -> list[Guess]:
    """What was guessed of single texts whose truth is known."""
    design = pool.design
    if design.items != "texts":
        return []
    known = {item.key: item for item in items if item.expected}
    return [
        Guess(
            known[one.item].source,
            one.annotator,
            is_altered(design, known[one.item]),
            pool.said(one) == design.question(known[one.item].question).values[1],
        )
        for one in pool.of(known.values())
    ]


def _recognised(pool: Pool, altered: Sequence[Item]) -> dict[str, float]:
    """R of each altered text: the share of its judges who recognised it (Morris et al. 2020, 3.5)."""
    found = pool.ratings(altered).by_item
    last = {item.key: pool.design.question(item.question).values[1] for item in altered}
    return {key: given.count(float(last[key])) / len(given) for key, given in found.items()}
