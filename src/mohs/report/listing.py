"""The list of attempts on a page: its rows, its columns, and each row in the form that the page's script draws."""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from mohs.records import Outcome, Record
from mohs.report.names import shortened
from mohs.report.template import embedded
from mohs.text import Edit, Text
from mohs.text.alignment import is_rewrite, stretches
from mohs.text.characters import odd_characters
from mohs.text.text import split_words

MOST_ROWS = 2000
_LONGEST_NAME = 48  # a hand-built attack is named by its settings, which can fill a screen

# Unchanged text; a patch pair; or [old word, new word, its source] and, if some are odd, the odd characters of both.
Piece = str | list[Any] | dict[str, str]


class Listing:
    """Collects what the page needs while the records stream by: counts, and the rows worth showing.

    If there are too many rows, it keeps successes first and skipped ones last, and all attacks get equal room.
    """

    def __init__(self, row: Callable[[Record, int], dict[str, Any]]) -> None:
        self.attacks: dict[str, int] = {}
        self.outcomes: Counter[str] = Counter()
        self.words: dict[str, Counter[int]] = {}
        self.queries: dict[str, Counter[int]] = {}
        self._row = row
        self._kept: list[tuple[int, int, int, dict[str, Any]]] = []  # a heap with the least important row on top
        self._ranks: Counter[tuple[str, int]] = Counter()

    def read(self, records: Iterable[Record]) -> None:
        """Collect from the records of a run."""
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
        """The kept rows, in the order of the run."""
        return [row for *_, row in sorted(self._kept, key=lambda kept: -kept[2])]

    def values(
        self,
        attacks: Iterable[str],
        columns: list[dict[str, Any]],
        called: Mapping[str, str] | None = None,
        filters: Mapping[str, str] | None = None,
        **more: Any,
    ) -> dict[str, Any]:
        """The values for the list's template.

        called: other names for outcomes. filters: keys of rows whose values can be chosen, with their headings; one
        that has a single value is left out. more: passed on to the script.
        """
        rows = self.rows()
        here = Counter(row["outcome"] for row in rows)
        renamed = {} if called is None else {"called": called}
        data = {"attacks": list(attacks), "columns": columns, **renamed, "rows": rows, **more}
        return {
            "columns": columns,
            "data": embedded(data),
            "outcomes": {str(o): (here[o], self.outcomes[o]) for o in Outcome if self.outcomes[o]},
            "called": called or {},
            "filters": [
                {"key": key, "name": name, "values": found}
                for key, name in (filters or {}).items()
                if len(found := sorted({row[key] for row in rows if row[key]})) > 1
            ],
            "total": self.outcomes.total(),
            "shown": len(rows),
        }


def column(cell: str, name: str, width: float | None, *, right: bool = False, then: str = "") -> dict[str, Any]:
    """A column of the list: its kind of cell, its heading and its share of the width. All but the text sort the list.

    `then` is the heading of a second sort key.
    """
    heads = [[None if cell == "text" else cell, name]]
    return {"cell": cell, "heads": [*heads, ["after", then]] if then else heads, "width": width, "right": right}


def named(label: int, labels: Sequence[str]) -> str:
    """The name of a class, or its number if it has none."""
    return str(labels[label]) if 0 <= label < len(labels) else f"class {label}"


def said_of(record: Record, labels: Sequence[str]) -> str | None:
    """The final prediction, or None if it is the true label."""
    last = record.scores_after or record.scores_before
    said = first_of_highest(last) if last else record.label
    return named(said, labels) if said != record.label else None


def first_of_highest(scores: Sequence[float]) -> int:
    """The predicted class: the first with the highest score."""
    return max(range(len(scores)), key=scores.__getitem__)


def share(scores: Sequence[float], label: int) -> float | None:
    """A class's probability as the page shows it, or None if there is none."""
    found = scores[label] if 0 <= label < len(scores) else math.nan
    return round(found, 4) if math.isfinite(found) else None


def row_of(record: Record, attack: int, labels: Sequence[str]) -> dict[str, Any]:
    """The part of a row that every kind of record has."""
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
    """A word that could replace another at a position."""

    @property
    def position(self) -> int:
        """The index of the word in the text."""
        ...

    @property
    def new(self) -> str:
        """The replacement."""
        ...


def pieces(record: Record, patch: Placed | None = None) -> list[list[Piece]]:
    """The text of each field, split into pieces. Where the edits do not tell all, the final text itself is shown."""
    if patch is None and not told_by_edits(record):
        return _compared(record)
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
            found[field].append(_replacement(edits[position]))
        if patch and position == at:
            old = edits[position].new if position in edits else record.original[field][start:end]
            found[field].append({"old": old, "new": patch.new})
        ends[field] = end
    for parts, string, end in zip(found, record.original, ends, strict=True):
        parts.append(string[end:])
    return found


def told_by_edits(record: Record) -> bool:
    """Whether the edits give the final text; those of a rewritten field may not, as the signs between words differ."""
    if record.perturbed is None or not record.edits:
        return record.perturbed in (None, record.original)
    if not is_rewrite(record.edits):
        return True
    text = Text(*record.original)
    new = {edit.position: edit.new for edit in record.edits if edit.position < len(text)}
    return text.replace_all(new).fields == record.perturbed


def _compared(record: Record) -> list[list[Piece]]:
    """The pieces of each field by comparing its two strings, words and what stands between them."""
    assert record.perturbed is not None, "a text without a final one is told by its edits"
    source = next((edit.source for edit in record.edits), "")
    found: list[list[Piece]] = []
    for one, other in zip(record.original, record.perturbed, strict=True):
        before, after, at = _tokens(one), _tokens(other), 0
        parts: list[Piece] = []
        for start, end, new_start, new_end in stretches(before, after):
            parts.append("".join(before[at:start]))
            parts.append(_replacement(Edit(0, "".join(before[start:end]), "".join(after[new_start:new_end]), source)))
            at = end
        found.append([*parts, "".join(before[at:])])
    return found


def _tokens(string: str) -> list[str]:
    """The words of a string and what stands between them."""
    words, gaps = split_words(string)
    return [part for pair in zip(gaps, [*words, ""], strict=True) for part in pair if part]


def _replacement(edit: Edit) -> Piece:
    odd = [odd_characters(edit.old), odd_characters(edit.new, instead_of=edit.old)]
    return [edit.old, edit.new, edit.source, *([odd] if any(odd) else [])]


def short_names(attacks: Iterable[str]) -> dict[str, str]:
    """The attacks' names: long ones are cut, and equal results are numbered."""
    found: dict[str, str] = {}
    for attack in attacks:
        short = shortened(attack, _LONGEST_NAME)
        same = sum(shortened(other, _LONGEST_NAME) == short for other in found)
        found[attack] = f"{short} ({same + 1})" if same and short != attack else short
    return found
