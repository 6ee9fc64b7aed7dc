"""Summaries as a table for terminals and notebooks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape

from rich.table import Table
from rich.text import Text

from mohs.attacks.goal import UNTARGETED
from mohs.report.metrics import Mean, Rate, Summary

_GAP = 2  # blanks between columns
_LABEL = 16  # as narrow as the names of figures may be folded
_WRITTEN = re.compile(r"\b[A-Za-z]+\((.*)\)$")  # a measure as Python writes it: only its settings are shown
_SAID = ("words changed", "share of words changed")  # measures that repeat a figure every attack has


def rate(value: Rate) -> str:
    """A share as `45.2% (38/84) [35.0, 55.8]`."""
    if value.value is None or value.interval is None:
        return f"- (0/{value.total})"
    low, high = value.interval
    return f"{value.value:.1%} ({value.hits}/{value.total}) [{100 * low:.1f}, {100 * high:.1f}]"


def mean(value: Mean, digits: int = 1, percent: bool = False) -> str:
    """A mean as `3.1 [2.7, 3.5]`."""
    if value.value is None or value.low is None or value.high is None:
        return "-"
    if percent:
        return f"{value.value:.1%} [{100 * value.low:.1f}, {100 * value.high:.1f}]"
    return f"{value.value:.{digits}f} [{value.low:.{digits}f}, {value.high:.{digits}f}]"


def lines(summary: Summary) -> list[tuple[str, str, str]]:
    """The rows of the table: a figure's name, its value, and what it is a share or mean of."""
    count = summary.outcomes
    rows = [
        ("accuracy before", rate(summary.accuracy_before), f"of {summary.accuracy_before.of}"),
        *_under_attack(summary),
        ("attack success", rate(summary.success), f"of {summary.success.of}"),
        ("words changed", mean(summary.words_changed), f"mean over {summary.words_changed.over}"),
        (
            "share changed",
            mean(summary.share_changed, percent=True),
            f"mean over {summary.share_changed.over}",
        ),
        ("queries", mean(summary.queries), f"mean over {summary.queries.over}"),
    ]
    rows += [(name, mean(value, 3), f"mean over {value.over}") for name, value in _measures(summary).items()]
    rows.append(("skipped", str(count["skipped"]), "at the goal, or misread, before any attack"))
    rows.append(("errors", str(count["error"]), "neither success nor failure"))
    rows += [(f"by {member}", str(hits), "successes of this member") for member, hits in summary.by.items()]
    if summary.empty:
        rows.append(("empty spaces", str(summary.empty), "no word to replace; counted as withstood"))
    if count["exhausted"]:
        rows.append(("budget spent", str(count["exhausted"]), "counted as withstood"))
    if summary.near_ties:
        rows.append(("near ties", str(summary.near_ties), "verdicts on a margin under 1e-4"))
    if summary.cut:
        rows.append(("longer than the window", str(summary.cut), "words beyond it were not attacked"))
    return rows


def _measures(summary: Summary) -> dict[str, Mean]:
    """The measures worth a row: none twice, be it under a name with settings behind it."""
    found = {name: value for name, value in summary.measures.items() if name not in _SAID}
    plain = {name: value for name, value in found.items() if "(" not in name}
    shown = dict(plain)
    for name, value in found.items():
        if name not in plain:
            base = next((other for other in plain if name.startswith(f"{other} ")), None)
            if base is None or plain[base] != value:
                shown[_WRITTEN.sub(r"(\1)", name)] = value
    return shown


def _under_attack(summary: Summary) -> list[tuple[str, str, str]]:
    """The accuracy under attack, or where the label was to stay the words that are left."""
    if summary.accuracy_under_attack is not None:
        under = summary.accuracy_under_attack
        return [("accuracy under attack", rate(under), f"of {under.of}")]
    if summary.words_left is not None:
        note = f"mean over {summary.words_left.over}; the label is to stay, so there is no accuracy under attack"
        return [("words left", mean(summary.words_left), note)]
    return []


def order_of(columns: Iterable[Iterable[str]]) -> list[str]:
    """The names of all figures, each where its own column has it: what only a later one has is no appendix."""
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


def rows_of(summaries: Sequence[Summary]) -> list[str]:
    """The names of all attacks' figures."""
    return order_of([name for name, _, _ in lines(summary)] for summary in summaries)


def has_own_goal(summary: Summary) -> bool:
    """Whether the label is to change, but not any change of it is a success."""
    return summary.goal != UNTARGETED and summary.accuracy_under_attack is not None


def _note(summaries: Sequence[Summary], beside: bool) -> str:
    """What stands below a table: what the brackets are, and the denominators if they are not beside the figures."""
    parts = [
        "read: scored before any attack",
        "judged: all but errors",
        "attacked: judged and not skipped",
    ]
    if not beside:
        parts = ["accuracy before: of examples read (scored before any attack)"]
        if any(summary.accuracy_under_attack is not None for summary in summaries):
            parts.append("under attack: of examples judged (all but errors)")
        parts.append("success, queries: of examples attacked (no error, not skipped)")
        parts.append("words, measures: mean over successes")
        if any(summary.words_left is not None for summary in summaries):
            parts.append("words left: mean over examples attacked")
    if any(map(has_own_goal, summaries)):
        parts.append("accuracy falls with any wrong class, success is the goal alone")
    return "; ".join([*parts, "in brackets: 95% intervals"])


def summary_tables(summaries: Sequence[Summary], width: int) -> tuple[list[Table], str]:
    """The tables of the attacks' figures, and a note below them, which names the denominators where no table does."""
    tables, beside = tables_of([(summary.attack, lines(summary)) for summary in summaries], width)
    return tables, _note(summaries, beside)


def tables_of(found: Sequence[tuple[str, Sequence[tuple[str, str, str]]]], width: int) -> tuple[list[Table], bool]:
    """One column each, for a terminal: as many tables as keep every figure on one line.

    Where all of it fits, the denominators stand beside the figures; it is told whether they do.
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
    """One table; names of figures and attacks are folded before a value is."""
    spare = width - sum(_GAP + needed for _, _, needed in attacks)
    label = min(max(map(len, order), default=0), max(_LABEL, spare))
    spare -= label
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("", width=label, overflow="fold")
    for attack, _, needed in attacks:
        wider = max(0, len(attack) - needed if notes else min(spare, len(attack) - needed))
        spare -= wider
        table.add_column(Text(attack), justify="right", width=needed + wider, overflow="fold")
    if notes:
        table.add_column("", style="dim")
    for number, name in enumerate(order):
        if any(name in column for _, column, _ in attacks):
            cells = [column[name][0] if name in column else "-" for _, column, _ in attacks]
            table.add_row(Text(name), *cells, *([notes[number]] if notes else []))
    return table


def goal_named(goal: str, labels: Sequence[str]) -> str:
    """A run's goal with the name of the class behind its number, where it has one."""

    def named(match: re.Match[str]) -> str:
        number = int(match[1])
        return f"{match[0]} ({labels[number]})" if number < len(labels) else match[0]

    return re.sub(r"\btargeted:(\d+)", named, goal)


def table_html(found: Sequence[tuple[str, Sequence[tuple[str, str, str]]]]) -> str:
    """Small tables for notebooks: a caption, and rows of a name, a figure and what it is of."""
    blocks = []
    for caption, figures in found:
        rows = "".join(
            f"<tr><td>{escape(name)}</td><td>{escape(value)}</td><td><small>{escape(note)}</small></td></tr>"
            for name, value, note in figures
        )
        blocks.append(f"<table><caption><b>{escape(caption)}</b></caption>{rows}</table>")
    return "".join(blocks)
