"""A study's judgements as a table (CSV, JSONL), and its items for platforms (Mechanical Turk, Label Studio)."""

from __future__ import annotations

import csv
import io
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from mohs.assets.writing import is_special, opened_for_writing
from mohs.errors import BadInput, MohsError
from mohs.studies import label_studio, mturk
from mohs.studies.design import Question
from mohs.studies.heard import guarded, valid
from mohs.studies.platforms import asked, examples_of
from mohs.studies.study import Study
from mohs.studies.tables import fact_written

TABLES = ("csv", "jsonl")  # formats of judgements
PLATFORMS = ("mturk", "label-studio")  # formats of items
FORMATS = (*TABLES, *PLATFORMS)
_ENDINGS = (*(f".{name}" for name in TABLES), ".html", ".json", ".xml")


def rows(study: Study) -> Iterator[dict[str, Any]]:
    """All judgements, a row each, with everything that is known of the item and the annotator.

    All rows have the same columns. Texts stand in the original order, also where `swapped` says that the second was
    shown first; `value` and `label` are what was answered, and `plain_value` is the same for the plain statement.
    """
    items = {item.key: item for item in study.items()}
    people = {one.name: one for one in study.annotators()}
    texts = max(len(item.texts) for item in items.values())
    facts = list(dict.fromkeys(name for item in items.values() for name in item.facts))
    for one in study.judgements():
        item, person = items[one.item], people[one.annotator]
        question = study.design.question(item.question)
        row: dict[str, Any] = {
            "item": item.key,
            "question": item.question,
            "group": item.group,
            "role": str(item.role),
            "annotator": person.name,
            "kind": str(person.kind),
            "state": str(person.state),
            "named": person.named,
            "statement": question.statements[one.statement].text,
            "value": one.value,
            "label": question.label(one.value),
            "plain_value": question.said(one.value, one.statement),
            "swapped": one.swapped,
            "seconds": one.seconds,
            "at": one.at,
            "time": _time(one.at),
            "batch": one.batch,
            "expected": list(item.expected),
        }
        row |= {f"text_{n + 1}": item.texts[n] if n < len(item.texts) else None for n in range(texts)}
        yield row | {f"fact_{name}": item.facts.get(name) for name in facts}


def csv_text(study: Study) -> Iterator[str]:
    """The judgements as CSV, line by line. Cells that a spreadsheet would run as formulas begin with an apostrophe."""
    return _csv_lines(map(_flat, rows(study)))


def jsonl_text(study: Study) -> Iterator[str]:
    """The judgements as JSON, one object a line."""
    for row in rows(study):
        line = json.dumps(row, ensure_ascii=False)
        yield (line if valid(line) == line else json.dumps(row)) + "\n"


def table_text(study: Study, format: str) -> Iterator[str]:
    """The judgements in one of TABLES."""
    return csv_text(study) if format == "csv" else jsonl_text(study)


def export(study: Study, out: Path, format: str | None = None) -> list[Path]:
    """Write a study for other programs; returns the files written.

    format: one of FORMATS; by default the ending of `out`. For a platform there are two files for each question, whose
    names begin with `out` without its ending.
    """
    format = format or out.suffix.removeprefix(".").lower()
    check_format(format)
    if format in TABLES:
        if out.is_dir():
            raise BadInput(f"{out} is a folder; name a file with --out.")
        refuse_empty(study)
        return [_written(out, table_text(study, format))]
    found = []
    for path, text in _for_platform(study, out, format):
        found.append(_written(path, text))
    return found


def check_format(format: str) -> None:
    """Refuse what is none of FORMATS."""
    if format not in FORMATS:
        raise BadInput(f"{format!r} is no format of a study; use {', '.join(FORMATS)}.")


def refuse_empty(study: Study) -> None:
    """Refuse to export judgements before there are any."""
    if not study.judgements():
        raise BadInput(f"{study.place} has no judgements yet; serve it, or import some, first.")


def _for_platform(study: Study, out: Path, format: str) -> Iterator[tuple[Path, Iterable[str]]]:
    stem = out / format if out.is_dir() else out.with_suffix("") if out.suffix.lower() in _ENDINGS else out
    questions = asked(study)
    count = {item.question: len(item.texts) for item in study.items()}
    examples = examples_of(study)
    for question, name in zip(questions, _names(questions), strict=True):
        own = stem if len(questions) == 1 else stem.with_name(f"{stem.name}-{name}")
        if format == "mturk":
            yield own.with_name(f"{own.name}.csv"), _csv_lines(mturk.rows(study, question), guard=lambda cell: cell)
            page = mturk.layout(study.design, question, count[question.name], examples)
            yield own.with_name(f"{own.name}.html"), [page]
        else:
            told = json.dumps(label_studio.tasks(study, question), ensure_ascii=False, indent=1) + "\n"
            yield own.with_name(f"{own.name}.json"), [told]
            page = label_studio.configuration(study.design, question, count[question.name], examples)
            yield own.with_name(f"{own.name}.xml"), [page]


def _names(questions: Iterable[Question]) -> list[str]:
    """The names of questions as parts of file names, no two of them equal."""
    found: list[str] = []
    for number, question in enumerate(questions, 1):
        name = re.sub(r"[^A-Za-z0-9_]+", "-", question.name)[:40].strip("-")
        taken = not name or name.casefold() in (other.casefold() for other in found)
        found.append(f"{name}-{number}".strip("-") if taken else name)
    return found


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    """A row as cells of a CSV file."""
    found = {name: str(value).lower() if isinstance(value, bool) else value for name, value in row.items()}
    found["expected"] = " ".join(map(str, row["expected"]))
    return found | {name: fact_written(value) for name, value in row.items() if name.startswith("fact_")}


def _csv_lines(rows: Iterable[dict[str, Any]], guard: Callable[[Any], Any] = guarded) -> Iterator[str]:
    buffer = io.StringIO()
    writer: Any = None
    for row in rows:
        if writer is None:
            writer = csv.writer(buffer)
            writer.writerow(map(valid, row))
        writer.writerow([valid(guard(cell)) if isinstance(cell, str) else cell for cell in row.values()])
        yield buffer.getvalue()
        buffer.seek(0)
        buffer.truncate()


def _time(at: float | None) -> str | None:
    """A time for people; `at` is the exact one."""
    return None if at is None else datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")


def _written(path: Path, parts: Iterable[str]) -> Path:
    """Write a file; an older one stays until the new one is complete."""
    special = is_special(path)
    target = path if special else path.with_name(f"{path.name}.part")
    try:
        with opened_for_writing(target, special=special, encoding="utf-8", newline="") as file:
            file.writelines(parts)
        if not special:
            target.replace(path)
    except BaseException as error:
        if not special:
            with suppress(OSError):
                target.unlink(missing_ok=True)
        if isinstance(error, OSError):
            fault = os.strerror(error.errno) if error.errno else error
            raise MohsError(f"{path} cannot be written ({fault}); name another place with --out.") from error
        raise
    return path
