"""`mohs report` and `mohs attacks`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from mohs.cli.options import Config, Json, Verbose


def report(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder.")],
    page: Annotated[
        Path | None, typer.Option("--page", metavar="FILE", help="Where to write the page; by default into the folder.")
    ] = None,
    no_page: Annotated[bool, typer.Option("--no-page", help="Only print the figures.")] = False,
    config: Config = None,
    json: Json = False,
    verbose: Verbose = False,
) -> None:
    """Print a run's figures and write its browsable page.

    \b
    Examples:
      mohs report mohs-runs/RUN
      mohs report mohs-runs/RUN --json --no-page
    """
    from mohs.report.terminal import print_run
    from mohs.runs import Run

    with Run.open(run) as opened:
        written = None if no_page else opened.report(page or run / "report.html")
        errors = print_run(opened, as_json=json, verbose=verbose, page=str(written) if written else None)
        if written and not json:
            print(f"Page: {written}")
        if errors:
            print(f"mohs: {errors}", file=sys.stderr)


def attacks(config: Config = None, json: Json = False, verbose: Verbose = False) -> None:
    """List the attacks: presets, paper, black- or white-box, what they need and cost.

    \b
    Examples:
      mohs attacks
      mohs attacks --json
    """
    from dataclasses import asdict

    from mohs.attacks.catalogue import describe, entries, find_attack

    if json:
        from json import dumps

        print(dumps([asdict(entry) for entry in entries()], ensure_ascii=False))
        return
    from rich.console import Console

    console = Console(highlight=False)
    for entry in entries():
        console.print(f"[bold]{entry.name}[/] [dim]{', '.join(entry.presets)}[/]")
        console.print(f"    {entry.about}", markup=False)
        console.print(
            f"    {entry.paper}; {entry.box}-box; needs {', '.join(entry.needs)}; queries: {entry.cost}", markup=False
        )
    if verbose:
        for entry in entries():
            for preset in entry.presets:
                console.print(
                    f"\n{entry.name}:{preset}\n  {describe(find_attack(f'{entry.name}:{preset}')[1])}", markup=False
                )


def spaces(config: Config = None, json: Json = False, verbose: Verbose = False) -> None:
    """List the sources of words and the measures that constraints are made of, with their settings.

    \b
    Examples:
      mohs spaces
      mohs attack --source "wordnet:same_pos=yes+neighbours:k=8" --constraint "similarity:angular=no>=0.9"
    """
    from mohs.space.written import table

    rows = table()
    if json:
        from json import dumps

        print(dumps(rows, ensure_ascii=False))
        return
    from rich.console import Console

    console = Console(highlight=False)
    for kind, title in (("source", "Sources: --source, joined by +"), ("measure", "Measures: --measure, --constraint")):
        console.print(f"[bold]{title}[/]\n")
        for row in rows:
            if row["kind"] == kind:
                family = f" [dim]({row['family']})[/]" if kind == "measure" else ""
                asks = f" [dim]asks: {', '.join(row['needs'])}[/]" if row["needs"] else ""
                console.print(f"  [bold]{row['name']}[/]{family}{asks}")
                console.print(f"      {row['about']}", markup=False)
                if row["settings"]:
                    console.print(f"      [dim]{row['settings']}[/]")
        console.print()
