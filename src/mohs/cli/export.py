"""`mohs export`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from mohs.cli.options import Config, Json, Verbose


def export(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder.")],
    format: Annotated[
        str | None, typer.Option("--format", help="parquet, csv or jsonl; default: the ending of --out, or jsonl.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Output file; without it csv and jsonl go to standard output.")
    ] = None,
    outcome: Annotated[
        str | None, typer.Option(help="Only these: success, failed, measured, skipped, exhausted or error.")
    ] = None,
    config: Config = None,
    json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Write a run's records as a table: texts, edits, scores, queries.

    \b
    Examples:
      mohs export mohs-runs/RUN --format parquet --out records.parquet
      mohs export mohs-runs/RUN --format csv --outcome success | head
    """
    from mohs.errors import BadInput
    from mohs.records import Outcome
    from mohs.records.export import FORMATS
    from mohs.records.export import export as write
    from mohs.runs.run import Run

    ending = out.suffix.lstrip(".").lower() if out else ""
    if format is None and ending and ending not in FORMATS:
        known = ", ".join(f".{name}" for name in FORMATS)
        raise BadInput(f"The ending of --out {out} is not a format; use {known}, or give one with --format.")
    format = format or ending or "jsonl"
    if outcome is not None and outcome not in list(Outcome):
        raise BadInput(f"Unknown outcome {outcome!r}; use {', '.join(Outcome)}.")
    with Run.open(run) as opened:
        there = {str(record.outcome): None for record in opened.records()} if outcome is not None else {}
        if there and outcome not in there:
            raise BadInput(f"No record of {run} has the outcome {outcome}; its outcomes are {', '.join(there)}.")
        wanted = (record for record in opened.records() if outcome in (None, record.outcome))
        count = write(wanted, format, out, sys.stdout, opened.view().columns)
    if out is not None:
        if json:
            from json import dumps

            print(dumps({"records": count, "format": format, "out": str(out)}))
        else:
            print(f"{count} records written to {out}")
