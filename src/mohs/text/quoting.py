"""Finds out whether the cells of a tab-separated file are quoted.

Some programs write TSV as CSV with tabs: a text with a quotation mark, a tab or a line break stands in quotation marks,
and those inside are doubled. Others write texts as they are; there, a mark at the start of a cell would swallow
everything up to the next one. Nothing in a file says which it is, so the cells decide:

- If every line has the columns of the header, a file is quoted only if each cell that begins with a mark is a whole
  quoted cell, and the marks stand where a writer puts them: in the header, around all texts of a column, or around
  exactly those with a mark (or, as spreadsheets do, a comma) inside. Otherwise doubled marks are weighed against marks
  that no writer would have left so.
- If a line has other columns, the file is quoted if it can be read so.

Up to the first cell that begins with a mark both readings are equal. From there on, some thousands of lines decide.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import IO

_ENOUGH = 10_000  # lines
_WHOLE = re.compile(r'"(?:[^"]|"")*"')
_NUMBER = re.compile(r"\s*[-+]?[0-9.]*(?:[eE][-+]?[0-9]+)?\s*|NA|NaN|nan")


@dataclass(frozen=True)
class Quoting:
    """How a tab-separated file is read."""

    quoted: bool
    marked: int  # cells that begin with a quotation mark, among those looked at
    fault: str = ""  # what keeps it from being read either way

    def note(self, source: str) -> str:
        """What was assumed, in a sentence; empty if it makes no difference."""
        if not self.marked:
            return ""
        if self.quoted:
            return f"{source} was taken for quoted TSV: quotation marks around cells were removed, doubled ones halved."
        return (
            f"{source} was taken for TSV without quoting, although cells begin with a quotation mark: all marks were "
            "kept as part of the texts."
        )


class _Column:
    """Counts of the cells of one column."""

    def __init__(self) -> None:
        self.doubled = 0  # quoted, with a mark inside
        self.plain = 0  # quoted, with neither a mark nor a comma inside
        self.listing = 0  # quoted, with a comma inside and no mark
        self.bare = 0  # texts that are not quoted
        self.bare_commas = 0
        self.stray = 0  # not quoted, with a mark inside

    def add(self, cell: str) -> None:
        if cell.startswith('"'):
            inside = cell[1:-1]
            self.doubled += '"' in inside
            self.listing += '"' not in inside and "," in inside
            self.plain += '"' not in inside and "," not in inside
        else:
            self.bare += not _NUMBER.fullmatch(cell)
            self.bare_commas += "," in cell
            self.stray += '"' in cell

    @property
    def against(self) -> int:
        """The least number of cells that a writer of quoted cells would have written otherwise."""
        everything = self.bare
        minimal = self.plain + self.listing
        spreadsheet = self.plain + self.bare_commas
        return self.stray + min(everything, minimal, spreadsheet)


def quoting_of(opened: Callable[[], AbstractContextManager[IO[str]]], rows: int | None = None) -> Quoting:
    """How to read a tab-separated file. opened: opens it anew, at its start and with line endings as they are.

    rows: if none of the first so many begin a cell with a mark, the rest does not matter.
    """
    marked, open_cells, bad, last = 0, 0, "", math.inf if rows is None else rows + 1
    with opened() as stream:
        lines = csv.reader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)
        header: Sequence[str] = next(filter(None, lines), [])
        columns = [_Column() for _ in header]
        named = any(map(_WHOLE.fullmatch, header))
        for number, cells in enumerate(_several(header, lines), 1):
            if number > last:
                break
            starts = [cell for cell in cells if cell.startswith('"')]
            if starts and not marked:
                last = number + _ENOUGH
            marked += len(starts)
            open_cells += sum(not _WHOLE.fullmatch(cell) for cell in starts)
            if len(cells) != len(header):
                few = "more" if len(cells) > len(header) else "fewer"
                bad = f"line {lines.line_num} has {few} columns than the header"
                break
            if cells is not header and not open_cells:
                for column, cell in zip(columns, cells, strict=True):
                    column.add(cell)
    if not marked:
        return Quoting(False, 0)
    if bad:
        broken = _broken(opened, last)
        return Quoting(True, marked, f"{bad}, and {broken}" if broken else "")
    if open_cells:
        return Quoting(False, marked)
    against = sum(column.against for column in columns)
    return Quoting(named or not against or against < sum(column.doubled for column in columns), marked)


def _several(header: Sequence[str], lines: Iterable[list[str]]) -> Iterable[Sequence[str]]:
    if header:
        yield header
    yield from filter(None, lines)  # blank lines are no rows


def _broken(opened: Callable[[], AbstractContextManager[IO[str]]], last: float) -> str:
    """What is wrong with a file up to its last line looked at, if its cells are quoted; empty if nothing is."""
    with opened() as stream:
        rows = csv.reader(stream, delimiter="\t", strict=True)
        done = 0
        try:
            header: Sequence[str] = next(filter(None, rows), [])
            done = rows.line_num
            for row in filter(None, rows):
                done = rows.line_num
                if done > last:
                    break
                if len(row) != len(header):
                    return f"as quoted TSV line {done} has {len(row)} columns instead of {len(header)}"
        except csv.Error as error:
            return f"as quoted TSV it cannot be read from line {done + 1} on ({error})"
    return ""
