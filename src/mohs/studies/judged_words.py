"""What the bundled judge says of the changed words of a study's items, before its rule for reversals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeGuard

from mohs.models.refit import log_odds
from mohs.report.judged import word_values
from mohs.studies.design import Design
from mohs.studies.item import Item
from mohs.text import Text
from mohs.text.judge import Judge

_NO_CEILING, _TELLING_CEILING = 1.0, -1.0  # what a reversal gets at most; -1 is what nothing else gets

Words = list[tuple[float, float]]  # log-odds of each changed word, and the most that it can get


def judged_words(items: Sequence[Item], design: Design, base: Judge) -> list[Words | None]:
    """The changed words of each item, with the judge's log-odds and the ceiling of reversals.

    None if the judge has no opinion on one of them; empty if none changed but in its case.
    """
    pairs = [compared(item, design) for item in items]
    asked = [pair for pair in pairs if pair is not None]
    said = word_values(asked, replace(base, ceiling=_NO_CEILING))
    marked = word_values(asked, replace(base, ceiling=_TELLING_CEILING))
    found = iter(zip(asked, said, marked, strict=True))
    return [None if pair is None else _words(*next(found), base.ceiling) for pair in pairs]


def _words(
    pair: tuple[Text, Text], said: list[float] | None, marked: list[float] | None, ceiling: float
) -> Words | None:
    if said is None or marked is None or any(map(math.isnan, said)):
        return None
    original, final = pair
    edits = original.edits(final)
    return [
        (float(log_odds(value)), ceiling if mark < 0 else 1.0)
        for edit, value, mark in zip(edits, said, marked, strict=True)
        if edit.old.lower() != edit.new.lower()
    ]


def compared(item: Item, design: Design) -> tuple[Text, Text] | None:
    """The original and the changed text that an item is about; of single changes, with that change alone."""
    original, final, place, new = (item.facts.get(name) for name in ("original", "final", "position", "new"))
    if _is_text(original):
        text = Text(*original)
        if design.items in ("words", "fragments"):
            if isinstance(place, int) and 0 <= place < len(text) and isinstance(new, str):
                return text, text.replace(place, new)
        elif _is_text(final):
            return text, Text(*final)
    return (Text(item.texts[0]), Text(item.texts[1])) if len(item.texts) == 2 else None


def _is_text(fields: Any) -> TypeGuard[Sequence[str]]:
    return isinstance(fields, list | tuple) and bool(fields) and all(isinstance(one, str) for one in fields)
