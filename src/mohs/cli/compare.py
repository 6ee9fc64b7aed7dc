"""`mohs compare`."""

from __future__ import annotations

import sys
from io import TextIOWrapper

from mohs.cli.saying import say, say_json
from mohs.cli.settings import command, help_of
from mohs.comparisons.settings import Comparing, Output


def _compare(asked: Comparing, output: Output, *, json: bool, verbose: bool) -> None:
    """Compare, print the figures and write the page and the file."""
    from mohs.report.terminal import SafeConsole

    with asked.carry_out() as found:
        file = None if output.out is None else found.write(output.out)
        page = None if output.no_page else found.page(output.page)
        if json:
            places = {"out": None if file is None else str(file), "page": None if page is None else str(page)}
            say_json({**found.to_json(), **places})
            return
        if isinstance(sys.stdout, TextIOWrapper):  # a terminal without Unicode gets escapes, not a traceback
            sys.stdout.reconfigure(errors="backslashreplace")
        found.show(SafeConsole(markup=False, emoji=False, highlight=False), output.diffs)
        if file is not None:
            say(f"Examples: {file}")
        if page is not None:
            say(f"Page: {page}")


compare = command([Comparing, Output], _compare, help_of(Comparing.__doc__), first=["runs"])
