"""The result of one attack on one example."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from types import NoneType
from typing import Any

from mohs.records.finding import finding_from_json, finding_to_json
from mohs.text.text import Edit


class Outcome(StrEnum):
    """How an attempt ended."""

    SUCCESS = "success"  # the victim is fooled, and a second query confirms it
    FAILED = "failed"  # the search ended without fooling the victim
    SKIPPED = "skipped"  # nothing to attack: the original already met the goal, or (targeted) was misclassified
    EXHAUSTED = "exhausted"  # the query budget was spent without fooling the victim
    DETECTED = "detected"  # the victim rejected the text that the search ended with: the attack failed
    REJECTED = "rejected"  # the victim rejected the original: a false alarm, and nothing to attack
    MEASURED = "measured"  # not an attack: the record holds a measurement
    ERROR = "error"  # an exception was raised; says nothing about the victim's robustness


@dataclass(frozen=True)
class Record:
    """The result of one attempt. Depends only on victim, example, attack and seed."""

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
    queries: int = 0  # distinct texts sent to the victim, including the original
    measures: dict[str, float] = field(default_factory=dict)  # of the perturbed text against the original
    beyond_window: int = 0  # words outside the victim's window, which were not attacked
    near_tie: bool = False  # the verdict rests on a margin below 1e-4
    finding: Any = None  # the verb's own results, see mohs.records.finding; `details` in JSON
    by: str = ""  # in a battery of several attacks, the one that succeeded
    error: str | None = None  # one sentence
    traceback: str | None = field(default=None, compare=False)  # depends on the schedule, so not compared

    def __post_init__(self) -> None:
        for name in ("error", "traceback"):  # may quote anything; escape what cannot be encoded
            quoted = getattr(self, name)
            if quoted is not None:
                object.__setattr__(self, name, quoted.encode("utf-8", "backslashreplace").decode("utf-8"))

    def to_row(self) -> dict[str, Any]:
        """The fields by name, in order. The finding becomes plain values under `details`."""
        row = {("details" if name == "finding" else name): value for name, value in vars(self).items()}
        row["details"] = {} if self.finding is None else finding_to_json(self.finding)
        return row

    def to_json(self) -> str:
        """One line of JSON."""
        return json.dumps(self.to_row(), ensure_ascii=False)

    @classmethod
    def from_json(cls, line: str, kind: type | None = None) -> Record:
        """Read back what to_json wrote. Unknown keys of a newer version are ignored.

        kind: the class of its finding; without it the finding stays a dictionary.
        """
        row = json.loads(line)
        details = row.pop("details", None)
        known = {f.name for f in fields(cls)}
        values: dict[str, Any] = {key: value for key, value in row.items() if key in known}
        for key in ("names", "original", "perturbed", "scores_before", "scores_after"):
            if values.get(key) is not None:
                values[key] = tuple(values[key])
        _check(values)
        values["edits"] = tuple(Edit(*edit) for edit in values.get("edits", ()))
        values["outcome"] = Outcome(values["outcome"])
        values["finding"] = finding_from_json(kind, details) if details and kind is not None else details or None
        return cls(**values)


_NUMBER = (int, float)
_KINDS: dict[str, Any] = {
    **dict.fromkeys(("attack", "example_id", "by"), str),
    **dict.fromkeys(("label", "seed", "words", "positions", "queries", "beyond_window"), int),
    **dict.fromkeys(("error", "traceback"), (str, NoneType)),
    "measures": dict,
}
_KINDS_OF_PARTS: dict[str, Any] = {
    **dict.fromkeys(("names", "original", "perturbed"), str),
    **dict.fromkeys(("scores_before", "scores_after"), _NUMBER),
}


def _check(values: Mapping[str, Any]) -> None:
    """Refuse values of other types than a record has: a checksum that fits does not say who wrote it."""
    for name, kind in _KINDS.items():
        if name in values and not isinstance(values[name], kind):
            raise TypeError(f"its {name} is {values[name]!r:.40}")
    for name, kind in _KINDS_OF_PARTS.items():
        for part in values.get(name) or ():
            if not isinstance(part, kind):
                raise TypeError(f"its {name} has {part!r:.40}")
    for name, value in values.get("measures", {}).items():
        if not isinstance(value, _NUMBER):
            raise TypeError(f"its measure {name} is {value!r:.40}")
