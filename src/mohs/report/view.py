"""How a run is shown: the base class of every verb's view."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from mohs.errors import BadInput
from mohs.tasks.described import loadable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console

    from mohs.records import Record
    from mohs.report.measured import ByPeople
    from mohs.runs.run import Run


class View:
    """Shows a run as JSON, on a terminal and as a page. Creating one is cheap: records are read when first needed.

    Each verb has a subclass. It must define `tables`; the rest is built from them unless it is overridden.
    """

    offers: ClassVar[tuple[str, ...]] = ()  # methods that the run itself offers, the main figures first

    judged: ClassVar[bool] = False  # whether a judge says how many successes people would accept

    measurable: ClassVar[bool] = False  # whether people can measure how many successes they accept

    def __init__(self, run: Run, judge: Any = None, measured: ByPeople | None = None) -> None:
        self._run = run
        self._judge = judge
        self._measured = measured

    @classmethod
    def of(
        cls,
        run: Run,
        against: Run | None = None,
        epsilon: float | None = None,
        judge: Any = None,
        measured: ByPeople | None = None,
    ) -> View:
        """The view of a run.

        Only some verbs can compare two runs, or take another epsilon, another judge, or what people measured.
        """
        if against is not None:
            raise BadInput(
                f"{run.folder or 'This run'} is not a bias run: --against compares two runs of `mohs bias`, "
                "before and after debiasing."
            )
        if epsilon is not None:
            raise BadInput(
                f"{run.folder or 'This run'} is a run of `mohs {run.command}`; --filter-epsilon is for runs of "
                "`mohs bias`."
            )
        if judge not in (None, "none") and not cls.judged:
            raise BadInput(
                f"{run.folder or 'This run'} is a run of `mohs {run.command}`; --judge is for runs of `mohs attack` "
                "and `mohs second-order`."
            )
        if measured is not None and not cls.measurable:
            raise BadInput(
                f"{run.folder or 'This run'} is a run of `mohs {run.command}`; --study is for runs of `mohs attack`."
            )
        return cls(run, judge, measured) if cls.measurable else cls(run, judge)

    @property
    def config(self) -> Mapping[str, Any]:
        """The settings of the run."""
        found: Mapping[str, Any] = self._run.manifest.get("config", {})
        return found

    @property
    def facts(self) -> Mapping[str, Any]:
        """What was found out about the victim, before the first search and at the end."""
        found: Mapping[str, Any] = self._run.manifest.get("facts", {})
        return {**found, "changed": self._run.effort().get("changed", 0)}

    @property
    def judge(self) -> Any:
        """The judge of fair success, or its name: the one asked for, else the run's, else the bundled one."""
        if self._judge is not None:
            return self._judge
        known = str(self.facts.get("judge") or "pocket")
        return known if loadable(known) else "none"

    def _about_judge(self) -> list[str]:
        """A note if fair success is left out because the run's judge was an object."""
        known = str(self.facts.get("judge") or "pocket")
        if not self.judged or self._judge is not None or known == "none" or loadable(known):
            return []
        return [f"Fair success is left out: the judge {known!r} was given as an object; name another with --judge."]

    def tables(self) -> list[tuple[str, list[tuple[str, str, str]]]]:
        """Captions and rows. A row is a figure's name, its value, and its denominator."""
        raise NotImplementedError

    @property
    def labels(self) -> list[str]:
        """The names of the classes, if known."""
        return [str(label) for label in self.config.get("labels") or ()]

    @property
    def about(self) -> str:
        """The part of the title that says what was done."""
        return self._run.command

    @property
    def title(self) -> str:
        """The line above the table."""
        config = self.config
        return f"{config.get('victim')} on {config.get('data')}, {self.about}, seed {config.get('seed')}"

    @property
    def headline(self) -> str:
        """The main result in a sentence, without the judge."""
        return f"{len(self._run):,} of {self._run.planned:,} attempts of mohs {self._run.command} are finished"

    @property
    def notes(self) -> list[str]:
        """What a reader must know before trusting the figures."""
        from mohs.report.flags import run_flags

        return [*run_flags(self.facts, len(self._run), self._run.planned), *self.facts.get("notes", ())]

    @property
    def errors(self) -> int:
        """How many attempts ended in an error."""
        return sum(record.error is not None for record in self._run.records())

    @property
    def alarm(self) -> str:
        """A sentence if the run contradicts itself, and the command must not end as if all were well; else empty."""
        return ""

    def figures(self) -> dict[str, Any]:
        """The figures for JSON."""
        return {"figures": {caption: {name: value for name, value, _ in rows} for caption, rows in self.tables()}}

    def show(self, console: Console, diffs: int) -> None:
        """Print the tables, and a few examples, on a terminal."""
        from mohs.report.table import marks, tables_of
        from mohs.report.terminal import show_tables

        show_tables(console, tables_of(self.tables(), console.width)[0], marks())

    def html(self) -> str:
        """The tables for a notebook."""
        from mohs.report.table import table_html

        return table_html(self.tables())

    def page(self) -> str:
        """The whole HTML page: the tables and the list of attempts."""
        from mohs.report.page import plain_page

        return plain_page(self, self._run)

    def columns(self, record: Record) -> dict[str, Any]:
        """Extra columns of an export."""
        return {}

    def files(self, folder: Path) -> list[Path]:
        """Write further files into the run folder and return their paths."""
        return []
