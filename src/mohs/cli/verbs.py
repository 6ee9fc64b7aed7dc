"""The commands of all verbs, made from their options."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import typer

from mohs.cli.run_progress import finished, progress_bar, saving_on_interrupt
from mohs.cli.saying import say
from mohs.cli.settings import command, help_of
from mohs.runs.settings import Settings
from mohs.runs.verbs import commands, verb_of
from mohs.tasks.option import option
from mohs.tasks.plan import Verb


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a run goes."""

    out: Path | None = option("The run folder; by default mohs-runs/NAME, named after the options.", metavar="FOLDER")


def add_verbs(app: typer.Typer) -> None:
    """Add a command for every verb."""
    for name in commands():
        verb = verb_of(name)
        call = command([Settings, verb, Place], _run, help_of(verb.__doc__), first=_order(verb))
        app.command(name, short_help=(verb.__doc__ or "").partition("\n")[0])(call)


def _order(verb: type[Verb]) -> list[str]:
    """The names of the most used options, which come first: victim, data, and the verb's own."""
    from mohs.tasks.option import options_of

    own = [f.name for f, told in options_of(verb) if told.command]
    return ["victim", "data", *own, "n", "seed", "out"]


def _run(settings: Settings, verb: Verb, place: Place, *, json: bool, verbose: bool) -> None:
    """Carry out a verb and show the result."""
    from mohs.report.template import written
    from mohs.runs.carry_out import Unnamed, carry_out
    from mohs.runs.containment import no_sudden_end, own_output
    from mohs.runs.run import sound

    out: Any = place.out or Unnamed.of(settings, verb)
    with saving_on_interrupt(out), own_output(), no_sudden_end(), progress_bar(json, verb.doing) as progress:
        said = partial(say, error=True) if progress is not None and sys.stderr.isatty() else None
        run = carry_out(settings, verb, out, progress, said)
    with run, sound(run):
        assert run.folder is not None, "a command always has a run folder"
        view = verb.view(run)
        files = [written(view.page(), run.folder / "report.html"), *view.files(run.folder)]
        names = ", ".join(path.name for path in files)
        finished(run, view, json, verbose, f"In {run.folder}: {names}", files=list(map(str, files)))
