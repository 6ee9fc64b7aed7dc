"""`mohs runs`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mohs.cli.options import Config, Json, Verbose
from mohs.cli.saying import say, say_json

if TYPE_CHECKING:
    from mohs.runs.folders import RunFolder


def runs(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Where to look.")] = Path("mohs-runs"),
    config: Config = None,
    json: Json = False,
    verbose: Verbose = False,
) -> None:
    """List run folders, those that changed last first: what each did to which victim, and its headline figure.

    \b
    Examples:
      mohs runs
      mohs runs my-runs --json
      mohs runs my-benchmark
    """
    from mohs.runs.folders import run_folders

    found = run_folders(folder)
    if json:
        say_json([one.to_json() for one in found])
        return
    if not found:
        say(f"There are no runs in {folder}.")
        return
    from rich.padding import Padding
    from rich.text import Text

    from mohs.report.terminal import SafeConsole, printable

    console = SafeConsole(markup=False, emoji=False, highlight=False)
    for one in found:
        name = printable(str(one.folder)).replace("\n", "\ufffd")  # a name of two lines would feign a run
        console.print(Text(name, style="bold"), soft_wrap=True)
        for line in _lines(one):
            console.print(Padding(Text(printable(line), style="red" if one.fault else ""), (0, 0, 0, 4)))
    unreadable = sum(one.fault is not None for one in found)
    if verbose or unreadable:
        say(f"{len(found)} runs, {unreadable} of them cannot be read.")


def _lines(one: RunFolder) -> list[str]:
    if one.fault is not None:
        return [f"{one.changed}, cannot be read: {one.fault}"]
    done = "finished" if one.finished == one.planned else f"{one.finished:,} of {one.planned:,} attempts"
    return [
        f"{one.changed}, {one.command}, {one.victim} on {one.data}, n = {one.examples:,}, {done}",
        str(one.headline),
    ]
