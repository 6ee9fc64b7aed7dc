"""Warnings that a run of any kind can show: what a reader must know before trusting its figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

OFTEN = 0.1  # share of the attacked examples
MANY = 20  # examples: if this many all have one label, that is no coincidence


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
