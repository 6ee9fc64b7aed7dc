"""`mohs export`."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mohs.cli.saying import Terminal, say, say_json
from mohs.cli.settings import command, help_of
from mohs.tasks.option import option

if TYPE_CHECKING:
    from mohs.runs.run import Run


@dataclass(frozen=True, kw_only=True)
class Export:
    """Write a run's records as a table: texts, edits, scores, queries.

    Examples:
      mohs export mohs-runs/RUN --format parquet --out records.parquet
      mohs export mohs-runs/RUN --format csv --outcome success | head
      mohs export mohs-runs/DAMAGED --salvage --out rest.jsonl
    """

    run: Path = option("A run folder.", metavar="RUN", argument=True)
    format: str | None = option("parquet, csv or jsonl; default: the ending of --out, or jsonl.")
    out: Path | None = option("Output file; without it csv and jsonl go to standard output.", metavar="FILE")
    outcome: str | None = option(
        "Only these: success, failed, measured, skipped, exhausted, detected, rejected or error."
    )
    salvage: bool = option(
        "Of a damaged run, write the records that are intact, and say how many are lost.", default=False
    )


def _export(asked: Export, *, json: bool, verbose: bool) -> None:
    """Write the records."""
    from mohs.errors import BadInput
    from mohs.records import Outcome
    from mohs.records.export import FORMATS
    from mohs.records.export import export as write
    from mohs.records.store import BARE, salvaged
    from mohs.runs.run import Run, sound
    from mohs.runs.verbs import commands

    run, format, out, outcome = asked.run, asked.format, asked.out, asked.outcome
    ending = out.suffix.lstrip(".").lower() if out else ""
    if format is None and ending and ending not in FORMATS:
        known = ", ".join(f".{name}" for name in FORMATS)
        raise BadInput(f"The ending of --out {out} is not a format; use {known}, or give one with --format.")
    format = format or ending or "jsonl"
    if outcome is not None and outcome not in list(Outcome):
        raise BadInput(f"Unknown outcome {outcome!r}; use {', '.join(Outcome)}.")
    store, lost = salvaged(run) if asked.salvage else (None, 0)
    with Run.open(run) if store is None else Run(store) as opened, sound(opened):
        if asked.salvage and not _fits(opened):
            opened.manifest.update(BARE)
        there = {str(record.outcome): None for record in opened.records()} if outcome is not None else {}
        if there and outcome not in there:
            raise BadInput(f"No record of {run} has the outcome {outcome}; its outcomes are {', '.join(there)}.")
        wanted = (record for record in opened.records() if outcome in (None, record.outcome))
        columns = opened.view().columns if opened.command in commands() else None  # of a verb that is not known here
        stdout: Any = Terminal(sys.stdout)
        count = write(wanted, format, out, stdout, columns)
    if asked.salvage:
        say(f"mohs: {count} records of {run} are written; {_lost(lost)}.", error=True)
    if out is not None:
        if json:
            told = {"lost": lost} if asked.salvage else {}
            say_json({"records": count, "format": format, "out": str(out), **told})
        else:
            say(f"{count} records written to {out}")


def _fits(run: Run) -> bool:
    """Whether records can be shown with their manifest, which may be damaged too."""
    from mohs.errors import MohsError
    from mohs.runs.verbs import commands

    try:
        columns = run.view().columns if run.command in commands() else None
        for record in run.records():
            if columns is not None:
                columns(record)
    except (MohsError, KeyError, TypeError, ValueError, AttributeError, IndexError):
        return False
    return True


def _lost(number: int | None) -> str:
    return "nobody can tell how many are lost" if number is None else f"{number} are lost"


export = command([Export], _export, help_of(Export.__doc__))
