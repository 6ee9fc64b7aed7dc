"""The frame around every task: a search's result, or the exception it raises, becomes a record."""

from __future__ import annotations

import traceback
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from mohs.errors import MohsError
from mohs.models.victim import Fields, Scores
from mohs.records import Outcome, Record
from mohs.tasks.subject import Target
from mohs.text import Example
from mohs.text.text import Edit

NEAR_TIE = 1e-4  # the shape of a batch changes scores by less than this


@dataclass
class Draft:
    """An unfinished record. It keeps what is known so far even if the search then raises."""

    scores_before: Scores = ()
    positions: int = 0
    beyond_window: int = 0
    perturbed: Fields | None = None
    edits: tuple[Edit, ...] = ()
    scores_after: Scores = ()
    queries: int = 0
    measures: dict[str, float] = field(default_factory=dict)
    near_tie: bool = False
    finding: Any = None

    async def probe(self, target: Target, example: Example) -> Scores:
        """Ask the judge about the original."""
        (self.scores_before,) = await target.judge.ask([example.text.fields])
        return self.scores_before

    def look(self, target: Target, example: Example) -> tuple[int, ...]:
        """The positions that may change. Notes how many words lie beyond the victim's window."""
        positions = target.window(example)
        self.beyond_window = len(example.positions) - len(positions)
        return target.free(example, positions)


async def attempt(name: str, example: Example, seed: int, search: Callable[[Draft], Awaitable[Outcome]]) -> Record:
    """The record of a search that fills in a draft; an exception becomes the outcome `error`."""
    draft = Draft()
    error = trace = None
    try:
        outcome = await search(draft)
    except Exception as raised:
        outcome, trace = Outcome.ERROR, traceback.format_exc()
        sentence = str(raised) if isinstance(raised, MohsError) else f"{type(raised).__name__}: {raised}"
        error = " ".join(sentence.split())
    return Record(
        attack=name,
        example_id=example.id,
        outcome=outcome,
        label=example.label,
        names=example.names,
        original=example.text.fields,
        seed=seed,
        words=len(example.text),
        **vars(draft),
        error=error,
        traceback=trace,
    )
