"""`mohs defend`."""

from __future__ import annotations

import typer

from mohs.cli.handing import hand_over
from mohs.cli.saying import say
from mohs.cli.settings import command, help_of
from mohs.defending.settings import Defending, Output


def _defend(asked: Defending, output: Output, *, json: bool, verbose: bool) -> None:
    """Judge the defences, print the figures, and write the page and the file."""
    from mohs.cli.run_progress import progress_bar
    from mohs.runs.containment import no_sudden_end, own_output

    try:
        with own_output(), no_sudden_end(), progress_bar(json, "judging") as progress:
            found = asked.carry_out(progress=progress)
    except KeyboardInterrupt:
        say(
            "mohs: Interrupted: the answers and attempts so far are kept; run the same command again to go on.",
            error=True,
        )
        raise typer.Exit(130) from None
    hand_over(found, output, "Rows", json=json)
    if found.errors:
        say(f"mohs: {found.errors} texts or attempts ended in an error; they are in no denominator.", error=True)
        raise typer.Exit(3)


defend = command(
    [Defending, Output],
    _defend,
    help_of(Defending.__doc__),
    first=["runs", "defences", "keys", "adaptive_keys", "draws", "average"],
)
