"""Reads a file of judgements: finds out what form it has, and gives its rows as `Heard`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

from mohs.assets.limits import gunzipped
from mohs.errors import BadInput
from mohs.studies import label_studio, mturk, tables
from mohs.studies.design import Design
from mohs.studies.heard import BadRow, Heard, cell, folded, name_of, shown, valid
from mohs.studies.item import Kind
from mohs.studies.matching import Sift
from mohs.studies.tables import Columns, Row
from mohs.text.rows import file_rows, reading_notes

_ITEMS = "a table of items"
_MOST_ROWS = 2_000_000
_MOST_BYTES = 1 << 30
_MOST_JSON = 256 << 20  # a file of JSON is read as a whole
_LONGEST = 1_000_000  # characters of a cell
_ENDINGS = (".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".parquet")


@dataclass(frozen=True)
class Given:
    """What the user says about a file.

    columns: names of ours to the file's, see `tables`. answers: what the file says to what the design says.
    question: which one the rows are about that do not say it. kind: who judged; not for files of our own, which say it.
    unnamed: what judges are called, with a number, if the file does not say who judged.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    answers: Mapping[str, str] = field(default_factory=dict)
    question: str = ""
    kind: Kind = Kind.IMPORTED
    unnamed: str = ""
    encoding: str = "utf-8"
    skip_bad: bool = False

    def check(self, design: Design) -> None:
        """Refuse what does not fit the design."""
        if self.kind is Kind.PERSON:
            raise BadInput("Judgements in a file are imported, of a model or simulated; leave --kind out for people's.")
        try:
            name_of(self.unnamed, "the name of unnamed judges", 60)
        except BadRow as error:
            raise BadInput(f"{str(error)[:1].upper()}{str(error)[1:]}.") from error
        names = [question.name for question in design.questions]
        if self.question and self.question not in names:
            raise BadInput(f"The design has no question {self.question!r}; it has {', '.join(names)}.")
        labels = {folded(answer.label) for question in design.questions for answer in question.answers}
        for theirs, ours in self.answers.items():
            if labels and folded(ours) not in labels:
                known = ", ".join(answer.label for question in design.questions for answer in question.answers)
                raise BadInput(f"{ours!r}, for {theirs!r}, is no answer of the design; its answers are {known}.")


@dataclass(frozen=True)
class Found:
    """The rows of a file, each with where it stands. form: what the file is, in words."""

    form: str
    rows: list[tuple[str, Heard]]
    notes: list[str]
    count: int  # rows in the file, bad ones too
    judged: bool = True  # whether there are answers, or items alone


def read(path: Path, design: Design, given: Given, sift: Sift) -> Found:
    """Read a file of judgements. A bad row goes to the sift."""
    given.check(design)
    raw, exported = _raw(path, given)
    notes = reading_notes(path, given.encoding)
    if not raw:
        raise BadInput(f"{path} has no rows; export the judgements again.")
    if exported:
        raw = list(label_studio.flat([row for _, row in raw], given.columns.get("answer", "")))
        if not raw:
            raise BadInput(f"{path} has tasks without annotations; export it after people have judged.")
    names = _names_of(row for _, row in raw)
    form, heard_of = _form(path, names, design, given, exported)
    judged = form != _ITEMS
    rows = []
    spoken: set[str] = set()
    for where, row in raw:
        try:
            if long := next((name for name, value in row.items() if len(cell(value)) > _LONGEST), None):
                raise BadRow(f"the column {shown(long)} has more than {_LONGEST:,} characters; shorten it")
            rows.append((where, _as_said(heard_of(row), given, spoken)))
        except BadRow as error:
            sift.bad(where, error)
    for theirs in given.answers:
        if folded(theirs) not in spoken:
            notes.append(f"No answer in the file is {theirs!r}, so --answers {theirs}=... changes nothing.")
    return Found(form, rows, notes, len(raw), judged)


