"""`mohs export`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from mohs.cli.options import Config, Json, Verbose


def export(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder.")],
    format: Annotated[str, typer.Option("--format", help="parquet, csv or jsonl.")] = "jsonl",
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The file; without it csv and jsonl go to standard output.")
    ] = None,
    config: Config = None,
    json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Write a run's records as a table: texts, edits, scores, queries.

    \b
    Examples:
      mohs export mohs-runs/RUN --format parquet --out records.parquet
      mohs export mohs-runs/RUN --format csv | head
    """
    from mohs.records.export import export as write
    from mohs.runs import Run

    with Run.open(run) as opened:
        count = write(opened.records(), format, out, sys.stdout)
    if out is not None:
        if json:
            from json import dumps

            print(dumps({"records": count, "format": format, "out": str(out)}))
        else:
            print(f"{count} records written to {out}")
