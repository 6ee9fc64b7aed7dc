"""Amazon Mechanical Turk: a table of HITs and the layout of their page, and the results of a batch.

The site refuses tables that are not UTF-8 or hold characters of four bytes, such as emoji. They are numeric references
in the columns that people see (`..._html`) and U+FFFD in the plain ones, which are there for the organiser. Line breaks
are legal in quoted cells; the columns that people see have none.

Results have the columns of the table as `Input.NAME`. What was answered is in `Answer.NAME`, in one of these forms:
`Answer.NAME`, `Answer.NAME.label`, `Answer.NAME.CHOICE` with true or false, or JSON in `Answer.taskAnswers`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from mohs.errors import BadInput
from mohs.studies.design import Design, Question
from mohs.studies.heard import BadRow, Heard, cell, guarded, moment_of, shown
from mohs.studies.platforms import escaped, names_of, paragraphs, printable, shown_items
from mohs.studies.study import Study
from mohs.studies.tables import Columns, Row

Examples = Sequence[tuple[str, Sequence[str]]]

_LONG = re.compile("[\U00010000-\U0010ffff]")
_JSON = "Answer.taskAnswers"
_MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
_TIME = re.compile(r"\w{3} (\w{3}) (\d{1,2}) (\d\d):(\d\d):(\d\d) (\w{3,4}) (\d{4})")
_ZONES = {"UTC": 0, "GMT": 0, "PST": -8, "PDT": -7, "EST": -5, "EDT": -4}


def rows(study: Study, question: Question) -> Iterator[dict[str, Any]]:
    """The table to upload: a row a HIT."""
    for one in shown_items(study, question):
        row: dict[str, Any] = {
            "key": one.code,
            "question": _plain(question.name),
            "statement": _plain(one.statement),
            "swapped": str(one.swapped).lower(),
            "statement_html": escaped(one.statement),
        }
        for number, (text, marked) in enumerate(zip(one.texts, one.marked, strict=True), 1):
            row |= {f"text{number}": _plain(text), f"text{number}_html": marked}
        yield row


def layout(design: Design, question: Question, texts: int, examples: Examples = ()) -> str:
    """The page of a HIT, for `Edit Project > Design Layout`. All of it is escaped.

    examples: texts of each class, for the instructions.
    """
    names = names_of(design, texts)
    shown = "".join(
        f"  <h4>{escaped(label)}</h4>\n" + "".join(f'  <div class="text">{escaped(text)}</div>\n' for text in own)
        for label, own in examples
    )
    if shown:
        shown = f"  <details open>\n  <summary>Examples</summary>\n{shown}  </details>\n"
    boxes = "\n".join(
        f'  <h4>{name}</h4>\n  <div class="text">${{text{number}_html}}</div>' for number, name in enumerate(names, 1)
    )
    choices = "\n".join(
        f'  <p><label><input type="radio" name="answer" value="{escaped(answer.label)}" required> '
        f"{escaped(answer.label)}</label></p>"
        for answer in question.answers
    )
    consent = f"  <details>\n    <summary>Taking part</summary>\n{_told(design.consent, 4)}  </details>\n"
    return f"""<script src="https://assets.crowd.aws/crowd-html-elements.js"></script>
