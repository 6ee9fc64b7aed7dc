"""The page of an attack run: one self-contained HTML file.

The summary and its charts are plain HTML and SVG. The rows are JSON inside the page, and a script shows them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mohs.attacks.goal import UNTARGETED, keeps_label
from mohs.records import Record
from mohs.report.attack.charts import curve
from mohs.report.attack.classes import class_lines
from mohs.report.attack.figures import Summary
from mohs.report.attack.table import goal_named, has_own_goal, lines, rows_of
from mohs.report.charts import bars
from mohs.report.listing import Listing, column, row_of, said_of, share, short_names
from mohs.report.page import on_data, page_of
from mohs.report.table import order_of

if TYPE_CHECKING:
    from mohs.report.attack.view import AttackView
    from mohs.runs.run import Run


def _row(record: Record, attack: int, labels: Sequence[str]) -> dict[str, Any]:
    """A record for the page's script."""
    return row_of(record, attack, labels) | {
        "said": said_of(record, labels),
        "before": share(record.scores_before, record.label),
        "after": share(record.scores_after, record.label),
    }


def _columns(attacks: int) -> list[dict[str, Any]]:
    return [
        column("id", "Id", 8),
        *([column("attack", "Attack", 9)] if attacks > 1 else []),
        column("outcome", "Outcome", 8.5),
        column("label", "Label", 9.5),
        column("before", "p before", 12, then="→ after"),
        column("changed", "Changed", 7.5, right=True),
        column("queries", "Queries", 7.5, right=True),
        column("text", "Text", None),
    ]


def attack_page(view: AttackView, run: Run) -> str:
    """The whole page as HTML."""
    labels, summaries = view.labels, view.summary()
    listing = Listing(lambda record, attack: _row(record, attack, labels))
    listing.read(run.records())
    names = short_names(listing.attacks)
    figures = [{name: (value, note) for name, value, note in lines(summary)} for summary in summaries]
    classes = [
        {name: (value, note) for name, value, note in class_lines(summary.by_class, labels)} for summary in summaries
    ]
    fooling = [summary for summary in summaries if not keeps_label(summary.goal)]
    return page_of(
        "attack/page.html.j2",
        view,
        on_data(view),
        headline=_headline(summaries, names, labels),
        goal=goal_named(view.goal, labels),
        own_goal=any(map(has_own_goal, summaries)),
        summaries=summaries,
        names=names,
        figures=figures,
        order=rows_of(summaries),
        classes=classes,
        class_order=order_of(classes),
        bars=bars(listing.words),
        curve=curve(fooling, {s.attack: listing.queries[s.attack] for s in fooling if s.attack in listing.queries}),
        fooling=fooling,
        figure_of={summary.attack: found for summary, found in zip(summaries, figures, strict=True)},
        **listing.values(names.values(), _columns(len(names))),
    )


def _headline(summaries: Sequence[Summary], names: Mapping[str, str], labels: Sequence[str]) -> str:
    """One sentence. For each goal it names up to three attacks; if there are more, only the strongest."""
    tried = [summary for summary in summaries if summary.success.total]
    if not tried:
        return "Every example was skipped or ended in an error." if summaries else "Nothing has been attacked yet."
    goals = dict.fromkeys(summary.goal for summary in tried)
    found = [_of_goal(goal, [summary for summary in tried if summary.goal == goal], names) for goal in goals]
    return goal_named("; ".join(found), labels)


def _of_goal(goal: str, tried: Sequence[Summary], names: Mapping[str, str]) -> str:
    right = "it got right" if goal == UNTARGETED else "attacked"
    feat = "fooled the model" if goal == UNTARGETED else f"reached the goal {goal}"
    start = ""
    if len(tried) > 3:
        start = f"The strongest of {len(tried)} attacks, "
        tried = [max(tried, key=lambda summary: summary.success.value or 0)]
    first, *others = tried
    count = f"{first.success.hits:,} of {first.success.total:,}"
    rest = [f"{names[s.attack]} on {s.success.hits:,} of {s.success.total:,}" for s in others]
    return f"{start}{names[first.attack]}{',' * bool(start)} {feat} on " + "; ".join(
        [f"{count} examples {right}", *rest]
    )
