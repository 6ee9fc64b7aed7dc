"""`mohs detect`."""

from __future__ import annotations

import sys
from io import TextIOWrapper

import typer

from mohs.cli.saying import say, say_json
from mohs.cli.settings import command, help_of
from mohs.detecting.settings import Detecting, Output


def _detect(asked: Detecting, output: Output, *, json: bool, verbose: bool) -> None:
    """Fit the detectors, print the figures, and write the page and the file."""
    from mohs.cli.run_progress import progress_bar
    from mohs.report.terminal import SafeConsole

    try:
        with progress_bar(json, "detecting") as progress:
            found = asked.carry_out(progress=progress)
    except KeyboardInterrupt:
        say("mohs: Interrupted: the runs are untouched; run the same command again.", error=True)
        raise typer.Exit(130) from None
    file = None if output.out is None else found.write(output.out)
    page = None if output.no_page else found.page(output.page)
    if json:
        places = {"out": None if file is None else str(file), "page": None if page is None else str(page)}
        say_json({**found.to_json(), **places})
        return
    if isinstance(sys.stdout, TextIOWrapper):  # a terminal without Unicode gets escapes, not a traceback
        sys.stdout.reconfigure(errors="backslashreplace")
    found.show(SafeConsole(markup=False, emoji=False, highlight=False))
    if file is not None:
        say(f"Texts: {file}")
    if page is not None:
        say(f"Page: {page}")


detect = command([Detecting, Output], _detect, help_of(Detecting.__doc__), first=["runs", "detector", "train", "held"])
