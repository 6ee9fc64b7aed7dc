"""The views of bias runs: one run, or two side by side."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text as Styled

from mohs.bias.change import PairChange, pair_changes
from mohs.bias.statistics import PairBias, pair_biases
from mohs.bias.words import word_changes
from mohs.report.bias.figures import (
    LEVEL,
    BiasFigures,
    Pair,
    against_flags,
    bias_figures,
    bias_flags,
    bias_headline,
    both,
    chance,
    comparable,
    compared,
    finite,
    signed,
    spread,
    texts,
)
from mohs.report.table import table_html
from mohs.report.terminal import printable
from mohs.report.view import View
from mohs.tasks.inference import FEWEST, TESTED

if TYPE_CHECKING:
    from mohs.report.measured import ByPeople
    from mohs.runs.run import Run

MOST_WORDS = 24  # of groups, on the terminal
_ENDLESS = 10_000  # characters: a line without a limit


class BiasView(View):
    """The view of a bias run."""

    offers = ("biases", "words")

    def __init__(self, run: Run, epsilon: float | None = None) -> None:
        super().__init__(run)
        self._epsilon = epsilon

    @classmethod
    def of(
        cls,
        run: Run,
        against: Run | None = None,
        epsilon: float | None = None,
        judge: Any = None,
        measured: ByPeople | None = None,
    ) -> View:
        """One run, or two side by side."""
        super().of(run, judge=judge, measured=measured)
        return cls(run, epsilon) if against is None else AgainstView(run, against, epsilon)

    @cached_property
    def _figures(self) -> BiasFigures:
        return bias_figures(self._run, self._epsilon)

    @property
    def about(self) -> str:
        """The pairs, for the title."""
        return f"bias with the pairs {self.config.get('pairs')}"

    @property
    def headline(self) -> str:
        """The main result in a sentence."""
        return bias_headline(self._figures)

    @cached_property
    def notes(self) -> list[str]:
        """What a reader must know before trusting the figures."""
        return bias_flags(self.facts, self._figures, len(self._run), self._run.planned)

    @cached_property
    def errors(self) -> int:
        """How many attempts ended in an error."""
        return self._figures.outcomes["error"]

    def biases(self, *, filtered: bool = False, epsilon: float | None = None) -> list[PairBias]:
        """The bias of each pair at each distance.

        filtered: only over sentences whose own difference (k = 0) is below epsilon.
        epsilon: the threshold, if not the run's own.
        """
        if filtered and epsilon is None:
            epsilon = float(self.config["epsilon"])
        return pair_biases(self._run.records(), epsilon=epsilon)

    def words(self) -> list[PairBias]:
        """The bias of each word against the mean of its group, at each distance; empty without groups."""
        return list(self._figures.words)

    def figures(self) -> dict[str, Any]:
        """The figures for JSON."""
        return {"headline": bias_headline(self._figures), "bias": self._figures.to_json()}

    def show(self, console: Console, diffs: int) -> None:
        """Print the tables. Only the page shows examples."""
        figures, count = self._figures, self._figures.outcomes
        console.print(printable(bias_headline(figures)))
        if not figures.whole:
            return
        rows = figures.shown
        if figures.words:
            rows = rows[: MOST_WORDS * (figures.k + 1)]
            left = (len(figures.words) - len(rows)) // (figures.k + 1)
        _show(console, figures, _table, [(figures.head, rows), (figures.head, figures.filtered)])
        if figures.words and left:
            console.print(Styled(f"{left} more words, with larger p-values, are on the page.", style="dim italic"))
        measured = count["measured"] + count["exhausted"]
        drawn = "" if all(one.exact for one in rows) else "~: texts drawn, of about how many; "
        below = (
            f"{measured} examples measured, {count['skipped']} {figures.without}, {count['error']} errors; "
            f"sent.: source sentences; {drawn}"
        )
        console.print(Styled(below + _marks(figures), style="dim italic"))

    def page(self) -> str:
        """The whole HTML page."""
        from mohs.report.bias.page import bias_page

        return bias_page(self, self._run, self._figures)

    def html(self) -> str:
        """The table for a notebook."""
        return table_html([(", ".join(self._run.manifest["tasks"]), _lines(self._figures.shown))])


def _lines(found: Iterable[PairBias]) -> list[tuple[str, str, str]]:
    """The rows of a notebook's table: the pair and distance, the bias, and the number of texts behind it."""
    return [
        (
            f"{one.old}|{one.new}, k={one.k}",
            f"{signed(one.bias)} {spread(one) if math.isfinite(one.low) else '[-]'}",
            f"{texts(one)} neighbours of {one.sentences} sentences",
        )
        for one in found
    ]


def _marks(figures: BiasFigures) -> str:
    """What the marks of a table mean, for the note below it."""
    chosen = ", or the filtered set at k = 0, where it is small by choice" if figures.epsilon else ""
    return (
        f"Holm: p corrected for all rows of the table; *: below {LEVEL}; in brackets: 95% intervals; "
        f"-: fewer than {FEWEST} sentences (intervals) or {TESTED} (tests){chosen}"
    )


def _show(
    console: Console,
    figures: BiasFigures,
    make: Callable[..., Table],
    sets: Sequence[tuple[Any, ...]],
) -> None:
    """Print the table of all sentences and, if there is a threshold, of the filtered ones.

    `make` takes the width for the names of pairs as its last argument.
    """
    whole, filtered = sets
    console.print(Styled(printable(figures.unit), style="italic"))
    console.print(_fitted(console, lambda room: make(*whole, room)))
    if figures.epsilon:
        console.print()
        console.print(Styled(f"Only sentences whose own difference (k = 0) is below {figures.epsilon}", style="bold"))
        table = _fitted(console, lambda room: make(*filtered, room))
        console.print(table if any(filtered[1:]) else "No sentence qualifies.")


