"""Warnings that a run of any kind can show: what a reader must know before trusting its figures."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

OFTEN = 0.1  # share of the attacked examples
MANY = 20  # examples: if this many all have one label, that is no coincidence
_LEVEL = 0.05


def run_flags(facts: Mapping[str, Any], finished: int, planned: int) -> list[str]:
    """One sentence for each warning."""
    found = []
    if finished < planned:
        found.append(
            f"The run is not finished: {finished} of {planned} attempts so far, and quick attempts finish first."
        )
    if not facts.get("repeats_itself", True):
        found.append(
            "The victim gave two answers to the same text, so it is not deterministic: these figures cannot be "
            "reproduced, and an attack faces a different victim at each query."
        )
    if not facts.get("alike_in_batches", True):
        found.append(
            "The victim answers differently in batches than alone, by more than rounding: searches were misled, so "
            "failures say nothing, and nothing is certified; check that it answers in the order of its texts."
        )
    if facts.get("changed"):
        found.append(
            f"At the end of the run the victim answered {facts['changed']:.0f} texts otherwise than before its start: "
            "it changed in between, so these figures mix several victims."
        )
    return found


def near_chance(right: int, total: int, classes: int, most: int | None = None) -> list[str]:
    """A warning if a victim cannot be told from one that guesses. most: examples of the most frequent class, if known.

    The test is one-sided and binomial: how often a constant answer, or a guess, would be right as often or more often.
    """
    guess = 1 / max(classes, 2)
    share = guess if most is None or most == total else max(guess, most / max(total, 1))
    if total < MANY or (p := at_least(right, total, share)) <= _LEVEL:
        return []
    rival = f"guessing among {max(classes, 2)} classes" if share == guess else "always the most frequent class"
    return [
        f"The victim read {right} of {total} examples right, which is not clearly better than {rival} ({share:.0%}; "
        f"p = {p:.2g}, one-sided binomial test): how easily a guess is changed means little; check the victim and its "
        "labels, or use more examples."
    ]


def at_least(hits: int, total: int, share: float) -> float:
    """The probability of this many or more hits among `total`, each with probability `share`."""
    if hits <= 0 or share >= 1:
        return 1.0
    step = math.log(share) - math.log1p(-share)
    log = math.lgamma(total + 1) - math.lgamma(hits + 1) - math.lgamma(total - hits + 1)
    log += hits * math.log(share) + (total - hits) * math.log1p(-share)
    terms = []
    for count in range(hits, total + 1):
        terms.append(math.exp(log))
        log += step + math.log(total - count) - math.log(count + 1) if count < total else 0.0
    return min(1.0, math.fsum(terms))
