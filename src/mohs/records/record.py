"""The result of one attack on one example."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any

from mohs.records.finding import finding_from_json, finding_to_json
from mohs.text.text import Edit


class Outcome(StrEnum):
    """How an attempt ended."""

    SUCCESS = "success"  # the victim, asked again, is fooled
    FAILED = "failed"  # the search ended without fooling it
    SKIPPED = "skipped"  # the original met the goal already, or (targeted) was misread: nothing to attack
    EXHAUSTED = "exhausted"  # the query budget was spent without fooling it
    DETECTED = "detected"  # the search ended with a text that the victim rejects: it withstood
    REJECTED = "rejected"  # the victim rejects the original: a false alarm, and nothing to attack
    MEASURED = "measured"  # nothing was to be won: the record holds a measurement
    ERROR = "error"  # something raised; says nothing about the victim's robustness


@dataclass(frozen=True)
class Record:
    """Everything to know about one attempt; a function of victim, example, attack and seed alone."""

    attack: str
    example_id: str
    outcome: Outcome
    label: int
    names: tuple[str, ...]
    original: tuple[str, ...]
    seed: int
    words: int  # in all fields
    positions: int = 0  # words that had at least one allowed replacement
    perturbed: tuple[str, ...] | None = None  # the text the attack ended with; adversarial if it succeeded
    edits: tuple[Edit, ...] = ()
    scores_before: tuple[float, ...] = ()
    scores_after: tuple[float, ...] = ()
    queries: int = 0  # distinct texts the search asked the victim, the original included
    measures: dict[str, float] = field(default_factory=dict)  # of the perturbed text against the original
    beyond_window: int = 0  # words the victim cannot see, which were not attacked
    near_tie: bool = False  # the verdict stands on a margin under 1e-4
    finding: Any = None  # what only the verb of this run finds: see mohs.records.finding; `details` in JSON
    by: str = ""  # the member that succeeded, where the attack is a battery of several
    error: str | None = None  # one sentence
    traceback: str | None = field(default=None, compare=False)  # where it raised, which depends on the schedule

    def __post_init__(self) -> None:
        for name in ("error", "traceback"):  # may quote anything; what no encoding can write becomes an escape
            quoted = getattr(self, name)
            if quoted is not None:
                object.__setattr__(self, name, quoted.encode("utf-8", "backslashreplace").decode("utf-8"))

    def to_row(self) -> dict[str, Any]:
        """The fields by name, in order; the finding as plain values under `details`."""
        row = {("details" if name == "finding" else name): value for name, value in vars(self).items()}
        row["details"] = {} if self.finding is None else finding_to_json(self.finding)
        return row

    def to_json(self) -> str:
        """One line of JSON."""
        return json.dumps(self.to_row(), ensure_ascii=False)

    @classmethod
    def from_json(cls, line: str, kind: type | None = None) -> Record:
        """Read back what to_json wrote; unknown keys of a newer version are ignored.

        kind: what its finding is; without one it stays a dictionary.
        """
        row = json.loads(line)
        details = row.pop("details", None)
        known = {f.name for f in fields(cls)}
        values: dict[str, Any] = {key: value for key, value in row.items() if key in known}
        for key in ("names", "original", "perturbed", "scores_before", "scores_after"):
            if values.get(key) is not None:
                values[key] = tuple(values[key])
        values["edits"] = tuple(Edit(*edit) for edit in values.get("edits", ()))
        values["outcome"] = Outcome(values["outcome"])
        values["finding"] = finding_from_json(kind, details) if details and kind is not None else details or None
        return cls(**values)
