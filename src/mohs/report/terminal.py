"""A run on the terminal: what it has to show, and what it cost; and what the views of several kinds of run share."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text as Styled

from mohs.records import Outcome, Record
from mohs.text import Text

_ASKED = "_asked"
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")

if TYPE_CHECKING:
    from mohs.report.view import View
    from mohs.runs.run import Run


def print_run(run: Run, view: View, *, as_json: bool, verbose: bool, diffs: int = 0, **extra: Any) -> str:
    """Print a run as its view has it; gives a sentence about errors, empty if there were none."""
    notes = view.notes  # reads the records: nothing is printed of a run that cannot be read
    if as_json:
        place = str(run.folder) if run.folder else None
        progress = {"finished": len(run), "planned": run.planned, "notes": notes}
        print(json.dumps({"run": place, **progress, **view.figures(), "effort": run.effort(), **extra}))
    else:
        if isinstance(sys.stdout, TextIOWrapper):  # a terminal without Unicode gets escapes, not a traceback
            sys.stdout.reconfigure(errors="backslashreplace")
        console = Console(markup=False, emoji=False, highlight=False)
        console.print(Styled(printable(view.title), style="bold"))
        for note in notes:
            console.print(Styled(printable(note), style="yellow"))
        view.show(console, diffs)
        console.print()
        if verbose:
            console.print(_cost(run.effort()))
            for record in run.records():
                if record.traceback:
                    console.print(f"{record.attack}, example {record.example_id}:\n{record.traceback}")
    return _errors(run, view.errors)


def _cost(effort: Mapping[str, float]) -> str:
    """What the victim was asked, the other models, and how long it took."""
    parts = [
        f"{effort.get('forwards', 0):.0f} texts in {effort.get('batches', 0):.0f} batches",
        f"{effort.get('reused', 0):.0f} answers from the cache",
        *(f"{name.removesuffix(_ASKED)} asked {times:.0f} times" for name, times in effort.items() if _ASKED in name),
        f"{effort.get('seconds', 0):.1f} s",
    ]
    return ", ".join(parts)


def show_tables(console: Console, tables: Sequence[Table], below: str) -> None:
    """Tables one below the other, and what is to be said about all of them."""
    for number, table in enumerate(tables):
        if number:
            console.print()
        console.print(table)
    console.print(Styled(below, style="dim italic"))


def diff(record: Record) -> Styled:
    """The original with each replaced word struck out and its replacement behind an arrow.

    Words left out stand in `[-...-]`, neighbours together, so that a text of a few words that stayed can be read.
    """
    text = Text(*record.original)
    new = {edit.position: edit.new for edit in record.edits}
    original = [printable(field) for field in record.original]
    styled, field, at, out = Styled("  "), 0, 0, False

    def closed() -> None:
        if out:
            styled.append("-]", style="dim")

    for position, (number, start, end) in enumerate(text.spans()):
        if number != field:
            closed()
            styled.append(original[field][at:] + "\n  ")
            field, at, out = number, 0, False
        if position not in new:
            continue
        between, word, replacement = original[number][at:start], original[number][start:end], printable(new[position])
        if out and not replacement and not between.strip():
            styled.append(between + word, style="red strike")
        else:
            closed()
            styled.append(between)
            out = not replacement
            if out:
                styled.append("[-", style="dim")
            styled.append(word, style="red strike")
            if not out:
                styled.append("→", style="dim")
                styled.append(replacement, style="bold green")
        at = end
    closed()
    styled.append(original[field][at:])
    return styled


def printable(text: str) -> str:
    """A string without the control characters that would steer a terminal; as long as before."""
    return _CONTROL.sub("\ufffd", text)


def _errors(run: Run, count: int) -> str:
    if not count:
        return ""
    first = next(record for record in run.records() if record.outcome is Outcome.ERROR)
    total = len(run)
    return (
        f"{count} of {total} attempts ended in an error and count as neither success nor failure; "
        f"the first is example {first.example_id}: {first.error}"
    )
