"""What a reader must know before believing the figures of a run of any kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

OFTEN = 0.1  # of the examples attacked
MANY = 20  # examples, after which one label alone is no chance


def run_flags(facts: Mapping[str, Any], finished: int, planned: int) -> list[str]:
    """The signs that a run of any kind can show."""
    found = []
    if finished < planned:
        found.append(f"The run is not finished: {finished} of {planned} attempts so far, the quick ones first.")
    if not facts.get("repeats_itself", True):
        found.append(
            "The victim gave two answers to the same text: it is random or not deterministic, so none of these figures "
            "can be repeated, and an attack meets another victim with each question."
        )
    return found
