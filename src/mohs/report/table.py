"""Figures as tables for terminals and notebooks: what all kinds of run share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from rich.table import Table
from rich.text import Text

from mohs.report.fair import Fair
from mohs.report.measured import NO_VERDICT, Measured
from mohs.report.names import folded
from mohs.report.rates import Mean, Rate
from mohs.tasks.inference import FEWEST

_GAP = 2  # spaces between columns
_LABEL = 16  # the narrowest width to which names of figures are folded


def rate(value: Rate) -> str:
    """A share as `45.2% (38/84) [35.0, 55.8]`, after errors with their bounds: `... {41.0, 52.2}`."""
    said = f"- ({value.counted})"
    if value.value is not None and value.interval is not None:
        low, high = value.interval
        said = f"{value.value:.1%} ({value.counted}) [{100 * low:.1f}, {100 * high:.1f}]"
    return said + _braces(value)


def _braces(value: Rate | Fair | Measured) -> str:
    if not value.errors or value.bounds is None:
        return ""
    return f" {{{100 * value.bounds[0]:.1f}, {100 * value.bounds[1]:.1f}}}"


def mean(value: Mean, digits: int = 1, percent: bool = False) -> str:
    """A mean as `3.1 [2.7, 3.5]`, or `3.1 [-]` if there are too few values for an interval."""
    if value.value is None:
        return "-"
    times, digits = (100, 1) if percent else (1, digits)
    said = f"{times * value.value:,.{digits}f}{'%' * percent}"
    if value.low is None or value.high is None:
        return f"{said} [-]"
    return f"{said} [{times * value.low:,.{digits}f}, {times * value.high:,.{digits}f}]"


def marks(errors: int = 0) -> str:
    """What brackets and braces mean, for the note below a table."""
    braces = "in braces: the share if all errors had been misses, and if all had been hits"
    return f"in brackets: 95% intervals, [-] if there is none (fewer than {FEWEST} values, or all equal)" + (
        f"; {braces}" if errors else ""
    )


def errors_note(errors: int) -> str:
    """What the row of errors says beside their number."""
    return "in braces: had all been misses, or hits" if errors else "attempts that ended in one"


def fair_rows(fair: Fair | None, what: str) -> list[tuple[str, str, str]]:
    """The rows of fair success, as `12.1% (9.7/80) [8.0, 17.5]`, and of successes that could not be judged.

    what: what people would accept, in a few words.
    """
    if fair is None:
        return []
    figure = f"- (0/{fair.total})"
    if fair.interval is not None:
        low, high = (100 * end for end in fair.interval)
        value = "-" if fair.value is None else f"{fair.value:.1%}"
        figure = f"{value} ({fair.expected:.{1 if fair.expected >= 1 else 2}f}/{fair.total}) [{low:.1f}, {high:.1f}]"
    figure += _braces(fair)
    rows = [("fair success", figure, f"of {fair.of}; {what}: {fair.judge or 'judge'}")]
    if fair.unjudged:
        note = "no opinion; only in the upper end of fair success"
        rows.append(("not judged", str(fair.unjudged), note))
    return rows


def measured_rows(measured: Measured | None) -> list[tuple[str, str, str]]:
    """The rows of fair success as people measured it, and what it is made of."""
    if measured is None:
        return []
    whole = measured.way == "directly"
    expected = "-" if measured.fair.value is None else f"{measured.fair.value * measured.attacked:.1f}"
    figure = measured.fair.counted(f"{expected}/{measured.attacked}") + _braces(measured)
    how = "attack success x share of valid successes" + ("" if whole else ", by Eq. 6.2 from single changes")
    rows = [("measured fair success", figure, f"of examples attacked; measured ({measured.who}): {how}")]
    if not whole:
        rows.append(("valid successes", str(measured.successes_valid), f"of {measured.successes:,} successes"))
    valid = measured.judged_valid.counted(f"{measured.valid}/{measured.judged}")
    note = f"of {measured.unit} judged by people; valid: {measured.rule} (design {measured.design})"
    rows.append((f"valid {measured.unit}", valid, note))
    told = sum(one != NO_VERDICT for one in measured.said.values())
    note = "of successes" if whole else "of successes, at least one change"
    if measured.undecided:
        note += f"; {measured.undecided} more {measured.unit} have too few judgements"
    rows.append(("judged by people", f"{told}/{measured.successes}", note))
    return rows


def order_of(columns: Iterable[Iterable[str]]) -> list[str]:
    """The names of all figures. A name that only a later column has goes after its neighbour, not to the end."""
    order: list[str] = []
    for column in columns:
        at = 0
        for name in column:
            if name in order:
                at = order.index(name) + 1
            else:
                order.insert(at, name)
                at += 1
    return order


def tables_of(found: Sequence[tuple[str, Sequence[tuple[str, str, str]]]], width: int) -> tuple[list[Table], bool]:
    """Tables for a terminal with one column for each caption: as many tables as keep every figure on one line.

    If there is room, the denominators stand beside the figures. The second value returned says whether they do.
    """
    names = [name for name, _ in found]
    columns = [{name: (value, of) for name, value, of in rows} for _, rows in found]
    order = order_of(columns)
    notes = [next(column[name][1] for column in columns if name in column) for name in order]
    widths = [max(len(value) for value, _ in column.values()) for column in columns]
    label = max(map(len, order), default=0)
    beside = _fits_beside(label, [max(w, len(name)) for w, name in zip(widths, names, strict=True)], notes, width)
    groups: list[list[int]] = []
    for number, needed in enumerate(widths):
        taken = sum(_GAP + widths[other] for other in groups[-1]) if groups else width
        if groups and (beside or min(label, _LABEL) + taken + _GAP + needed <= width):
            groups[-1].append(number)
        else:
            groups.append([number])
    tables = [
        _table([(names[i], columns[i], widths[i]) for i in group], order, notes if beside else None, width)
        for group in groups
    ]
    return tables, beside


def _fits_beside(label: int, widths: Sequence[int], notes: Sequence[str], width: int) -> bool:
    return label + sum(_GAP + needed for needed in widths) + _GAP + max(map(len, notes), default=0) <= width


def _table(
    attacks: Sequence[tuple[str, dict[str, tuple[str, str]], int]],
    order: Sequence[str],
    notes: Sequence[str] | None,
    width: int,
) -> Table:
    """One table. Names of figures and attacks are folded before values are."""
    spare = width - sum(_GAP + needed for _, _, needed in attacks)
    label = min(max(map(len, order), default=0), max(_LABEL, spare))
    spare -= label
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("", width=label, overflow="fold")
    for attack, _, needed in attacks:
        wider = max(0, len(attack) - needed if notes else min(spare, len(attack) - needed))
        spare -= wider
        table.add_column(Text(folded(attack, needed + wider)), justify="right", width=needed + wider, overflow="fold")
    if notes:
        table.add_column("", style="dim")
    for number, name in enumerate(order):
        if any(name in column for _, column, _ in attacks):
            cells = [column[name][0] if name in column else "-" for _, column, _ in attacks]
            table.add_row(Text(folded(name, label)), *cells, *([notes[number]] if notes else []))
    return table


def table_html(found: Sequence[tuple[str, Sequence[tuple[str, str, str]]]]) -> str:
    """Small tables for notebooks: a caption, and rows with a name, a value and its denominator."""
    blocks = []
    for caption, figures in found:
        rows = "".join(
            f"<tr><td>{escape(name)}</td><td>{escape(value)}</td><td><small>{escape(note)}</small></td></tr>"
            for name, value, note in figures
        )
        blocks.append(f"<table><caption><b>{escape(caption)}</b></caption>{rows}</table>")
    return "".join(blocks)