def _fitted(console: Console, make: Callable[[int], Table]) -> Table:
    """A table that fits the console. If a line is too short, the two words of a pair are stacked."""
    table = make(_ENDLESS)
    missing = console.measure(table, options=console.options.update_width(_ENDLESS)).maximum - console.width
    if missing <= 0:
        return table
    return make(max(len(str(cell)) for cell in table.columns[0].cells) - missing)


def _named(pair: Pair, last: Pair | None, room: int) -> Styled:
    """The name of a pair, or nothing if it repeats the row above."""
    if pair == last:
        return Styled("")
    name = printable("|".join(pair))
    return Styled(name if len(name) <= room else "|\n".join(map(printable, pair)))


def _table(head: str, found: Sequence[PairBias], room: int) -> Table:
    table = _empty(head, "k", "sent.", "texts", "bias", "95% interval", "p", "Holm")
    last: Pair | None = None
    for one in found:
        pair = (one.old, one.new)
        table.add_row(
            _named(pair, last, room),
            str(one.k),
            f"{one.sentences:,}",
            texts(one),
            signed(one.bias),
            Styled(spread(one)),
            chance(one.p),
            f"{chance(one.holm)}{'*' if one.holm < LEVEL else ' '}",
        )
        last = pair
    return table


class AgainstView(View):
    """Two bias runs side by side."""

    def __init__(self, run: Run, before: Run, epsilon: float | None = None) -> None:
        comparable(run, before)
        super().__init__(run)
        self._other, self._epsilon = before, epsilon

    @cached_property
    def _after(self) -> BiasFigures:
        return bias_figures(self._run, self._epsilon)

    @cached_property
    def _before(self) -> BiasFigures:
        return bias_figures(self._other, self._epsilon)

    @cached_property
    def _changes(self) -> list[PairChange]:
        records = self._other.records(), self._run.records()
        groups = self.facts.get("groups")
        found = word_changes(*records, groups) if groups else pair_changes(*records)
        rows = both(self._before.shown, self._after.shown)
        place = {(*pair, k): at for at, (pair, k, _, _) in enumerate(rows)}
        return sorted(found, key=lambda one: place.get((one.old, one.new, one.k), len(place)))

    @cached_property
    def title(self) -> str:
        """The line above the table."""
        old, new = self._other.manifest["config"], self.config
        return f"Bias of {old.get('victim')} (before) and {new.get('victim')} (after) on {new.get('data')}"

    @cached_property
    def notes(self) -> list[str]:
        """What a reader must know before trusting the figures."""
        return against_flags(self._run, self._other, self._after, self._before)

    @cached_property
    def errors(self) -> int:
        """How many attempts ended in an error."""
        return self._after.outcomes["error"]

    def figures(self) -> dict[str, Any]:
        """The figures for JSON."""
        return {
            "headline": compared(self._before, self._after, self._changes),
            "before": self._before.to_json(),
            "after": self._after.to_json(),
            "changes": [{name: finite(value) for name, value in asdict(one).items()} for one in self._changes],
        }

    def show(self, console: Console, diffs: int) -> None:
        """Print the tables."""
        old, new = self._before, self._after
        console.print(compared(old, new, self._changes))
        if not old.whole and not new.whole:
            return
        sets = [(new.head, old.shown, new.shown), (new.head, old.filtered, new.filtered)]
        _show(console, new, _beside, sets)
        if self._changes:
            console.print()
            console.print(Styled("Change (after - before), on the sentences of both runs", style="bold"))
            console.print(_fitted(console, lambda room: _changed(new.head, self._changes, room)))
        console.print(Styled(_marks(new), style="dim italic"))

    def page(self) -> str:
        """The whole HTML page."""
        from mohs.report.bias.page import against_page

        return against_page(self, self._other, self._after, self._before, self._changes)

    def html(self) -> str:
        """The tables for a notebook, one for each run."""
        sides = (("before", self._other, self._before), ("after", self._run, self._after))
        return table_html(
            [(f"{run.manifest['config'].get('victim')} ({name})", _lines(found.shown)) for name, run, found in sides]
        )


def _beside(head: str, before: Sequence[PairBias], after: Sequence[PairBias], room: int) -> Table:
    table = _empty(head, "k", "before", "95% interval", "after", "95% interval")
    last: Pair | None = None
    for pair, k, old, new in both(before, after):
        cells = [cell for one in (old, new) for cell in _cells(one)]
        table.add_row(_named(pair, last, room), str(k), *cells)
        last = pair
    return table


def _changed(head: str, found: Sequence[PairChange], room: int) -> Table:
    table = _empty(head, "k", "sent.", "change", "95% interval", "p", "Holm")
    last: Pair | None = None
    for one in found:
        pair = (one.old, one.new)
        star = "*" if one.holm < LEVEL else " "
        cells = (f"{one.sentences:,}", signed(one.change), Styled(spread(one)), chance(one.p), chance(one.holm) + star)
        table.add_row(_named(pair, last, room), str(one.k), *cells)
        last = pair
    return table


def _cells(one: PairBias | None) -> list[Styled]:
    if one is None:
        return [Styled("-"), Styled("-")]
    return [Styled(f"{signed(one.bias)}{'*' if one.holm < LEVEL else ' '}"), Styled(spread(one))]


def _empty(*heads: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    first, *others = heads
    table.add_column(first, overflow="fold")
    for head in others:
        table.add_column(
            head, justify="right", overflow="ellipsis", no_wrap=True
        )  # a cut number must be visible as cut
    return table
