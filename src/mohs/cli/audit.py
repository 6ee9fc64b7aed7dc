"""`mohs audit`."""

from __future__ import annotations

import sys
from io import TextIOWrapper

import typer

from mohs.audits.settings import Auditing, Output
from mohs.cli.saying import say, say_json
from mohs.cli.settings import command, help_of
from mohs.errors import ServiceFailed

_SAVED = "what was measured so far is saved in the run folder; run the same command again to go on."


def _audit(asked: Auditing, output: Output, *, json: bool, verbose: bool) -> None:
    """Measure, print the figures and write the page."""
    from mohs.cli.run_progress import progress_bar
    from mohs.report.terminal import SafeConsole

    try:
        with progress_bar(json, "auditing") as progress:
            found = asked.carry_out(progress=progress)
    except KeyboardInterrupt:
        say(f"mohs: Interrupted: {_SAVED}", error=True)
        raise typer.Exit(130) from None
    except ServiceFailed as error:
        raise ServiceFailed(f"{error} {_SAVED[0].upper()}{_SAVED[1:]}") from error
    with found:
        written = None if output.no_page else found.page(output.page)
        if json:
            say_json({**found.to_json(), "page": None if written is None else str(written)})
            return
        if isinstance(sys.stdout, TextIOWrapper):  # a terminal without Unicode gets escapes, not a traceback
            sys.stdout.reconfigure(errors="backslashreplace")
        found.show(SafeConsole(markup=False, emoji=False, highlight=False))
        if written is not None:
            say(f"Page: {written}")


audit = command([Auditing, Output], _audit, help_of(Auditing.__doc__), first=["runs"])
