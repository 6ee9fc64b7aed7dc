"""How a finished run is shown: what every verb's view has."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from mohs.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console

    from mohs.records import Record
    from mohs.runs.run import Run


class View:
    """A run's figures for machines, people and browsers. Making one is free: records are read when first needed.

    A verb's view is a subclass. It must say its `tables`; everything else is made of them unless it says better.
    """

    offers: ClassVar[tuple[str, ...]] = ()  # methods that can be called on the run itself, the main figures first

    def __init__(self, run: Run) -> None:
        self._run = run

    @classmethod
    def of(cls, run: Run, against: Run | None = None, epsilon: float | None = None) -> View:
        """The view of a run; only some verbs can compare two runs or take another epsilon."""
        if against is not None:
            raise BadInput(
                f"{run.folder or 'This run'} is no bias run: --against compares two runs of `mohs bias`, "
                "before and after debiasing."
            )
        if epsilon is not None:
            raise BadInput(
                f"{run.folder or 'This run'} is a run of `mohs {run.command}`; --filter-epsilon is for runs of "
                "`mohs bias`."
            )
        return cls(run)

    @property
    def config(self) -> Mapping[str, Any]:
        """What was asked for."""
        found: Mapping[str, Any] = self._run.manifest.get("config", {})
        return found

    @property
    def facts(self) -> Mapping[str, Any]:
        """What turned out before the first search."""
        found: Mapping[str, Any] = self._run.manifest.get("facts", {})
        return found

    def tables(self) -> list[tuple[str, list[tuple[str, str, str]]]]:
        """Captions and rows: a figure's name, its value, and what it is a share or mean of."""
        raise NotImplementedError

    @property
    def labels(self) -> list[str]:
        """The names of the classes, if they are known."""
        return [str(label) for label in self.config.get("labels") or ()]

    @property
    def about(self) -> str:
        """What was done, in the title."""
        return self._run.command

    @property
    def title(self) -> str:
        """What stands above the table."""
        config = self.config
        return f"{config.get('victim')} on {config.get('data')}, {self.about}, seed {config.get('seed')}"

    @property
    def notes(self) -> list[str]:
        """What a reader must know before believing the figures."""
        from mohs.report.flags import run_flags

        return [*run_flags(self.facts, len(self._run), self._run.planned), *self.facts.get("notes", ())]

    @property
    def errors(self) -> int:
        """How many attempts ended in an error."""
        return sum(record.error is not None for record in self._run.records())

    def figures(self) -> dict[str, Any]:
        """For machines."""
        return {"figures": {caption: {name: value for name, value, _ in rows} for caption, rows in self.tables()}}

    def show(self, console: Console, diffs: int) -> None:
        """For people on a terminal: tables, and a few examples."""
        from mohs.report.table import tables_of
        from mohs.report.terminal import show_tables

        show_tables(console, tables_of(self.tables(), console.width)[0], "in brackets: 95% intervals")

    def html(self) -> str:
        """The tables for a notebook."""
        from mohs.report.table import table_html

        return table_html(self.tables())

    def page(self) -> str:
        """The whole HTML page: the tables and the list of attempts."""
        from mohs.report.page import plain_page

        return plain_page(self, self._run)

    def columns(self, record: Record) -> dict[str, Any]:
        """Further columns of an export."""
        return {}

    def files(self, folder: Path) -> list[Path]:
        """Write what else belongs into a run folder, and say what was written."""
        return []