<style>
  .text {{ border: 1px solid #999; padding: 0.6em; white-space: pre-wrap; }}
  mark {{ background: #fe8; }}
</style>
<crowd-form answer-format="flatten-objects">
  <h3>{escaped(design.title)}</h3>
{_told(design.instructions, 2)}{shown}{consent if design.consent else ""}{boxes}
  <h4>${{statement_html}}</h4>
{choices}
</crowd-form>
"""


def _told(text: str, indent: int) -> str:
    """The paragraphs of a design's text as lines of HTML."""
    return "".join(f"{' ' * indent}<p>{escaped(one)}</p>\n" for one in paragraphs(text))


def is_result(names: Sequence[str]) -> bool:
    """Whether columns are those of a batch's results."""
    return any(name.startswith("Answer.") for name in names)


def columns_of(names: Sequence[str], given: Mapping[str, str], path: Path, wanted: int) -> Columns:
    """The columns of results. `Input.label` and `Input.original` are what the organiser knows, and no answers."""
    plain = [name for name in names if not name.startswith("Answer.") or name in given.values()]
    more = {"truth": ("truth", "label", *(("original",) if wanted == 1 else ()))}
    return Columns(plain, given, path, wanted, more, without=("answer", "value"))


def heard(row: Row, columns: Columns) -> Heard:
    """One assignment."""
    status = cell(row.get("AssignmentStatus")).strip()
    rejected = status.casefold() == "rejected"
    words = columns.text(row, "answer") if "answer" in columns.given else "" if rejected else _answered(row, columns)
    worker = columns.text(row, "annotator").strip()
    return columns.heard(
        row,
        answer=words,
        value="",
        annotator=worker,
        private="mturk" if worker else "",
        hint=f"{cell(row.get('Title'))}\n{cell(row.get('Description'))}",
        at=_moment(cell(row.get("SubmitTime"))),
        left_out="rejected on Mechanical Turk" if rejected else "",
        truth=_truth(row, columns),
        facts=columns.facts(row, "Input."),
    )


def _answered(row: Row, columns: Columns) -> str:
    """What was answered; with several fields the one called `answer`."""
    fields: dict[str, str] = {}
    for name, value in _fields(row):
        text = cell(value).strip()
        field, _, choice = name.partition(".")
        if not choice or (choice == "label" and text.casefold() not in ("true", "false")):
            fields[field] = text
        elif text.casefold() == "true":
            if fields.get(field):
                raise BadRow(f"{field} has two answers, {shown(fields[field])} and {shown(choice)}")
            fields[field] = choice
        else:
            fields.setdefault(field, "")
    if "answer" in fields:
        return fields["answer"]
    if len(fields) > 1:
        raise BadInput(
            f"{columns.path} has several answers ({', '.join(sorted(fields))}); name the column of one, as in "
            "--column answer=Answer.NAME.label."
        )
    return next(iter(fields.values()), "")


def _fields(row: Row) -> Iterator[tuple[str, Any]]:
    """Names (of a field, or FIELD.CHOICE) and what stands there."""
    for name, value in row.items():
        if not name.startswith("Answer."):
            continue
        if name != _JSON:
            yield name.removeprefix("Answer."), value
        elif cell(value).strip():
            try:
                parts = json.loads(cell(value))
            except (ValueError, RecursionError) as error:
                raise BadRow(f"{_JSON} is not JSON") from error
            for part in parts if isinstance(parts, list) else [parts]:
                for field, own in part.items() if isinstance(part, dict) else ():
                    inside = own.items() if isinstance(own, dict) else [("", own)]
                    yield from ((f"{field}.{choice}" if choice else str(field), some) for choice, some in inside)


def _truth(row: Row, columns: Columns) -> str:
    """What the organiser knows. A column called `original` says whether the text is one."""
    text = columns.text(row, "truth").strip()
    if columns.found.get("truth") == "Input.original":
        return {"true": "real", "false": "altered"}.get(text.casefold(), text)
    return text


def _moment(text: str) -> float | None:
    """A time such as `Thu Oct 09 07:30:20 PDT 2025`; None where the zone is not known."""
    if not (found := _TIME.fullmatch(text.strip())):
        try:
            return moment_of(text)
        except BadRow:
            return None
    month, day, hour, minute, second, zone, year = found.groups()
    if month not in _MONTHS or zone not in _ZONES:
        return None
    try:
        time = datetime(int(year), _MONTHS.index(month) + 1, int(day), int(hour), int(minute), int(second), tzinfo=UTC)
    except ValueError:
        return None
    return (time.replace(tzinfo=timezone(timedelta(hours=_ZONES[zone])))).timestamp()


def _plain(text: str) -> str:
    """A text for the organiser, as the site accepts it."""
    return str(guarded(_LONG.sub("\ufffd", printable(text))))
