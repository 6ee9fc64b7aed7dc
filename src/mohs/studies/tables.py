"""Tables of judgements: which column is what, and how a row is read."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mohs.errors import BadInput
from mohs.studies.design import Design
from mohs.studies.heard import (
    BadRow,
    Heard,
    cell,
    flag_of,
    moment_of,
    name_of,
    seconds_of,
    shown,
    unguarded,
    valid,
    whole_of,
)
from mohs.studies.item import Kind, Role, State

Row = Mapping[str, Any]

OWN = ("item", "annotator", "kind", "state", "value", "label", "swapped", "text_1")  # what an export always has
_NAMES: dict[str, tuple[str, ...]] = {  # our names, and what files call them; small letters, _ for spaces
    "item": ("item", "item_id", "key"),
    "question": ("question",),
    "text": ("text", "sentence"),
    "text_1": ("text_1", "text1", "original", "original_text"),
    "text_2": ("text_2", "text2", "perturbed", "perturbed_text", "adversarial", "adversarial_text"),
    "annotator": ("annotator", "annotator_id", "judge", "rater", "worker", "worker_id", "workerid"),
    "answer": ("answer", "judgement", "judgment", "rating", "response"),
    "value": ("value",),
    "statement": ("statement",),
    "swapped": ("swapped",),
    "seconds": ("seconds", "worktimeinseconds", "lead_time"),
    "at": ("at", "submitted_at", "created_at"),
    "group": ("group",),
    "truth": ("truth", "gold", "gold_label"),
    "role": ("role",),
}
FACT = "fact_"  # what the name of a column begins with that says something about the item
_PLATFORMS = ("worker", "prolific", "participant", "email", "e_mail")  # ids in such columns are those of people
_MOST_FACTS = 50


class Columns:
    """The columns of one file under our names.

    given: what the user says, our names to the file's. more: further names to look for first, such as `label` for the
    truth. without: ours that the file has in a form of its own. wanted: how many texts an item has.
    """

    def __init__(
        self,
        names: Sequence[str],
        given: Mapping[str, str],
        path: Path,
        wanted: int,
        more: Mapping[str, tuple[str, ...]] | None = None,
        without: Sequence[str] = (),
    ) -> None:
        self.names, self.given, self.path, self.wanted = names, given, path, wanted
        for ours, theirs in given.items():
            if ours not in _NAMES and not ours.startswith(FACT):
                known = ", ".join((*_NAMES, f"{FACT}NAME"))
                raise BadInput(f"There is no column {ours!r} in a table of judgements; use {known}.")
            if theirs not in names:
                raise BadInput(f"{path} has no column {theirs!r}; it has {_listed(names)}.")
        plain = {_plain(name): name for name in reversed(names)}
        self.found: dict[str, str] = dict(given)
        for ours, usual in _NAMES.items():
            if wanted == 1 and ours in ("text_1", "text_2") and "text" in self.found:
                continue
            for name in (*(more or {}).get(ours, ()), *usual):
                if ours not in (*given, *without) and name in plain and plain[name] not in self.found.values():
                    self.found[ours] = plain[name]
                    break

    def text(self, row: Row, ours: str) -> str:
        """The cell of one of our columns, empty if there is none."""
        return cell(row.get(self.found[ours])) if ours in self.found else ""

    def texts(self, row: Row) -> tuple[str, ...]:
        """The texts of an item, as many as there are columns for, or none."""
        if self.wanted == 1:
            name = "text" if "text" in self.found else "text_1"
            return (self.text(row, name),) if name in self.found else ()
        if "text_1" in self.found and "text_2" in self.found:
            return self.text(row, "text_1"), self.text(row, "text_2")
        return ()

    def need(self, *some: str) -> None:
        """Refuse a file that has none of these columns."""
        if not any(name in self.found for name in some):
            raise BadInput(
                f"{self.path} has no column for {' or '.join(some)} among {_listed(self.names)}; name it, as in "
                f"--column {some[0]}=NAME."
            )

    def heard(self, row: Row, **more: Any) -> Heard:
        """A row. more: what the columns do not say."""
        annotator = self.text(row, "annotator").strip()
        known: dict[str, Any] = {
            "answer": self.text(row, "answer"),
            "value": self.text(row, "value"),
            "item": self.text(row, "item").strip(),
            "texts": self.texts(row),
            "question": self.text(row, "question").strip(),
            "annotator": annotator,
            "private": "judge" if self._private(annotator) else "",
            "statement": self.text(row, "statement"),
            "swapped": flag_of(self.text(row, "swapped"), "swapped") if self.text(row, "swapped").strip() else None,
            "seconds": seconds_of(self.text(row, "seconds")),
            "at": moment_of(self.text(row, "at")),
            "group": name_of(self.text(row, "group"), "the group", 200),
            "truth": self.text(row, "truth").strip(),
            "role": one_of(Role, self.text(row, "role").casefold(), "role", Role.MAIN),
        }
        facts = {name.removeprefix(FACT): valid(self.text(row, name)) for name in self.given if name.startswith(FACT)}
        known["facts"] = {name: text for name, text in facts.items() if text} | more.pop("facts", self.facts(row, FACT))
        return Heard(**known | more)

    def _private(self, annotator: str) -> bool:
        name = _plain(self.found.get("annotator", ""))
        return "@" in annotator or any(word in name for word in _PLATFORMS)

    def facts(self, row: Row, beginning: str) -> dict[str, str]:
        """What else the row says of its item: columns that begin with a word and were not used."""
        used = set(self.found.values())
        names = [name for name in row if name.startswith(beginning) and name not in used]
        return {
            valid(name.removeprefix(beginning)): valid(text)
            for name in names[:_MOST_FACTS]
            if (text := cell(row[name])) and not name.endswith("_html")
        }


def texts_wanted(design: Design) -> int:
    """How many texts an item of a design has."""
    return 1 if design.items in ("texts", "versions", "labels") else 2


def columns_of(names: Sequence[str], given: Mapping[str, str], path: Path, wanted: int) -> Columns:
    """The columns of a table of judgements, which must have something to find the item by."""
    found = Columns(names, given, path, wanted)
    found.need("item", *(("text",) if wanted == 1 else ("text_1",)))
    return found


def one_of(kinds: type[Kind] | type[State] | type[Role], text: str, name: str, default: str) -> Any:
    """One of some words, or the default if there is none."""
    try:
        return kinds(text.strip() or default)
    except ValueError as error:
        raise BadRow(f"the {name} is {shown(text)}; it must be one of {', '.join(kinds)}") from error


def fact_written(value: Any) -> str:
    """A fact as a cell: texts and numbers as they are, everything else, and texts that look like it, as JSON.

    A text that is a number is read back as a number.
    """
    if value is None:
        return ""
    if isinstance(value, str):
        again = fact_read(value)
        if again == valid(value) or (isinstance(again, int | float) and not isinstance(again, bool)):
            return value
    return json.dumps(value)


def fact_read(text: str) -> Any:
    """The fact in a cell that `fact_written` made."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return valid(text)
    odd = isinstance(found, float) and not math.isfinite(found)
    return valid(text) if odd or found is None else found


