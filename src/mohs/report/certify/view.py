"""The view of a certify run: three accuracies for each budget, and the examples that were fooled."""

from __future__ import annotations

from functools import cached_property
from itertools import islice
from typing import Any

from rich.console import Console
from rich.text import Text as Styled

from mohs.certifying.budgets import written
from mohs.certifying.finding import CertifyFinding
from mohs.records import Record
from mohs.report.certify.figures import (
    BudgetFigures,
    CertifySummary,
    alarm_of,
    certify_flags,
    certify_lines,
    compared,
    headline,
    summarise_certify,
)
from mohs.report.table import marks, tables_of
from mohs.report.terminal import diff, printable, show_tables
from mohs.report.view import View


class CertifyView(View):
    """The view of a certify run."""

    offers = ("certified",)
    about = "certified accuracy"

    @cached_property
    def _summary(self) -> CertifySummary:
        return summarise_certify(self._run.records(), self.facts)

    @property
    def headline(self) -> str:
        """The main result in a sentence."""
        return headline(self._summary)

    @cached_property
    def notes(self) -> list[str]:
        """What a reader must know before trusting the figures."""
        return certify_flags(self.facts, self.config, self._summary, len(self._run), self._run.planned)

    @property
    def alarm(self) -> str:
        """A sentence if some example is both certified and fooled."""
        return alarm_of(self._summary)

    @cached_property
    def errors(self) -> int:
        """How many attempts ended in an error."""
        return self._summary.outcomes["error"]

    def certified(self) -> list[BudgetFigures]:
        """Robust and certified accuracy for each budget."""
        return list(self._summary.budgets)

    def tables(self) -> list[tuple[str, list[tuple[str, str, str]]]]:
        """The table."""
        return [("certify", certify_lines(self._summary))]

    def figures(self) -> dict[str, Any]:
        """The figures for JSON."""
        return {"summary": self._summary.to_json(), "alarm": self.alarm}

    def show(self, console: Console, diffs: int) -> None:
        """Print the table, and some texts that fooled the victim."""
        console.print(printable(self.headline))
        show_tables(console, tables_of(self.tables(), console.width)[0], marks(self.errors))
        for sentence in compared(self.config, self._summary.method):
            console.print(Styled(printable(sentence), style="dim"))
        fooled = (record for record in self._run.records() if record.perturbed is not None)
        for record in islice(fooled, diffs):
            console.print()
            console.print(Styled(printable(_line(record)), style="dim"))
            console.print(diff(record))

    def page(self) -> str:
        """The whole HTML page."""
        from mohs.report.certify.page import certify_page

        return certify_page(self, self._run, self._summary)

    def columns(self, record: Record) -> dict[str, Any]:
        """For each budget, whether the example is certified and whether it was fooled, and the bound."""
        found: CertifyFinding | None = record.finding
        row: dict[str, Any] = {
            "method": found.method if found else None,
            "contradiction": found.contradiction if found else None,
        }
        told = {one.budget: one for one in found.budgets} if found else {}
        for name in str(self.config.get("budget") or "").split(","):
            one = told.get(None if name == "all" else int(name)) if name else None
            row |= {
                f"certified_{name}": None if one is None else one.certified,
                f"fooled_{name}": None if one is None else one.fooled,
                f"bound_{name}": None if one is None else one.bound,
            }
        return row


def _line(record: Record) -> str:
    found: CertifyFinding = record.finding
    told = next(one for one in found.budgets if one.fooled)
    return f"{record.example_id}: fooled with {told.changed} changed by {told.by} (budget {written(told.budget)})"
