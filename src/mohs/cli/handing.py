"""Hands a result over: its page and its file are written, and its figures are printed."""

from __future__ import annotations

import sys
from io import TextIOWrapper
from typing import Any

from mohs.cli.saying import say, say_json


def hand_over(found: Any, output: Any, rows: str, *shown: Any, json: bool) -> None:
    """Write what `output` names, then print the figures. rows: what the file holds; shown: how to show the figures."""
    from mohs.report.terminal import SafeConsole

    file = None if output.out is None else found.write(output.out)
    page = None if output.no_page else found.page(output.page)
    if json:
        places = {"out": None if file is None else str(file), "page": None if page is None else str(page)}
        say_json({**found.to_json(), **places})
        return
    if isinstance(sys.stdout, TextIOWrapper):  # a terminal without Unicode gets escapes, not a traceback
        sys.stdout.reconfigure(errors="backslashreplace")
    found.show(SafeConsole(markup=False, emoji=False, highlight=False), *shown)
    if file is not None:
        say(f"{rows}: {file}")
    if page is not None:
        say(f"Page: {page}")
