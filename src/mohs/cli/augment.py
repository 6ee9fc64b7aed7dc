"""`mohs augment`."""

from __future__ import annotations

import typer

from mohs.cli.saying import say, say_json
from mohs.cli.settings import command, help_of
from mohs.runs.augment import AugmentSettings
from mohs.tasks.reading import Reading


def _augment(asked: AugmentSettings, reading: Reading, *, json: bool, verbose: bool) -> None:
    from mohs.cli.run_progress import progress_bar

    try:
        with progress_bar(json, "augmenting") as progress:
            found = asked.carry_out(reading, progress)
    except KeyboardInterrupt:
        say("mohs: Interrupted: nothing was written; run the same command again.", error=True)
        raise typer.Exit(130) from None
    if json:
        say_json(found.to_json())
        return
    for note in found.notes:
        say(note, error=True)
    say(f"{found.rows:,} rows: {found.originals:,} originals and {found.new:,} new texts")
    if found.without:
        say(f"{found.without:,} copies could not be made: no word may change, or no draw passed the constraints")
    say(f"In {found.out}, made as {found.about.name} says: train on it with `mohs train --data {found.out}`")


augment = command([AugmentSettings, Reading], _augment, help_of(AugmentSettings.__doc__), first=["data", "out"])
