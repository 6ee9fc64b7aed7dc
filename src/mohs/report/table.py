"""Summaries as a table for terminals and notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from rich.table import Table
from rich.text import Text

from mohs.report.metrics import Mean, Rate, Summary


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
    rows += [(name, mean(value, 3), f"mean over {value.over}") for name, value in summary.measures.items()]
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


def _under_attack(summary: Summary) -> list[tuple[str, str, str]]:
    """The accuracy under attack, or where the label was to stay the words that are left."""
    if summary.accuracy_under_attack is not None:
        under = summary.accuracy_under_attack
        return [("accuracy under attack", rate(under), f"of {under.of}")]
    if summary.words_left is not None:
        note = f"mean over {summary.words_left.over}; the label is to stay, so there is no accuracy under attack"
        return [("words left", mean(summary.words_left), note)]
    return []


NOTE = "judged: all but errors; attacked: judged and not skipped; in brackets: 95% intervals"
SHORT_NOTE = (
    "accuracy: of examples judged (all but errors); success, queries: of examples attacked (judged and not "
    "skipped); words, measures: mean over successes, words left: over examples attacked; in brackets: 95% intervals"
)


def summary_table(summaries: Sequence[Summary], narrow: bool = False) -> Table:
    """One column an attack, for the terminal; a narrow one has the denominators below rather than beside."""
    table = Table(
        caption=SHORT_NOTE if narrow else NOTE, caption_justify="left", box=None, pad_edge=False, header_style="bold"
    )
    table.add_column("")
    for summary in summaries:
        table.add_column(Text(summary.attack), justify="right")
    if not narrow:
        table.add_column("", style="dim")
    names = list(dict.fromkeys(name for summary in summaries for name, _, _ in lines(summary)))
    values = [{name: (value, note) for name, value, note in lines(summary)} for summary in summaries]
    for name in names:
        note = next(column[name][1] for column in values if name in column)
        cells = [column[name][0] if name in column else "-" for column in values]
        table.add_row(name, *cells, *([] if narrow else [note]))
    return table


def summary_html(summaries: Sequence[Summary]) -> str:
    """A small table for notebooks."""
    blocks = []
    for summary in summaries:
        rows = "".join(
            f"<tr><td>{escape(name)}</td><td>{escape(value)}</td><td><small>{escape(note)}</small></td></tr>"
            for name, value, note in lines(summary)
        )
        blocks.append(f"<table><caption><b>{escape(summary.attack)}</b></caption>{rows}</table>")
    return "".join(blocks)
