"""Prints a run on the terminal: its figures and its cost. Also holds printing helpers that several views share."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text as Styled

from mohs.records import Outcome, Record
from mohs.report.listing import pieces, told_by_edits
from mohs.report.pace import duration, speed
from mohs.text import Text
from mohs.text.characters import odd_characters

_ASKED = "_asked"
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")

if TYPE_CHECKING:
    from mohs.report.view import View
    from mohs.runs.run import Run


class SafeConsole(Console):
    """A console that replaces control characters in all it prints: names, ids and errors may hold escape codes."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterator[Segment]:
        """What is printed, in pieces."""
        for piece in super().render(renderable, options):
            yield piece if piece.control else Segment(printable(piece.text), piece.style)


def print_run(run: Run, view: View, *, as_json: bool, verbose: bool, diffs: int = 0, **extra: Any) -> str:
    """Print a run through its view. Returns a sentence about errors, or an empty string if there were none."""
    notes = view.notes  # reads the records first, so that an unreadable run prints nothing
    if as_json:
        place = str(run.folder) if run.folder else None
        progress = {"finished": len(run), "planned": run.planned, "notes": notes}
        print(json.dumps({"run": place, **progress, **view.figures(), "effort": run.effort(), **extra}))
    else:
        if isinstance(sys.stdout, TextIOWrapper):  # a terminal without Unicode gets escapes, not a traceback
            sys.stdout.reconfigure(errors="backslashreplace")
        console = SafeConsole(markup=False, emoji=False, highlight=False)
        console.print(Styled(printable(view.title), style="bold"))
        for note in notes:
            console.print(Styled(printable(note), style="yellow"))
        view.show(console, diffs)
        console.print()
        console.print(_time(run), style="dim")
        if verbose:
            console.print(_cost(run.effort()))
            for record in run.records():
                if record.traceback:
                    console.print(f"{record.attack}, example {record.example_id}:\n{record.traceback}")
    return _errors(run, view.errors)


def _time(run: Run) -> str:
    """How long the run took, and how fast that was."""
    effort = run.effort()
    seconds, texts = effort.get("seconds", 0.0), effort.get("forwards", 0.0)
    told = f"{len(run):,} attempts in {duration(seconds) if seconds >= 60 else f'{seconds:.1f} s'}"
    if seconds <= 0:
        return told
    return f"{told}: {speed(len(run), seconds)}, {texts:,.0f} texts asked, {speed(texts, seconds)}"


def _cost(effort: Mapping[str, float]) -> str:
    """The calls to the victim and to the other models, and the time taken."""
    parts = [
        f"{effort.get('forwards', 0):.0f} texts in {effort.get('batches', 0):.0f} batches",
        f"{effort.get('reused', 0):.0f} answers from the cache",
        *(f"{name.removesuffix(_ASKED)} asked {times:.0f} times" for name, times in effort.items() if _ASKED in name),
        f"{effort.get('cpu_seconds', 0):.1f} CPU seconds",
    ]
    return ", ".join(parts)


def show_tables(console: Console, tables: Sequence[Table], below: str) -> None:
    """Print tables one below the other, then a note about all of them."""
    for number, table in enumerate(tables):
        if number:
            console.print()
        console.print(table)
    console.print(Styled(below, style="dim italic"))


def diff(record: Record) -> Styled:
    """The original text, with each replaced word struck out and followed by an arrow and its replacement.

    Deleted words stand in `[-...-]`, adjacent ones together, so that a text with few words left stays readable. In
    changed words, characters that readers cannot see or take for others have their code points: `go⟨U+200B⟩od`. Where
    the edits do not tell the whole final text, both texts are compared: added words stand in `{+...+}`.
    """
    if not told_by_edits(record):
        return _compared(record)
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
        old = record.original[number][start:end]
        between, word, replacement = original[number][at:start], spelled_out(old), spelled_out(new[position], old)
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


def _compared(record: Record) -> Styled:
    """The original text with what differs in the final one: words, and the signs between them."""
    styled = Styled("  ")
    for number, field in enumerate(pieces(record)):
        styled.append("\n  " if number else "")
        for piece in field:
            if isinstance(piece, str):
                styled.append(printable(piece))
                continue
            if isinstance(piece, dict):  # a patch, and none was asked for
                continue
            old, new, *_ = piece
            opening, sign, closing = ("", "→", "") if old and new else ("[-", "", "-]") if old else ("{+", "", "+}")
            styled.append(opening, style="dim")
            styled.append(spelled_out(old), style="red strike")
            styled.append(sign, style="dim")
            styled.append(spelled_out(new, old), style="bold green")
            styled.append(closing, style="dim")
    return styled


def printable(text: str) -> str:
    """The string with each terminal control character replaced by U+FFFD. Its length does not change."""
    return _CONTROL.sub("\ufffd", text)


def spelled_out(word: str, instead_of: str = "") -> str:
    """A changed word for the terminal, with the code points of odd characters; invisible ones are not printed."""
    odd = {sign.at: sign for sign in odd_characters(word, instead_of)}
    return "".join(
        f"{sign if odd[at].seen else ''}⟨{odd[at].code}⟩" if at in odd else sign for at, sign in enumerate(word)
    )


def _errors(run: Run, count: int) -> str:
    if not count:
        return ""
    first = next(record for record in run.records() if record.outcome is Outcome.ERROR)
    total = len(run)
    return (
        f"{count} of {total} attempts ended in an error and count as neither success nor failure; "
        f"the first is example {first.example_id}: {first.error}"
    )
