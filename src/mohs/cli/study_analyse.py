"""`mohs study analyse`."""

from __future__ import annotations

import typer

from mohs.cli.handing import hand_over
from mohs.cli.saying import say
from mohs.cli.settings import command, help_of
from mohs.studies.analysing import Analysing, Output


def add(app: typer.Typer) -> None:
    """Register the command."""
    app.command("analyse", short_help="Say how far people agree and what they find valid.")(
        command([Analysing, Output], _analyse, help_of(Analysing.__doc__), first=["study"])
    )


def _analyse(asked: Analysing, output: Output, *, json: bool, verbose: bool) -> None:
    """Analyse, print the figures, and write the page and the file."""
    from mohs.cli.run_progress import progress_bar

    try:
        with progress_bar(json, "comparing") as progress:
            found = asked.carry_out(progress)
    except KeyboardInterrupt:
        say("mohs: Interrupted: the study is untouched; run the same command again.", error=True)
        raise typer.Exit(130) from None
    hand_over(found, output, "Items", json=json)