def own_row(row: Row, wanted: int, guarded: bool) -> Heard:
    """A row of our own export. guarded: from a CSV file, where an apostrophe stands before formulas."""

    def text(name: str) -> str:
        found = cell(row.get(name))
        return unguarded(found) if guarded else found

    given = row.get("expected")
    try:
        expected = tuple(int(word) for word in (given if isinstance(given, list) else text("expected").split()))
    except (ValueError, TypeError) as error:
        raise BadRow(f"the expected answers are {shown(text('expected'))}; write numbers") from error
    return Heard(
        answer=text("label"),
        value=text("value"),
        item=text("item"),
        texts=tuple(text(f"text_{number}") for number in range(1, wanted + 1)),
        question=text("question"),
        annotator=name_of(text("annotator"), "the annotator", bare=False),
        statement=text("statement"),
        swapped=flag_of(text("swapped"), "swapped"),
        seconds=seconds_of(text("seconds")),
        at=moment_of(text("at")),
        batch=whole_of(text("batch"), "the batch"),
        kind=one_of(Kind, text("kind"), "kind", Kind.IMPORTED),
        named=flag_of(text("named") or "true", "named"),
        aside=one_of(State, text("state"), "state", State.FINISHED) is State.ASIDE,
        own=True,
        group=name_of(text("group"), "the group", 200, bare=False),
        role=one_of(Role, text("role"), "role", Role.MAIN),
        expected=expected,
        facts={
            name.removeprefix(FACT): fact_read(text(name)) if guarded else value
            for name, value in row.items()
            if name.startswith(FACT) and value not in (None, "")
        },
    )


def _plain(name: str) -> str:
    return name.strip().casefold().replace(" ", "_").replace("-", "_").removeprefix("input.")


def _listed(names: Sequence[str]) -> str:
    few = ", ".join(map(repr, names[:12]))
    return few + (f" and {len(names) - 12} more" if len(names) > 12 else "")