def _form(
    path: Path, names: Sequence[str], design: Design, given: Given, exported: bool
) -> tuple[str, Callable[[Row], Heard]]:
    """What a file is, and what makes a row of it a `Heard`."""
    wanted = tables.texts_wanted(design)
    if not exported and all(name in names for name in tables.OWN):
        if given.kind is not Kind.IMPORTED or given.columns:
            raise BadInput(
                f"{path} is an export of mohs, which says what its columns are and who judged; leave --kind "
                "and --column out."
            )
        guarded = path.name.lower().removesuffix(".gz").endswith((".csv", ".tsv"))
        return "an export of mohs", lambda row: tables.own_row(row, wanted, guarded)
    columns: Columns
    if not exported and mturk.is_result(names):
        columns = mturk.columns_of(names, given.columns, path, wanted)
        return "results of Mechanical Turk", lambda row: mturk.heard(row, columns)
    if exported or label_studio.is_flat(names):
        own = {ours: theirs for ours, theirs in given.columns.items() if not (exported and ours == "answer")}
        columns = label_studio.columns_of(names, own, path, wanted)
        return "an export of Label Studio", lambda row: label_studio.heard(row, columns)
    columns = tables.columns_of(names, given.columns, path, wanted)
    judged = "answer" in columns.found or "value" in columns.found
    return "a table of judgements" if judged else _ITEMS, columns.heard


def _as_said(heard: Heard, given: Given, spoken: set[str]) -> Heard:
    """A row with what the user says about the file."""
    words = folded(heard.answer)
    spoken.add(words)
    answer = next((ours for theirs, ours in given.answers.items() if folded(theirs) == words), heard.answer)
    if heard.own:
        return replace(heard, answer=answer)
    return replace(heard, answer=answer, question=heard.question or given.question, kind=given.kind)


def _raw(path: Path, given: Given) -> tuple[list[tuple[str, Row]], bool]:
    """The rows of a file as they stand there, and whether they are tasks of Label Studio with annotations inside."""
    ending = path.name.lower().removesuffix(".gz").rpartition(".")[2]
    if f".{ending}" not in _ENDINGS:
        raise BadInput(f"{path} has no known ending; use {', '.join(_ENDINGS)}, each also with .gz.")
    try:
        if not path.is_file():
            raise BadInput(f"There is no file {path}; name a table of judgements.")
        size = path.stat().st_size
    except OSError as error:
        raise BadInput(f"{path} cannot be read ({error.strerror or error}).") from error
    if size > _MOST_BYTES:
        raise BadInput(f"{path} has {size >> 20:,} MB, and at most {_MOST_BYTES >> 20:,} are read; split it.")
    if ending == "json" and (listed := _json_list(path, given.encoding)) is not None:
        found: Iterator[Any] = iter(listed)
    else:
        found = file_rows(path, given.encoding)
    rows: list[tuple[str, Row]] = []
    for number, row in enumerate(islice(found, _MOST_ROWS + 1), 1):
        if number > _MOST_ROWS:
            raise BadInput(f"{path} has more than {_MOST_ROWS:,} rows; split it.")
        if not isinstance(row, dict):
            raise BadInput(f"{path}, row {number} is {shown(row)} and no object with columns; export it again.")
        rows.append((f"row {number}", row))
    return rows, any(label_studio.is_export(row) for _, row in rows)


def _json_list(path: Path, encoding: str) -> list[Any] | None:
    """The list in a JSON file; None if it has an object a line instead."""
    with gunzipped(path) if path.name.lower().endswith(".gz") else path.open("rb") as stream:
        try:
            data = stream.read(_MOST_JSON + 1)
        except (OSError, EOFError, ValueError) as error:
            raise BadInput(f"{path} is not a complete gzip file ({error}); copy or compress it again.") from error
    if len(data) > _MOST_JSON:
        raise BadInput(f"{path} has more than {_MOST_JSON >> 20:,} MB of JSON; split it, or write an object a line.")
    try:
        text = data.decode("utf-8-sig" if encoding.casefold() in ("utf-8", "utf8") else encoding)
    except (UnicodeDecodeError, LookupError) as error:
        raise BadInput(f"{path} is not {encoding} ({error}); give its encoding, as in --encoding latin-1.") from error
    if not text.lstrip().startswith("["):
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{path} is not JSON ({valid(str(error))[:200]}); export it again.") from error
    assert isinstance(found, list)
    return found


def _names_of(rows: Iterator[Row]) -> list[str]:
    """The columns of all rows, in the order of their appearance."""
    return list(dict.fromkeys(str(name) for row in rows for name in row))
