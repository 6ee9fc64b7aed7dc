"""The view of a second-order run: the table, and vulnerable examples as two-level diffs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import islice
from typing import Any

from rich.console import Console
from rich.text import Text as Styled

from mohs.records import Outcome, Record
from mohs.report.listing import pieces, short_names
from mohs.report.second_order.figures import (
    SecondOrderSummary,
    headline,
    patch_of,
    patched,
    predictions,
    second_order_flags,
    second_order_lines,
    summarise_second_order,
)
from mohs.report.table import marks, table_html, tables_of
from mohs.report.terminal import printable, show_tables
from mohs.report.verdicts import Verdicts
from mohs.report.view import View


class SecondOrderView(View):
    """The view of a second-order run."""

    offers = ("vulnerable",)
    judged = True

    @cached_property
    def _summaries(self) -> list[SecondOrderSummary]:
        verdicts = None if self.judge == "none" else Verdicts(self._run.records(), self.judge, patched)
        return summarise_second_order(self._run.records(), verdicts)

    @property
    def headline(self) -> str:
        """The main result in a sentence."""
        return headline(self._summaries, short_names(summary.attack for summary in self._summaries))

    @cached_property
    def notes(self) -> list[str]:
        """What a reader must know before trusting the figures."""
        return second_order_flags(self.facts, self._summaries, len(self._run), self._run.planned)

    @cached_property
    def errors(self) -> int:
        """How many attempts ended in an error."""
        return sum(summary.outcomes["error"] for summary in self._summaries)

    def vulnerable(self) -> list[SecondOrderSummary]:
        """The figures of a second-order run."""
        return self._summaries

    def figures(self) -> dict[str, Any]:
        """The figures for JSON."""
        return {"summary": [summary.to_json() for summary in self._summaries]}

    def show(self, console: Console, diffs: int) -> None:
        """Print the table, and some vulnerable examples."""
        names = {summary.attack: summary.attack for summary in self._summaries}
        console.print(printable(headline(self._summaries, names)))
        if not self._summaries:
            return
        found = [(summary.attack, second_order_lines(summary)) for summary in self._summaries]
        tables, beside = tables_of(found, console.width)
        below = marks(self.errors)
        if not beside:
            below = (
                "with a pair: of examples whose pairs are known; found, fair success, queries: of examples with a "
                f"patch pair; words, steps, perplexity: over vulnerable examples; {below}"
            )
        show_tables(console, tables, below)
        hits = (record for record in self._run.records() if record.outcome is Outcome.SUCCESS)
        for record in islice(hits, diffs):
            console.print()
            console.print(Styled(printable(f"{record.attack}, {record.example_id}"), style="dim"))
            console.print(two_level(record))
            for line in _said(record, self.labels):
                console.print(line)

    def page(self) -> str:
        """The whole HTML page."""
        from mohs.report.second_order.page import second_order_page

        return second_order_page(self, self._run, self._summaries)

    def html(self) -> str:
        """The table for a notebook."""
        return table_html([(found.attack, second_order_lines(found)) for found in self._summaries])


def two_level(record: Record) -> Styled:
    """The original with the neighbour's changes (old word struck out, then an arrow) and the patch pair in brackets."""
    styled = Styled()
    for field in pieces(record, patch_of(record)):
        styled.append("\n  " if styled.plain else "  ")
        for piece in field:
            if isinstance(piece, str):
                styled.append(printable(piece))
            elif isinstance(piece, dict):
                styled.append(f"[{printable(piece['old'])}|{printable(piece['new'])}]", style="bold magenta")
            else:
                styled.append(printable(piece[0]), style="red strike")
                styled.append("→", style="dim")
                styled.append(printable(piece[1]), style="bold green")
    return styled


def _said(record: Record, labels: Sequence[str]) -> list[Styled]:
    """The four predictions, two a line, with = or ≠ between them."""
    lines = []
    for whose, (first, name, p), (second, other, q) in predictions(record, labels):
        sign = "=" if name == other else "≠"
        line = f"  {whose:<10}  {first}: {name} {p:.0%}  {sign}  {second}: {other} {q:.0%}"
        lines.append(Styled(printable(line), style="" if name == other else "bold"))
    return lines
