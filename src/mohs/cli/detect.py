"""`mohs detect`."""

from __future__ import annotations

import typer

from mohs.cli.handing import hand_over
from mohs.cli.saying import say
from mohs.cli.settings import command, help_of
from mohs.detecting.settings import Detecting, Output


def _detect(asked: Detecting, output: Output, *, json: bool, verbose: bool) -> None:
    """Fit the detectors, print the figures, and write the page and the file."""
    from mohs.cli.run_progress import progress_bar

    try:
        with progress_bar(json, "detecting") as progress:
            found = asked.carry_out(progress=progress)
    except KeyboardInterrupt:
        say("mohs: Interrupted: the runs are untouched; run the same command again.", error=True)
        raise typer.Exit(130) from None
    hand_over(found, output, "Texts", json=json)


detect = command([Detecting, Output], _detect, help_of(Detecting.__doc__), first=["runs", "detector", "train", "held"])
