"""Shared by all commands that make a run: the progress bar, Ctrl-C, and what is printed at the end."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

import typer

from mohs.cli.saying import say
from mohs.errors import MohsError, ServiceFailed
from mohs.report.pace import Pace

if TYPE_CHECKING:
    from mohs.report.view import View
    from mohs.runs.carry_out import Progress, Unnamed
    from mohs.runs.run import Run

_MINUTE = 60.0


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
    """Progress on standard error: a bar with time taken, rate and time left, or a line every minute without a terminal.

    None if quiet.
    """
    if quiet:
        yield None
        return
    seen = _Seen(doing)
    with _bar(seen) if sys.stderr.isatty() else _lines(seen):
        yield seen.step


class _Seen:
    """What progress shows."""

    def __init__(self, doing: str) -> None:
        self.doing = doing
        self.pace = Pace()
        self._fooled = self._tried = 0

    def step(self, record: Any, finished: int, total: int) -> None:
        if record is not None:
            self._fooled += record.outcome == "success"
            self._tried += record.outcome in ("success", "failed", "exhausted")
        self.pace.step(finished, total)

    @property
    def reached(self) -> str:
        return f"{self._fooled} of {self._tried} succeeded" if self._tried else ""

    @property
    def line(self) -> str:
        """All of it in one line."""
        told = f"{self.doing}: {self.pace.finished:,} of {self.pace.total:,} after {self.pace.told()}"
        return f"{told}; {self.reached}" if self.reached else told


@contextmanager
def _lines(seen: _Seen) -> Iterator[None]:
    """Write a line every minute, also while nothing is finished."""
    over = Event()
    thread = Thread(target=every_minute, args=(seen, partial(say, error=True), over.wait), daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def every_minute(seen: _Seen, write: Callable[[str], None], wait: Callable[[float], bool]) -> None:
    """Write a line after each minute until `wait`, called with a number of seconds, says that it is over."""
    while not wait(_MINUTE):
        if seen.pace.total:
            write(seen.line)


@contextmanager
def _bar(seen: _Seen) -> Iterator[None]:
    from rich.progress import BarColumn, Progress, ProgressColumn, Task
    from rich.table import Column
    from rich.text import Text

    from mohs.report.terminal import SafeConsole

    class Told(ProgressColumn):
        max_refresh = 0.5

        def render(self, task: Task) -> Text:
            pace = seen.pace
            if not pace.total:
                return Text()
            said = f"{pace.finished:,}/{pace.total:,}  {pace.told()}"
            return Text.assemble(said, (f"  {seen.reached}", "dim"))

    class Bar(BarColumn):
        def render(self, task: Task) -> Any:
            task.completed, task.total = seen.pace.finished, seen.pace.total or None
            return super().render(task)

    with Progress(
        "{task.description}",
        Bar(12),
        Told(table_column=Column(no_wrap=True, overflow="ellipsis")),
        console=SafeConsole(stderr=True),
        transient=True,
    ) as bar:
        bar.add_task(seen.doing, total=None)
        yield


def finished(run: Run, view: View, as_json: bool, verbose: bool, ending: str, **extra: Any) -> None:
    """Print the summary, a few diffs and the files; exit with 3 if some examples ended in an error.

    A run that contradicts itself ends with 1.
    """
    from mohs.report.terminal import print_run

    errors = print_run(run, view, as_json=as_json, verbose=verbose, diffs=3, **extra)
    if not as_json:
        say(ending)
    if view.alarm:
        say(f"mohs: {view.alarm}", error=True)
    if errors:
        say(f"mohs: {errors}", error=True)
    if view.alarm or errors:
        raise typer.Exit(1 if view.alarm else 3)
