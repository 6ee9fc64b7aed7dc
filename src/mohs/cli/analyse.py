"""`mohs analyse`."""

from __future__ import annotations

import sys
from io import TextIOWrapper

import typer

from mohs.analyses.settings import Analysing, Output
from mohs.cli.saying import say, say_json
from mohs.cli.settings import command, help_of


def _analyse(asked: Analysing, output: Output, *, json: bool, verbose: bool) -> None:
    """Analyse, print the figures and write the page and the file."""
    from mohs.cli.run_progress import progress_bar
    from mohs.report.terminal import SafeConsole

    try:
        with progress_bar(json, "analysing") as progress:
            found = asked.carry_out(progress=progress)
    except KeyboardInterrupt:
        say("mohs: Interrupted: the run is untouched; run the same command again to analyse it anew.", error=True)
        raise typer.Exit(130) from None
    file = None if output.out is None else found.write(output.out)
    page = None if output.no_page else found.page(output.page)
    if json:
        say_json(
            {**found.to_json(), "out": None if file is None else str(file), "page": None if page is None else str(page)}
        )
        return
    if isinstance(sys.stdout, TextIOWrapper):  # a terminal without Unicode gets escapes, not a traceback
        sys.stdout.reconfigure(errors="backslashreplace")
    found.show(SafeConsole(markup=False, emoji=False, highlight=False))
    if file is not None:
        say(f"Substitutions: {file}")
    if page is not None:
        say(f"Page: {page}")


analyse = command([Analysing, Output], _analyse, help_of(Analysing.__doc__), first=["run", "train", "victim"])
