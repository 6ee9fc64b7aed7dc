"""Warnings about attack runs: signs that the evaluation itself is unreliable.

Modelled on AutoAttack's checks (Croce and Hein 2020).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mohs.attacks.goal import keeps_label
from mohs.report.attack.figures import Summary
from mohs.report.flags import MANY, OFTEN, near_chance, run_flags


def flags(facts: Mapping[str, Any], summaries: Sequence[Summary], finished: int, planned: int) -> list[str]:
    """One sentence for each warning, the most serious first."""
    found = run_flags(facts, finished, planned)
    chance = 1 / max(facts.get("classes", 2), 2)
    for summary in summaries[:1]:
        interval = summary.accuracy_before.interval
        if interval is not None and interval[1] < chance:
            found.append("The victim does worse than chance: check that the labels are in the order of its classes.")
        else:
            most = max((one.accuracy_before.total for one in summary.by_class.classes), default=0)
            right, total = summary.accuracy_before.hits, summary.accuracy_before.total
            found += near_chance(right, total, facts.get("classes", 2), most)
        read = summary.accuracy_before.total
        if summary.labels == 1 and read >= MANY:
            found.append(
                f"All {read} examples have the same label: if the file is sorted, draw rows at random with --sample."
            )
    found += facts.get("notes", [])
    found += _black_beats_white(facts.get("boxes", {}), summaries)
    for summary in summaries:
        reduces = keeps_label(summary.goal)
        if reduces:
            found.append(
                f"{summary.attack} shortens texts and keeps their label ({summary.goal}): its successes do not fool "
                "the victim, so there is no accuracy under attack."
            )
        attacked = summary.success.total
        if summary.empty > OFTEN * attacked:
            found.append(
                f"{summary.attack} had no word to {'delete' if reduces else 'replace'} in {summary.empty} of "
                f"{attacked} examples: these resisted only because there was nothing to try."
            )
        spent = summary.outcomes.get("exhausted", 0)
        if spent > OFTEN * attacked:
            found.append(
                f"{summary.attack} ran out of queries on {spent} of {attacked} examples: "
                "a larger --budget may find more."
            )
        if summary.apart:
            found.append(
                f"{summary.attack}: the victim scored {summary.apart} of {attacked} final texts differently in a batch "
                "(or the answer cache has other scores) than alone, by more than rounding; the search was misled "
                "there, so its failures say nothing."
            )
        if summary.near_ties > OFTEN * attacked:
            stand = "1 verdict has" if summary.near_ties == 1 else f"{summary.near_ties} verdicts have"
            found.append(f"{summary.attack}: {stand} a margin under 1e-4 and could differ on another machine.")
    return found


def _black_beats_white(boxes: Mapping[str, str], summaries: Sequence[Summary]) -> list[str]:
    """Warn if an attack with gradients is weaker than one without. With equal goals it should not be."""
    summaries = [s for s in summaries if not keeps_label(s.goal)]
    white = [s for s in summaries if boxes.get(s.attack) == "white" and s.success.total]
    black = [s for s in summaries if boxes.get(s.attack) == "black" and s.success.total]
    if not white or not black:
        return []
    best, other = (max(side, key=lambda s: s.success.value or 0) for side in (white, black))
    if (other.success.value or 0) <= (best.success.value or 0):
        return []
    return [
        f"{other.attack}, which sees only scores, fooled the victim more often ({other.success.value:.0%}) than "
        f"{best.attack}, which sees its gradients ({best.success.value:.0%}): "
        "the gradients may be misleading, or the two attacks search different spaces."
    ]
