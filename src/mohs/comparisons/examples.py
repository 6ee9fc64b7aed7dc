"""The examples of a comparison, aligned: as a CSV file, and those that were fooled in one run alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mohs.comparisons.sides import Side
from mohs.records import Record
from mohs.records.export import write_csv
from mohs.report.paired import NOT_ASKED

if TYPE_CHECKING:
    from mohs.comparisons.result import Comparison


def rows_of(comparison: Comparison) -> Iterator[dict[str, Any]]:
    """One row for each example and attack (budget, radius): what each run says, in columns that start with its name.

    1 is yes, 0 no; a column is empty if the question was not asked, if an error hides the answer, or without a record.
    """
    base = comparison.sides[0]
    for group in comparison.groups:
        columns = {side.letter: (side.of_group(group), side.clean()) for side in comparison.sides}
        for name, seen in base.of_group(group).items():
            row: dict[str, Any] = {"group": group, "example_id": name, "label": seen.label}
            for letter, (by_id, clean) in columns.items():
                one = by_id.get(name)
                row[f"{letter}_outcome"] = "" if one is None else str(one.outcome)
                row[f"{letter}_accuracy_before"] = _number(clean[name].value if name in clean else None)
                for question in seen.groups[group]:
                    told = NOT_ASKED if one is None else one.groups[group].get(question, NOT_ASKED)
                    row[f"{letter}_{question.replace(', ', ' ').replace(' ', '_')}"] = _number(told.value)
                row[f"{letter}_words_changed"] = "" if one is None or one.changed is None else one.changed
                row[f"{letter}_queries"] = "" if one is None or one.queries is None else one.queries
            yield row


def _number(value: bool | None) -> str:
    return "" if value is None else str(int(value))


def write_examples(comparison: Comparison, path: Path) -> Path:
    """Write the rows as CSV. An older file stays until the new one is complete."""
    rows = list(rows_of(comparison))
    return write_csv(path, list(dict.fromkeys(name for row in rows for name in row)), rows)


def fooled_alone(comparison: Comparison, most: int | None = None) -> Iterator[tuple[Side, Side, str, Record]]:
    """The adversarial examples that one run has and the other it is compared with has not.

    Each with the run it is of, the run that withstood, and the attack. most: of each pair of runs, attack and side.
    """
    base = comparison.sides[0]
    for one in comparison.against:
        for group, sides in one.only.items():
            for fooled, names, other in ((base, sides[0], one.side), (one.side, sides[1], base)):
                wanted = dict.fromkeys(names[:most])
                if not wanted:
                    continue
                for record in fooled.run.records():
                    if record.attack == group and record.example_id in wanted:
                        yield fooled, other, group, record
