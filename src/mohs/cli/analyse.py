"""`mohs analyse`."""

from __future__ import annotations

import typer

from mohs.analyses.settings import Analysing, Output
from mohs.cli.handing import hand_over
from mohs.cli.saying import say
from mohs.cli.settings import command, help_of


def _analyse(asked: Analysing, output: Output, *, json: bool, verbose: bool) -> None:
    """Analyse, print the figures and write the page and the file."""
    from mohs.cli.run_progress import progress_bar

    try:
        with progress_bar(json, "analysing") as progress:
            found = asked.carry_out(progress=progress)
    except KeyboardInterrupt:
        say("mohs: Interrupted: the run is untouched; run the same command again to analyse it anew.", error=True)
        raise typer.Exit(130) from None
    hand_over(found, output, "Substitutions", json=json)


analyse = command([Analysing, Output], _analyse, help_of(Analysing.__doc__), first=["run", "train", "victim"])
