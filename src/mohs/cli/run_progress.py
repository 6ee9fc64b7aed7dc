"""Shared by all commands that make a run: the progress bar, Ctrl-C, and what is printed at the end."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from mohs.cli.saying import say
from mohs.errors import MohsError, ServiceFailed

if TYPE_CHECKING:
    from mohs.report.view import View
    from mohs.runs.carry_out import Progress, Unnamed
    from mohs.runs.run import Run


@contextmanager
def saving_on_interrupt(out: Path | Unnamed | None) -> Iterator[None]:
    """After Ctrl-C or a failed model, say what is saved and how to resume."""
    from mohs.records import RunStore

    def saved() -> str:
        if out is None:
            return "a demo is not saved; start it again."
        folder = out if isinstance(out, Path) else out.path
        try:
            store = RunStore.read(folder)
        except MohsError:
            return "nothing was finished yet."
        count = len(store)
        store.close()
        return f"{count} finished attempts are saved in {folder}; run the same command again to resume."

    try:
        yield
    except KeyboardInterrupt:
        say(f"mohs: Interrupted: {saved()}", error=True)
        raise typer.Exit(130) from None
    except ServiceFailed as error:
        raise ServiceFailed(f"{error} {saved()[0].upper()}{saved()[1:]}") from error


@contextmanager
def progress_bar(quiet: bool, doing: str = "attacking") -> Iterator[Progress | None]:
    """A progress bar with rate and time left on standard error; None if that is not a terminal."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from mohs.report.terminal import SafeConsole

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
        TextColumn("[dim]{task.fields[fooled]}"),
        console=SafeConsole(stderr=True),
        transient=True,
    )
    with bar:
        task = bar.add_task(doing, total=None, rate="", fooled="")
        fooled = tried = 0

        def step(record: Any, finished: int, total: int) -> None:
            nonlocal fooled, tried
            if record is not None:
                fooled += record.outcome == "success"
                tried += record.outcome in ("success", "failed", "exhausted")
            speed = bar.tasks[0].speed
            bar.update(
                task,
                completed=finished,
                total=total,
                rate=f"{speed:.1f}/s" if speed else "",
                fooled=f"{fooled} of {tried} reached the goal" if tried else "",
            )

        yield step


def finished(run: Run, view: View, as_json: bool, verbose: bool, ending: str, **extra: Any) -> None:
    """Print the summary, a few diffs and the files; exit with 3 if some examples ended in an error."""
    from mohs.report.terminal import print_run

    errors = print_run(run, view, as_json=as_json, verbose=verbose, diffs=3, **extra)
    if not as_json:
        say(ending)
    if errors:
        say(f"mohs: {errors}", error=True)
        raise typer.Exit(3)
