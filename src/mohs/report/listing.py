"""The list of attempts on a page: which rows it has, which columns, and each row as the page's script draws it."""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from mohs.records import Outcome, Record
from mohs.report.template import embedded
from mohs.text import Text

MOST_ROWS = 2000
_LONGEST_NAME = 48  # an attack that was built by hand is named by its settings, which can fill a screen

Piece = str | list[str] | dict[str, str]  # as it was; old word, new word and its source; a patch pair


class Listing:
    """What the page needs of the records, gathered while they stream by: counts, and the rows worth showing.

    Of too many rows successes stay first and skipped ones last, and the attacks share the room.
    """

    def __init__(self, row: Callable[[Record, int], dict[str, Any]]) -> None:
        self.attacks: dict[str, int] = {}
        self.outcomes: Counter[str] = Counter()
        self.words: dict[str, Counter[int]] = {}
        self.queries: dict[str, Counter[int]] = {}
        self._row = row
        self._kept: list[tuple[int, int, int, dict[str, Any]]] = []  # a heap, the least wanted row on top
        self._ranks: Counter[tuple[str, int]] = Counter()

    def read(self, records: Iterable[Record]) -> None:
        """Note the records of a run."""
        for number, record in enumerate(records):
            self._add(number, record)

    def _add(self, number: int, record: Record) -> None:
        attack = self.attacks.setdefault(record.attack, len(self.attacks))
        self.outcomes[str(record.outcome)] += 1
        if record.outcome is Outcome.SUCCESS:
            self.words.setdefault(record.attack, Counter())[len(record.edits)] += 1
            self.queries.setdefault(record.attack, Counter())[record.queries] += 1
        tier = {Outcome.SUCCESS: 0, Outcome.SKIPPED: 2}.get(record.outcome, 1)
        rank = self._ranks[record.attack, tier]
        self._ranks[record.attack, tier] += 1
        key = (-tier, -rank, -number)
        if len(self._kept) < MOST_ROWS:
            heapq.heappush(self._kept, (*key, self._row(record, attack)))
        elif key > self._kept[0][:3]:
            heapq.heapreplace(self._kept, (*key, self._row(record, attack)))

    def rows(self) -> list[dict[str, Any]]:
        """The rows kept, in the order of the run."""
        return [row for *_, row in sorted(self._kept, key=lambda kept: -kept[2])]

    def values(
        self,
        attacks: Iterable[str],
        columns: list[dict[str, Any]],
        called: Mapping[str, str] | None = None,
        **more: Any,
    ) -> dict[str, Any]:
        """What the template of the list needs; `called` are other names for outcomes, and the script is told `more`."""
        rows = self.rows()
        here = Counter(row["outcome"] for row in rows)
        renamed = {} if called is None else {"called": called}
        data = {"attacks": list(attacks), "columns": columns, **renamed, "rows": rows, **more}
        return {
            "columns": columns,
            "data": embedded(data),
            "outcomes": {str(o): (here[o], self.outcomes[o]) for o in Outcome if self.outcomes[o]},
            "called": called or {},
            "total": self.outcomes.total(),
            "shown": len(rows),
        }


def column(cell: str, name: str, width: float | None, *, right: bool = False, then: str = "") -> dict[str, Any]:
    """A column of the list: its kind of cell, its head and its share of the width; all but the text sort the list.

    `then` is the head of a second thing to sort by.
    """
    heads = [[None if cell == "text" else cell, name]]
    return {"cell": cell, "heads": [*heads, ["after", then]] if then else heads, "width": width, "right": right}


def named(label: int, labels: Sequence[str]) -> str:
    """What a class is called."""
    return str(labels[label]) if 0 <= label < len(labels) else str(label)


def said_of(record: Record, labels: Sequence[str]) -> str | None:
    """The class predicted in the end, where it is not the true one."""
    last = record.scores_after or record.scores_before
    said = first_of_highest(last) if last else record.label
    return named(said, labels) if said != record.label else None


def first_of_highest(scores: Sequence[float]) -> int:
    """The class predicted."""
    return max(range(len(scores)), key=scores.__getitem__)


def share(scores: Sequence[float], label: int) -> float | None:
    """A class's probability as the page shows it, None where it is none."""
    found = scores[label] if 0 <= label < len(scores) else math.nan
    return round(found, 4) if math.isfinite(found) else None


def row_of(record: Record, attack: int, labels: Sequence[str]) -> dict[str, Any]:
    """What the row of any record has."""
    row: dict[str, Any] = {
        "id": record.example_id,
        "attack": attack,
        "outcome": str(record.outcome),
        "label": named(record.label, labels),
        "said": None,
        "changed": len(record.edits) if record.perturbed is not None else None,
        "queries": record.queries,
        "text": pieces(record),
    }
    if len(record.original) > 1:
        row["names"] = list(record.names)
    if record.near_tie:
        row["tie"] = True
    if record.beyond_window:
        row["beyond"] = record.beyond_window
    if record.error is not None:
        row |= {"error": record.error, "traceback": record.traceback}
    return row


class Placed(Protocol):
    """A word that may stand at a place."""

    @property
    def position(self) -> int:
        """Of the word in the text."""
        ...

    @property
    def new(self) -> str:
        """The other word."""
        ...


def pieces(record: Record, patch: Placed | None = None) -> list[list[Piece]]:
    """For each field its text in pieces."""
    edits = {edit.position: edit for edit in record.edits}
    at = patch.position if patch else None
    found: list[list[Piece]] = [[] for _ in record.original]
    ends = [0] * len(record.original)
    spans = Text(*record.original).spans() if edits or patch else []
    for position, (field, start, end) in enumerate(spans):
        if position not in edits and position != at:
            continue
        found[field].append(record.original[field][ends[field] : start])
        if position in edits:
            found[field].append([*edits[position][1:]])
        if patch and position == at:
            old = edits[position].new if position in edits else record.original[field][start:end]
            found[field].append({"old": old, "new": patch.new})
        ends[field] = end
    for parts, string, end in zip(found, record.original, ends, strict=True):
        parts.append(string[end:])
    return found


def short_names(attacks: Iterable[str]) -> dict[str, str]:
    """The attacks' names, cut where they are too long and kept apart."""
    found: dict[str, str] = {}
    for attack in attacks:
        short = attack if len(attack) <= _LONGEST_NAME else attack[: _LONGEST_NAME - 1] + "…"
        same = sum(other[: _LONGEST_NAME - 1] == attack[: _LONGEST_NAME - 1] for other in found)
        found[attack] = f"{short} ({same + 1})" if same and short != attack else short
    return found
