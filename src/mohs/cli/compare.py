"""`mohs compare`."""

from __future__ import annotations

from mohs.cli.handing import hand_over
from mohs.cli.settings import command, help_of
from mohs.comparisons.settings import Comparing, Output


def _compare(asked: Comparing, output: Output, *, json: bool, verbose: bool) -> None:
    """Compare, print the figures and write the page and the file."""
    with asked.carry_out() as found:
        hand_over(found, output, "Examples", output.diffs, json=json)


compare = command([Comparing, Output], _compare, help_of(Comparing.__doc__), first=["runs"])
