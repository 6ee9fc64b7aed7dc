"""Prints a comparison on the terminal."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from mohs.comparisons.examples import fooled_alone
from mohs.comparisons.fairness import PairedFair
from mohs.comparisons.figures import BOTH, Against
from mohs.comparisons.questions import CLEAN
from mohs.comparisons.sides import Side
from mohs.report.names import folded
from mohs.report.pace import duration
from mohs.report.paired import Paired
from mohs.report.rates import Mean
from mohs.report.table import marks, mean, rate, tables_of
from mohs.report.terminal import diff, printable, show_tables
from mohs.tasks.inference import FEWEST

if TYPE_CHECKING:
    from rich.console import Console

    from mohs.comparisons.result import Comparison

Row = tuple[str, str, str]
Cells = tuple[str, ...]

FAIR, QUERIES = "fair success", "queries an example"
_WIDE = 118  # columns; a narrower terminal leaves out both shares and the unadjusted p
_LABEL = 24


def show(comparison: Comparison, console: Console, diffs: int = 0) -> None:
    """Print the runs side by side, then each against the first, then examples."""
    for number, side in enumerate(comparison.sides):
        said = f"{side.letter}  {side.place}: {side.victim}{'' if number else ' (baseline)'}"
        console.print(Text(printable(said), style="bold"))
    for note in comparison.notes:
        console.print(Text(printable(note), style="yellow"))
    console.print()
    columns = [(side.letter, side_lines(comparison, side)) for side in comparison.sides]
    errors = errors_of(comparison)
    show_tables(console, tables_of(columns, console.width)[0], f"each run over all its own examples; {marks(errors)}")
    for one in comparison.against:
        console.print()
        show_tables(console, [_table(comparison, one, console.width >= _WIDE)], note_of(comparison, one))
    for fooled, other, group, record in fooled_alone(comparison, diffs) if diffs else ():
        console.print()
        said = f"{group}, {record.example_id}: fools {fooled.letter} and not {other.letter}"
        console.print(Text(printable(said), style="dim"))
        console.print(diff(record))


def errors_of(comparison: Comparison) -> int:
    """How many attempts ended in an error, in all runs."""
    return sum(side.outcomes(group)["error"] for side in comparison.sides for group in comparison.groups)


def _groups(comparison: Comparison) -> list[str]:
    return ["", *comparison.groups]


def _titled(figure: str, group: str) -> str:
    return f"{figure}, {group}" if group else figure


def side_lines(comparison: Comparison, side: Side) -> list[Row]:
    """The figures of one run: names, values and denominators."""
    rows = []
    for group in _groups(comparison):
        for question, found in comparison.rates(side, group).items():
            rows.append((_titled(question, group), rate(found), f"of {found.of}"))
        if group and (asked := side.queries(group)).total:
            rows.append((_titled("queries", group), mean(asked), f"mean over {asked.over}"))
        if group and (told := _odd_ends(side, group)):
            rows.append((_titled("ended in", group), told, "budget spent and detected count as failed attacks"))
    effort = side.run.effort()
    rows.append(("texts asked", f"{effort.get('forwards', 0):,.0f}", "of the victim, in the whole run"))
    rows.append(
        ("seconds", f"{effort.get('seconds', 0):,.1f}", "of the whole run; depends on the machine and the cache")
    )
    if side.training is not None:
        took = side.training
        said = f"{duration(took.an_epoch) if took.an_epoch >= 60 else f'{took.an_epoch:.2f} s'}"
        rows.append(("training, an epoch", said, f"mean over {len(took.seconds)} epochs, on {took.device}"))
    return rows


def _odd_ends(side: Side, group: str) -> str:
    """The ends of attempts that a reader must know of, with their numbers."""
    names = {"exhausted": "budget spent", "error": "errors", "detected": "detected", "rejected": "rejected"}
    count = side.outcomes(group)
    return ", ".join(f"{called} {count[outcome]}" for outcome, called in names.items() if count[outcome])


HEADS: Cells = ("difference", "only {first}", "only {second}", "of", "p", "Holm")


def against_cells(comparison: Comparison, one: Against) -> list[tuple[str, str, Cells]]:
    """The rows of one run against the first: attack, figure, and cells.

    The cells: both shares, their difference, how often the answer was yes in one alone, the examples, p, Holm's p.
    """
    found = []
    for group in _groups(comparison):
        found += [(group, row.question, paired_cells(row.paired)) for row in one.rows if row.group == group]
        if group in one.fair:
            found.append((group, FAIR, _fair_cells(one.fair[group])))
        if group in one.queries:
            found.append((group, QUERIES, _mean_cells(one.queries[group])))
    return found


def paired_cells(found: Paired) -> Cells:
    """The cells of one question."""
    seen = found.pairs
    shares = ("-" if share is None else f"{share:.1%}" for share in (found.first, found.second))
    errors = _braces(found.bounds) if seen.errors else ""
    apart = points(found.difference, found.interval) + errors
    return (
        *shares,
        apart,
        str(seen.first),
        str(seen.second),
        _of(seen.known, seen.errors),
        p_of(found.p),
        p_of(found.holm),
    )


def _fair_cells(found: PairedFair) -> Cells:
    known = found.difference is not None
    shares = (f"{part / found.total:.1%}" if known else "-" for part in (found.first, found.second))
    errors = _braces(found.bounds) if found.errors else ""
    return (*shares, points(found.difference, found.interval) + errors, "", "", _of(found.total, found.errors), "", "")


def _mean_cells(found: Mean) -> Cells:
    said = "-" if found.value is None else f"{found.value:+,.1f}"
    if found.low is not None and found.high is not None:
        said += f" [{found.low:+,.1f}, {found.high:+,.1f}]"
    return "", "", said, "", "", str(found.total), "", ""


def points(difference: float | None, interval: tuple[float, float] | None) -> str:
    """A difference in percentage points with its interval."""
    said = "-" if difference is None else f"{100 * difference:+.1f}"
    return said if interval is None else f"{said} [{100 * interval[0]:+.1f}, {100 * interval[1]:+.1f}]"


def _braces(bounds: tuple[float, float] | None) -> str:
    return "" if bounds is None else f" {{{100 * bounds[0]:+.1f}, {100 * bounds[1]:+.1f}}}"


def _of(known: int, errors: int) -> str:
    return f"{known}+{errors}" if errors else str(known)


def p_of(value: float) -> str:
    """A p value."""
    return "-" if math.isnan(value) else "<0.001" if value < 0.001 else f"{value:.3f}"


def _table(comparison: Comparison, one: Against, wide: bool) -> Table:
    base = comparison.sides[0]
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column(Text(f"{one.side.letter} against {base.letter}"), overflow="fold")
    heads = [base.letter, one.side.letter] if wide else []
    heads += [name.format(first=base.letter, second=one.side.letter) for name in HEADS if wide or name != "p"]
    for name in heads:
        table.add_column(name, justify="right", overflow="fold")
    last = ""
    for group, figure, cells in against_cells(comparison, one):
        if group != last:
            table.add_row(Text(folded(printable(group), _LABEL), style="bold"))
            last = group
        shown = cells if wide else (*cells[2:6], cells[7])
        table.add_row(Text(folded(f"{'  ' if group else ''}{figure}", _LABEL)), *shown)
    return table


def note_of(comparison: Comparison, one: Against) -> str:
    """What the columns mean, and the denominators."""
    first, second = comparison.sides[0].letter, one.side.letter
    over = dict.fromkeys((row.question, row.paired.of) for row in one.rows)
    said = [f"difference: {second} minus {first} on the same examples, in percentage points, with a 95% interval"]
    said.append(f"only {first}, only {second}: examples that count in one run alone")
    of = "; ".join(f"{question}: of {of}" for question, of in over)
    said.append(f"{of}; {QUERIES}: mean over {BOTH}" if one.queries else of)
    several = (
        "" if len(comparison.against) == 1 and len(comparison.groups) == 1 else ", corrected for all attacks and runs"
    )
    said.append(f"Holm: McNemar's exact p{several}; -: fewer than {FEWEST} examples")
    if any(row.paired.pairs.errors for row in one.rows) or any(found.errors for found in one.fair.values()):
        said.append(
            "+: examples that ended in an error in one of the runs, in shares counted as the attacked ones are on "
            "average; in braces: the difference if errors hid what lowers it most, and what raises it most"
        )
    unjudged = sum(found.unjudged for found in one.fair.values())
    if unjudged:
        said.append(f"fair success: {unjudged} successes without the judge's opinion are in the interval only")
    return "; ".join(said)


def headline(comparison: Comparison) -> str:
    """The main result in a sentence: under the attack that the baseline withstands least."""
    base = comparison.sides[0]
    found: dict[str, tuple[str, float]] = {}
    for group in comparison.groups:
        question, own = next(iter(comparison.rates(base, group).items()))
        if own.value is not None:
            found[group] = question, own.value
    if not found:
        clean = comparison.against[0].row("", CLEAN)
        apart = points(clean.difference if clean else None, None)
        return f"Nothing was attacked in these runs; accuracy differs by {apart} points"
    group = min(found, key=lambda name: found[name][1])
    question = found[group][0]
    said = []
    for one in comparison.against:
        row = one.row(group, question)
        if row is None or row.first is None or row.second is None:
            continue
        seen, letter = row.pairs, one.side.letter
        said.append(
            f"{row.second:.1%} for {letter} against {row.first:.1%} for {base.letter} "
            f"({points(row.difference, row.interval)} points; {seen.second:,} only in {letter}, "
            f"{seen.first:,} only in {base.letter}, of {seen.known:,})"
        )
    if not said:
        return f"{group}: the runs share no finished examples"
    return f"{group}, {question}: {'; '.join(said)}"


def notebook_rows(comparison: Comparison) -> list[tuple[str, list[Row]]]:
    """Captions and rows for a notebook."""
    found = [(f"{side.letter}: {side.place}", side_lines(comparison, side)) for side in comparison.sides]
    for one in comparison.against:
        rows = [
            (_titled(figure, group), cells[2], f"of {cells[5]}; Holm {cells[7] or '-'}")
            for group, figure, cells in against_cells(comparison, one)
        ]
        found.append((f"{one.side.letter} against {comparison.sides[0].letter}", rows))
    return found
