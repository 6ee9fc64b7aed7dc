"""Prints an audit on the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from mohs.audits import gauges as g
from mohs.audits.figures import AttackAudit, Filtered, Measured, Synonyms
from mohs.audits.taxonomy import Constrained, cells
from mohs.report.attack.classes import class_lines
from mohs.report.names import folded
from mohs.report.table import marks, mean, rate, tables_of
from mohs.report.terminal import printable, show_tables

if TYPE_CHECKING:
    from rich.console import Console

    from mohs.audits.result import Audit

Row = tuple[str, str, str]

MOST_RULES = 10
THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98)
_MEDIANS = (g.PPL_BEFORE, g.PPL, g.PPL_RATIO)
_DIGITS = {g.EDITS: 1, g.CHANGED: 1, g.ERRORS: 2}
_CALLED = {g.PPL: "perplexity after", g.ERRORS: "errors introduced"}
ABSENT = "not measured"
_NAME = 30  # longer names are folded
SHORT = 26  # longer reasons stand in the notes only
CLASSES_NOTE = (
    "yes: by its source or constraints; part: by a part of its source only; !: Morris et al. 2020, A.1, say "
    "otherwise of this attack; ?: not known from the run"
)


def show(audit: Audit, console: Console) -> None:
    """Print all tables, then the notes."""
    audits = audit.summary()
    folders = ", ".join(str(run.folder or "a run in memory") for run in audit.runs)
    console.print(Text(printable(f"Audit of {folders}"), style="bold"))
    for run in audit.runs:
        if len(run) < run.planned:
            note = f"{run.folder or 'The run'} is not finished: {len(run):,} of {run.planned:,} attempts."
            console.print(Text(printable(note), style="yellow"))
    below = marks(sum(one.success.errors for one in audits))
    found = [
        (success_lines, f"constraints on final texts; of examples attacked; {below}"),
        (measure_lines, f"mean over adversarial examples, or median where it says so; {below}"),
    ]
    for lines, note in found:
        columns = [(one.name, _brief(lines(one)) if len(audits) > 1 else lines(one)) for one in audits]
        if columns:
            console.print()
            show_tables(console, tables_of(columns, console.width)[0], note)
    for one in audits:
        _show_rules(console, one)
    for one in audits:
        _show_curves(console, one)
    for points in audit.synonyms:
        console.print()
        show_tables(console, [_synonyms(points)], "success against the number of synonyms (Figure 4)")
    classes = [(one.name, rows) for one in audits if (rows := class_lines(one.by_class, one.labels))]
    if classes:
        console.print()
        show_tables(console, tables_of(classes, console.width)[0], "of the examples with that true class")
    constrained = [row for one in audits for row in one.classes]
    if constrained:
        console.print()
        show_tables(console, [classes_table(constrained)], CLASSES_NOTE)
    console.print()
    asked = "; ".join(f"{kind.replace('_', ' ')}: {name}" for kind, name in audit.services.items())
    if asked:
        console.print(Text(printable(f"Measured with {asked}."), style="dim"))
    for note in [*(_needed(audits[0]) if len(audits) > 1 else []), *audit.notes]:
        console.print(Text(printable(note), style="yellow"))


def _brief(rows: Sequence[Row]) -> list[Row]:
    """The rows without reasons, so that several columns fit beside each other; the reasons stand below."""
    return [(name, ABSENT if value.startswith(ABSENT) else value, note) for name, value, note in rows]


def success_lines(one: AttackAudit) -> list[Row]:
    """Success before and after filtering: each constraint alone, all together, and those on the text alone."""
    rows = [("success before filtering", rate(one.success), f"of {one.success.of}")]
    rows += [_filtered(f"with {found.written}", found) for found in one.required]
    rows += _all("with all of these", one.required, one)
    rows += [_filtered(f"text alone: {found.written}", found) for found in one.absolute]
    if len(one.absolute) > 1 and one.absolute_together is not None:
        rows.append(("text alone: all of these", rate(one.absolute_together), f"of {one.absolute_together.of}"))
    return rows


def _all(name: str, required: Sequence[Filtered], one: AttackAudit) -> list[Row]:
    if one.together is None:
        return [(name, ABSENT, "")]
    left = sum(found.rate is None for found in required)
    said = f"with all that were measured ({len(required) - left} of {len(required)})" if left else name
    return [(said, rate(one.together), f"of {one.together.of}")]


def _filtered(name: str, found: Filtered) -> Row:
    if found.rate is None:
        return name, _absent(found.why), ""
    return name, rate(found.rate), f"of {found.rate.of}"


def measure_lines(one: AttackAudit) -> list[Row]:
    """The measures of each class."""
    rows = []
    for found in one.measures:
        rows.append(_measured(found))
        if found.name == g.ERRORS and one.grammar is not None:
            share = one.grammar.introduced
            rows.append(("grammar: with new errors", rate(share), f"of {share.of}"))
            if one.grammar.slope is not None:
                rows.append(("grammar: errors per word changed", f"{one.grammar.slope:.3f}", "least squares"))
    return rows


def _measured(found: Measured) -> Row:
    name = f"{found.family}: {'median ' if found.name in _MEDIANS else ''}{_CALLED.get(found.name, found.name)}"
    if found.mean is None:
        return name, _absent(found.why), ""
    known = found.mean.total
    over = f" (of {known})" if found.unknown else ""
    if found.name in _MEDIANS:
        value = "-" if found.median is None else f"{found.median:.{2 if found.name == g.PPL_RATIO else 1}f}"
        return name, value + over, f"over {found.mean.over}"
    percent = found.name in (g.SHARE, g.EDIT_SHARE)
    value = mean(found.mean, _DIGITS.get(found.name, 3), percent=percent)
    return name, value + over, f"mean over {found.mean.over}"


def _absent(why: str) -> str:
    return f"{ABSENT}: {why}" if len(why) <= SHORT else ABSENT


def _needed(one: AttackAudit) -> list[str]:
    """What was not measured because a model was not given."""
    lacking: dict[str, list[str]] = {}
    for found in one.measures:
        if found.why and len(found.why) <= SHORT:
            lacking.setdefault(found.why, []).append(found.name)
    return [f"Not measured: {', '.join(names)} ({why})." for why, names in lacking.items()]


def ratio(before: int, after: int) -> str:
    """The ratio of Figure 2 in words; a rule that no original breaks has none."""
    return f"{after / before:.1f}" if before else "new"


def _show_rules(console: Console, one: AttackAudit) -> None:
    if one.grammar is None or not one.grammar.rules:
        return
    table = Table(box=None, pad_edge=False, header_style="bold", title_justify="left")
    table.add_column(Text(printable(f"rules broken, {one.name}")), overflow="fold")
    for name in ("before", "after", "ratio"):
        table.add_column(name, justify="right")
    for rule in one.grammar.rules[:MOST_RULES]:
        table.add_row(Text(printable(rule.rule)), str(rule.before), str(rule.after), ratio(rule.before, rule.after))
    more = len(one.grammar.rules) - MOST_RULES
    note = "errors in the originals of the adversarial examples, and in the adversarial examples"
    console.print()
    show_tables(console, [table], f"{note}; {more} more rules in --json" if more > 0 else note)


def _show_curves(console: Console, one: AttackAudit) -> None:
    if not one.curves or not one.success.total:
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column(Text(printable(f"success, {one.name}")), overflow="fold")
    for name in one.curves:
        table.add_column(name, justify="right", overflow="fold")
    for threshold in THRESHOLDS:
        hits = [dict(points)[threshold] for points in one.curves.values()]
        table.add_row(f"at least {threshold:g}", *(f"{count / one.success.total:.1%} ({count})" for count in hits))
    console.print()
    show_tables(console, [table], f"successes whose value is at least the threshold; of {one.success.total} attacked")


def _synonyms(found: Synonyms) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column(Text(printable(found.attack)))
    table.add_column("success", justify="right")
    table.add_column("with all constraints", justify="right")
    for k, before, after in found.points:
        table.add_row(f"k = {k}", rate(before), ABSENT if after is None else rate(after))
    return table


def classes_table(rows: Sequence[Constrained]) -> Table:
    """The table of constraint classes (Morris et al. 2020, A.1)."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("constrains", overflow="fold")
    table.add_column("meaning", overflow="fold")
    table.add_column("grammar")
    table.add_column("non-suspicion")
    for row in rows:
        table.add_row(Text(folded(printable(row.attack), _NAME)), *cells(row))
    return table
