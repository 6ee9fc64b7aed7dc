"""The view of a radius run: what is proven, the curve, the upper bounds by attacks, and PR."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text as Styled

from mohs.bounds.finding import RadiusFinding
from mohs.records import Outcome, Record
from mohs.records.finding import finding_to_json
from mohs.report.names import folded
from mohs.report.radius.figures import (
    RadiusSummary,
    curve_lines,
    radius_flags,
    radius_headline,
    radius_lines,
    shown_steps,
    summarise_radius,
)
from mohs.report.radius.shares import ShareFigures, mean_cells, share_headline, share_notes
from mohs.report.radius.uppers import DUEL_NOTE, RIGHT, Duel, Upper, duel_cells, upper_cells, upper_note
from mohs.report.table import marks, rate, table_html, tables_of
from mohs.report.template import written
from mohs.report.terminal import diff, printable, show_tables
from mohs.report.view import View

CERTIFICATES = "certificates.jsonl"
_DUEL = 24  # the width of the numbers of a duel


class RadiusView(View):
    """The view of a radius run."""

    offers = ("radii", "certificates")
    about = "robustness radius"

    @cached_property
    def _summary(self) -> RadiusSummary:
        return summarise_radius(self._run.records(), self.config, self._run.planned)

    @property
    def headline(self) -> str:
        """The main result in a sentence."""
        return radius_headline(self._summary)

    @cached_property
    def notes(self) -> list[str]:
        """What a reader must know before trusting the figures."""
        return radius_flags(self.facts, self._summary, len(self._run), self._run.planned)

    @cached_property
    def errors(self) -> int:
        """How many attempts ended in an error."""
        return self._summary.outcomes["error"]

    def radii(self) -> list[dict[str, Any]]:
        """The finding for each example that the victim classified correctly."""
        measured = (record for record in self._run.records() if record.outcome is Outcome.MEASURED)
        return [{"example": record.example_id, **finding_to_json(record.finding)} for record in measured]

    def certificates(self, path: str | Path) -> Path:
        """Write the certificates of a radius run, one per line."""
        found = [row["certificate"] for row in self.radii() if "certificate" in row]
        return written("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in found), Path(path))

    def files(self, folder: Path) -> list[Path]:
        """Write the certificates."""
        return [self.certificates(folder / CERTIFICATES)]

    def figures(self) -> dict[str, Any]:
        """The figures for JSON."""
        return {"headline": radius_headline(self._summary), "radius": self._summary.to_json()}

    def show(self, console: Console, diffs: int) -> None:
        """Print the tables, and some texts that change the label."""
        summary = self._summary
        console.print(printable(radius_headline(summary)))
        if not summary.right.total and not self.errors:
            return
        tables, beside = tables_of([("radius", radius_lines(summary))], console.width)
        below = "L <= R < U; R is the most substitutions that can never change the label"
        if not beside:
            of = f"upper bound: over {summary.upper.total} {summary.upper.over}; all other figures: of {RIGHT}"
            below = f"read right: of examples scored; {of}; {below}"
        show_tables(console, tables, f"{below}; {marks(self.errors)}")
        if not summary.total:
            return
        self._curve(console)
        if summary.attacks:
            _uppers(console, summary.attacks, summary.prover_only)
        if len(summary.attacks) > 1:
            _duels(console, summary.duels)
        if summary.shares:
            _share(console, summary.shares)
        if summary.certificates:
            console.print()
            several = "s" if summary.certificates > 1 else ""
            console.print(f"`mohs verify RUN` checks the {summary.certificates:,} certificate{several} of this run.")
        found = (record for record in self._run.records() if _fooled(record))
        for record in islice(found, diffs):
            console.print()
            console.print(Styled(printable(_line(record)), style="dim"))
            console.print(diff(record))

    def page(self) -> str:
        """The whole HTML page."""
        from mohs.report.radius.page import radius_page

        return radius_page(self, self._run, self._summary)

    def html(self) -> str:
        """The table for a notebook."""
        return table_html([("radius", radius_lines(self._summary)), ("withstand r", curve_lines(self._summary))])

    def _curve(self, console: Console) -> None:
        table = _table(console, "Withstand any r substitutions", "r", "proven", "possible")
        for step in shown_steps(self._summary.curve):
            table.add_row(str(step.r), rate(step.proven), rate(step.possible))
        below = (
            f"of {RIGHT}; proven: L >= r, or the whole space; "
            "possible: no text with r or fewer is known to change the label"
        )
        show_tables(console, [table], below)


def _title(console: Console, title: str) -> None:
    console.print()
    console.print(Styled(title, style="bold"))


def _table(console: Console, title: str, *heads: str) -> Table:
    _title(console, title)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for number, head in enumerate(heads):
        table.add_column(Styled(head), justify="right" if number else "left", overflow="fold")
    return table


def _uppers(console: Console, attacks: Sequence[Upper], prover_only: int) -> None:
    several = len(attacks) > 1
    _title(console, "Upper bounds by attack")
    found = [(printable(u.attack), [(head, value, "") for head, value in upper_cells(u, several)]) for u in attacks]
    fewer = f"; on {prover_only} the prover found fewer edits than every attack" if prover_only else ""
    show_tables(console, tables_of(found, console.width)[0], upper_note(several) + fewer)


def _duels(console: Console, duels: Sequence[Duel]) -> None:
    _title(console, "Two attacks on the same example")
    tables = []
    for at, names in ((slice(0, 4), "success"), (slice(4, None), "substitutions")):
        table = Table(box=None, pad_edge=False, header_style="bold")
        heads = [head for head, _ in duel_cells(duels[0])[at]]
        for number, head in enumerate([names, *heads]):
            table.add_column(Styled(head), justify="right" if number else "left", overflow="fold")
        for duel in duels:
            cells = [value for _, value in duel_cells(duel)[at]]
            pair = printable(f"{duel.attack} against {duel.other}")
            table.add_row(folded(pair, console.width - _DUEL), *cells)
        tables.append(table)
    show_tables(console, tables, DUEL_NOTE)


def _share(console: Console, shares: Sequence[ShareFigures]) -> None:
    heads = [head for head, _ in mean_cells(shares[0])]
    means = _table(console, "PR, the share of texts that keep the label", "r", *heads)
    for share in shares:
        means.add_row(printable(share.r), *(value for _, value in mean_cells(share)))
    above = Table(box=None, pad_edge=False, header_style="bold")
    for head in ("r", "PR above", "lower end", "estimate"):
        above.add_column(head, justify="right" if head != "r" else "left", overflow="fold")
    for share in shares:
        for one in share.above:
            above.add_row(printable(share.r), f"{one.threshold:g}", rate(one.low), rate(one.value))
    console.print(share_headline(shares))
    show_tables(console, [means, above], " ".join(share_notes(shares)))


def _fooled(record: Record) -> bool:
    return record.outcome is Outcome.MEASURED and record.perturbed is not None


def _line(record: Record) -> str:
    found: RadiusFinding = record.finding
    parts = [f"{record.example_id}: L {found.lower}, U {found.upper}", f"by {found.by}"]
    if found.reason:
        parts.append(f"ended by {found.reason}")
    if found.shares:
        parts.append("PR " + ", ".join(f"{share.value:.4f} (r {share.r})" for share in found.shares))
    return ", ".join(parts)
