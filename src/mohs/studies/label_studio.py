"""Label Studio: tasks and the configuration of the labelling page, and its exports (JSON, JSON-MIN, CSV, TSV)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from mohs.errors import BadInput
from mohs.studies.design import Design, Question
from mohs.studies.heard import BadRow, Heard, cell, name_of, shown
from mohs.studies.platforms import names_of, paragraphs, printable, shown_items
from mohs.studies.study import Study
from mohs.studies.tables import Columns, Row

_ANSWER = "answer"  # the name of the choices, and so of the answer in exports
_OF_ANNOTATION = ("annotation_id", "annotator", "lead_time")  # columns of every flat export


def tasks(study: Study, question: Question) -> list[dict[str, Any]]:
    """The tasks to import.

    Annotators can see their data, so the item stands there as a code, and which text is the original does not.
    """
    found = []
    for number, one in enumerate(shown_items(study, question), 1):
        data: dict[str, Any] = {
            "item": one.code,
            "question": printable(question.name),
            "statement": printable(one.statement),
        }
        for place, (text, marked) in enumerate(zip(one.texts, one.marked, strict=True), 1):
            data[f"text{place}"] = printable(text)
            if _marks(study.design, len(one.texts)):
                data[f"text{place}_html"] = marked
        found.append({"id": number, "data": data, "meta": {"design": study.design.name}})
    return found


def configuration(
    design: Design, question: Question, texts: int, examples: Sequence[tuple[str, Sequence[str]]] = ()
) -> str:
    """The labelling configuration: instructions, the texts, the statement and the answers as choices.

    examples: texts of each class, for the instructions.
    """
    view = Element("View")
    SubElement(view, "Header", {"value": _literal(design.title), "size": "2"})
    shown = [f"Example of {label}: {text}" for label, own in examples for text in own]
    for paragraph in (*paragraphs(design.instructions), *shown, *paragraphs(design.consent)):
        SubElement(view, "Header", {"value": _literal(paragraph), "size": "4"})
    for place, name in enumerate(names_of(design, texts), 1):
        SubElement(view, "Header", {"value": name, "size": "5"})
        if _marks(design, texts):
            SubElement(view, "HyperText", {"name": f"text{place}", "value": f"$text{place}_html", "inline": "true"})
        else:
            SubElement(view, "Text", {"name": f"text{place}", "value": f"$text{place}"})
    SubElement(view, "Header", {"value": "$statement"})
    choices = SubElement(view, "Choices", {"name": _ANSWER, "toName": "text1", "choice": "single", "required": "true"})
    for answer in question.answers:
        SubElement(choices, "Choice", {"value": _literal(answer.label)})
    indent(view)
    return tostring(view, "unicode") + "\n"


def is_export(row: Row) -> bool:
    """Whether a row is a task of a JSON export."""
    return isinstance(row.get("data"), dict) and isinstance(row.get("annotations", row.get("completions")), list)


def is_flat(names: Sequence[str]) -> bool:
    """Whether columns are those of a flat export: JSON-MIN, CSV or TSV."""
    return all(name in names for name in _OF_ANNOTATION)


def flat(found: Sequence[Any], answer: str = "") -> Iterator[tuple[str, Row]]:
    """The annotations of tasks as rows like those of a flat export, each with where it stands.

    answer: the `from_name` that is meant, if there are several choices in an annotation.
    """
    for number, task in enumerate(found, 1):
        if not isinstance(task, dict) or not is_export(task):
            raise BadInput(f"Task {number} of the file is no task with annotations; export as JSON or JSON-MIN.")
        for place, one in enumerate(task.get("annotations") or task.get("completions") or (), 1):
            where = f"task {number}, annotation {place}"
            if not isinstance(one, dict):
                raise BadInput(f"{where.capitalize()} is {shown(one)}; export as JSON or JSON-MIN.")
            yield (
                where,
                {
                    **task["data"],
                    _ANSWER: _chosen(one.get("result"), answer),
                    "annotator": _who(one.get("completed_by")),
                    "annotation_id": one.get("id"),
                    "lead_time": one.get("lead_time"),
                    "created_at": one.get("created_at"),
                    "was_cancelled": one.get("was_cancelled", one.get("skipped", False)),
                },
            )


def columns_of(names: Sequence[str], given: Mapping[str, str], path: Path, wanted: int) -> Columns:
    """The columns of a flat export."""
    found = Columns(names, given, path, wanted)
    found.need("answer")
    return found


def heard(row: Row, columns: Columns) -> Heard:
    """One annotation."""
    answer = row.get(columns.found["answer"])
    cancelled = row.get("was_cancelled") in (True, "true", "True")
    if isinstance(answer, dict | list) and not cancelled:
        raise BadRow(f"there is not one answer but {shown(answer)}")
    who = columns.text(row, "annotator").strip()
    number = re.fullmatch(r"\d{1,18}", who)
    return columns.heard(
        row,
        answer="" if cancelled else cell(answer),
        annotator=name_of(f"label-studio-{who}", "the annotator") if number else who,
        private="" if number or not who else "label-studio",
        left_out="skipped in Label Studio" if cancelled or not cell(answer).strip() else "",
    )


def _marks(design: Design, texts: int) -> bool:
    return design.highlight != "none" and texts == 2


def _literal(text: str) -> str:
    """A text in an attribute, where a dollar sign at the beginning would be the name of a field."""
    found = printable(text)
    return f" {found}" if found.startswith("$") else found


def _chosen(result: Any, wanted: str) -> Any:
    """The choice in an annotation: a text, or a list if there is not exactly one."""
    found: dict[str, list[Any]] = {}
    for one in result if isinstance(result, list) else ():
        if isinstance(one, dict) and isinstance(value := one.get("value"), dict) and "choices" in value:
            own = value["choices"]
            found.setdefault(str(one.get("from_name")), []).extend(own if isinstance(own, list) else [own])
    chosen = found.get(wanted or _ANSWER, [] if wanted else [some for own in found.values() for some in own])
    return cell(chosen[0]) if len(chosen) == 1 else chosen or ""


def _who(value: Any) -> str:
    """The number of an annotator; exports of some versions have a mapping with it."""
    return cell(value.get("id", value.get("email")) if isinstance(value, dict) else value)
