"""Judges the changed words of finished texts, without a search around it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random
from typing import Any

from mohs.models.tagger import PocketTagger
from mohs.space import Acceptable, Services
from mohs.text import Text
from mohs.text.calibration import Calibration


class _Tagging:
    def __init__(self) -> None:
        self.tagger = PocketTagger()

    async def ask(self, spots: Any) -> Any:
        return self.tagger.collect(list(spots))


def load(judge: str) -> Any:
    """The judge of that name."""
    from mohs.text.judge import load_judge

    found = load_judge(judge)
    if not hasattr(found, "calibration"):
        object.__setattr__(found, "calibration", Calibration())
    return found


def word_values(pairs: Sequence[tuple[Text, Text]], judge: Any) -> list[tuple[float, ...] | None]:
    """The probabilities."""
    measure, ask = Acceptable(), Services({"tagger": _Tagging(), "judge": judge}, Random(0))
    out: list[tuple[float, ...] | None] = []
    for x, y in pairs:
        if not x.same_shape(y) or not x.changes(y):
            out.append(None)
            continue
        coroutine = measure.of_changes(x, {edit.position: [edit.new] for edit in x.edits(y)}, ask)
        try:
            coroutine.send(None)
            raise AssertionError
        except StopIteration as done:
            values = tuple(done.value.values())
        out.append(None if any(map(math.isnan, values)) else values)
    return out
