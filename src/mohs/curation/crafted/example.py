"""One crafted example with its origin, and what a reader of such examples is told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mohs.studies.reading import Fault


@dataclass(frozen=True)
class CraftedExample:
    """A labelled example that no attack made. Its label holds by the way it was made, or by the word of its authors."""

    id: str  # unique in its set
    fields: tuple[str, ...]  # in the order of its kind of task: premise, hypothesis; question, sentence ...
    label: str  # the class by its name
    method: str  # the test, rule or round that it comes from
    licence: str = ""


@dataclass(frozen=True)
class Order:
    """What a reader is asked for."""

    file: str  # empty for what is bundled
    kind: str  # of task: sentiment, nli, paraphrase, qnli or other
    seed: int = 0
    fields: tuple[str, ...] = ()  # columns with the texts
    options: Mapping[str, Any] = field(default_factory=dict)
    licence: str = ""  # as the user gives it; by default what the format knows

    def only_for(self, *kinds: str) -> None:
        """Refuse tasks of other kinds; a kind that is not known may be any."""
        if self.kind not in (*kinds, "other"):
            raise Fault(f"its format is for tasks of the kind {' or '.join(kinds)}, not {self.kind}; leave it out")
