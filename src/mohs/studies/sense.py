"""Whether the parts of a design fit together: a rule that can be kept, and no setting that would do nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mohs.studies.design import Design, Valid

_SCALES = ("mean", "median")
_ONLY_FOR: dict[str, tuple[Any, tuple[str, ...]]] = {  # settings that other items have no use for, and their defaults
    "shuffled": (False, ("pairs", "words", "fragments")),
    "highlight": ("none", ("pairs", "words", "fragments")),
    "window": (11, ("words", "fragments")),
    "accuracy": (0, ("labels",)),
    "examples": (0, ("labels",)),
}


def idle_setting(design: Design) -> str:
    """Which setting does nothing for items of this kind, as the middle of a sentence; empty if there is none."""
    for name, (default, kinds) in _ONLY_FOR.items():
        if getattr(design, name) != default and design.items not in kinds:
            ways = " or ".join(f"`items: {kind}`" for kind in kinds)
            return f"{name} does nothing with `items: {design.items}`; it is for {ways}, so leave it out"
    return ""


def rule_fault(design: Design) -> str:
    """Why the rule of validity cannot be meant, in the same way."""
    valid = design.valid
    if valid is None:
        return ""
    question = design.question(valid.question)
    if valid.statistic == "consensus":
        return _consensus_fault(design, valid)
    if valid.statistic == "share":
        known = question.values
        if known and valid.answer not in known:
            return f"valid.answer is {valid.answer}, and the answers are {', '.join(map(str, known))}"
        return _limit_fault(valid, 0.0, 1.0, "a share")
    if not question.answers or question.statistic not in _SCALES:
        return (
            f"valid by {valid.statistic} needs answers on a scale, and {question.name} has none (its statistic is "
            f"{question.statistic}); use share or consensus"
        )
    return _limit_fault(valid, min(question.values), max(question.values), "an answer")


def _consensus_fault(design: Design, valid: Valid) -> str:
    if design.items != "labels":
        return (
            f"valid by consensus compares with the original label, which `items: {design.items}` have not; use mean, "
            "median or share"
        )
    least = valid.least_agreeing or 0
    if not 1 <= least <= design.judges:
        return f"valid.least_agreeing is {least}, and each item has {design.judges} judges; change one of the two"
    return ""


def _limit_fault(valid: Valid, least: float, most: float, what: str) -> str:
    for name in ("at_most", "at_least", "below"):
        limit = getattr(valid, name)
        if limit is not None and not least <= limit <= most:
            return f"valid.{name} is {limit:g}, and {what} lies between {least:g} and {most:g}"
    return ""
