"""The rule by which a study's items count as valid: from the design, or with another threshold."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

from mohs.errors import BadInput
from mohs.studies.design import Design
from mohs.studies.item import Item
from mohs.studies.validity import Rule

_STEPS = 24  # of a curve over a scale
_DIRECT = ("pairs", "labels", "texts")  # designs that show whole texts, so that attacks are judged and not changes


def rule_of(design: Design, threshold: float | None = None, least_judges: int | None = None) -> Rule | None:
    """The rule of a design; None if it has none. least_judges: by default half of those that the design wants."""
    valid = design.valid
    if valid is None:
        if threshold is not None:
            raise BadInput(f"The design {design.name} says nowhere when an item is valid, so it has no threshold.")
        return None
    agreeing = valid.least_agreeing
    if threshold is not None and valid.statistic == "consensus":
        if threshold != int(threshold) or not 1 <= threshold <= design.judges:
            raise BadInput(
                f"The threshold is {threshold:g}; for a consensus it is a number of judges from 1 to {design.judges}."
            )
        agreeing = int(threshold)
    elif threshold is not None:
        low, high = ends_of(design)
        if not low <= threshold <= high:
            raise BadInput(
                f"The threshold is {threshold:g}; the {valid.statistic} of an item's answers lies between {low:g} and "
                f"{high:g}."
            )
        valid = valid.with_limit(threshold)
    least = max(math.ceil(design.judges / 2), agreeing or 1) if least_judges is None else max(least_judges, 1)
    return Rule(
        valid.statistic,  # type: ignore[arg-type]  # the design's reader checks it
        at_most=valid.at_most,
        at_least=valid.at_least,
        below=valid.below,
        answer=valid.answer,
        least_agreeing=agreeing,
        least_judges=least,
    )


def rule_told(design: Design, rule: Rule) -> str:
    """The rule in a few words, such as "mean of meaning <= 2"."""
    assert design.valid is not None
    limits = {name: getattr(rule, name) for name in ("at_most", "at_least", "below", "least_agreeing")}
    told = str(replace(design.valid, **limits))
    if rule.statistic == "consensus":
        return told
    return told.replace(rule.statistic, f"{rule.statistic} of {design.valid.question}", 1)


def ends_of(design: Design) -> tuple[float, float]:
    """The least and the greatest number that the statistic of a design's rule can be, if that is no consensus."""
    assert design.valid is not None
    if design.valid.statistic == "share":
        return 0.0, 1.0
    values = design.question(design.valid.question).values
    return float(min(values)), float(max(values))


def thresholds_of(design: Design, rule: Rule) -> list[float]:
    """Where a curve of validity has its points: all over what the rule's statistic can be."""
    if rule.statistic == "consensus":
        return [float(n) for n in range(1, design.judges + 1)]
    if rule.statistic == "share":
        return [round(n / 20, 2) for n in range(21)]
    low, high = ends_of(design)
    step = next(step for step in (0.1, 0.25, 0.5, 1.0, 5.0, 25.0, 100.0) if (high - low) / step <= _STEPS)
    return [round(low + n * step, 6) for n in range(int((high - low) / step) + 1)]


def at_threshold(rule: Rule, threshold: float) -> Rule:
    """The rule at a point of its curve."""
    if rule.statistic == "consensus":
        least = max(rule.least_judges, int(threshold))  # fewer judges cannot agree so often
        return Rule("consensus", least_agreeing=int(threshold), least_judges=least)
    return rule.at(threshold)


def threshold_of(rule: Rule) -> float:
    """The rule's own threshold."""
    if rule.statistic == "consensus":
        return float(rule.least_agreeing or 0)
    (bound,) = rule.bounds.values()
    return bound


def judged_valid(design: Design, items: Iterable[Item]) -> list[Item]:
    """The items that the rule is about: its question, and of single texts only the altered ones."""
    valid = design.valid
    if valid is None:
        return []
    found = [item for item in items if item.question == valid.question]
    return [item for item in found if is_altered(design, item)] if design.items == "texts" else found


def is_altered(design: Design, item: Item) -> bool:
    """Whether a single text is the attack's: the second answer is right for it."""
    return bool(item.expected) and item.expected[0] == design.question(item.question).values[1]


def is_direct(design: Design) -> bool:
    """Whether whole attacks are judged; otherwise it is their single changes."""
    return design.items in _DIRECT


def expected_of(design: Design, items: Iterable[Item]) -> dict[str, float] | None:
    """The answers that a consensus must agree on: original labels. None for other rules."""
    if design.valid is None or design.valid.statistic != "consensus":
        return None
    return {item.key: float(item.expected[0]) for item in items if item.expected}
