"""The page of an attack run: one self-contained HTML file.

The summary and its charts are plain HTML and SVG. The rows are JSON inside the page, and a script shows them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
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
from mohs.report.rates import Rate
from mohs.report.table import order_of

if TYPE_CHECKING:
    from mohs.report.attack.view import AttackView
    from mohs.runs.run import Run


_FILTERS = {"label": "True class", "predicted": "Predicted", "by": "By", "people": "People"}


def _row(record: Record, attack: int, view: AttackView) -> dict[str, Any]:
    """A record for the page's script."""
    said = said_of(record, view.labels)
    row = row_of(record, attack, view.labels)
    accepted = view.accepted(record)
    return row | {
        "said": said,
        "predicted": (said or row["label"]) if record.scores_before or record.scores_after else None,
        "before": share(record.scores_before, record.label),
        "after": share(record.scores_after, record.label),
        "by": record.by or None,
        "accepted": None if accepted is None else share([accepted], 0),
        "people": view.said_of(record),
    }


def _columns(attacks: int, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The columns of the list. Those that no row would fill are left out."""

    def filled(key: str) -> bool:
        return any(row[key] is not None for row in rows)

    by, accepted, people = filled("by"), filled("accepted"), filled("people")
    few = not by and not accepted and not people
    return [
        column("id", "Id", 8),
        *([column("attack", "Attack", 9)] if attacks > 1 else []),
        *([column("by", "By", 9)] if by else []),
        column("outcome", "Outcome", 8.5 if few else 8),
        column("label", "Label", 9.5 if few else 7.5),
        column("before", "p before", 12, then="→ after"),
        *([column("accepted", "Accepted", 7, right=True)] if accepted else []),
        *([column("people", "People", 7)] if people else []),
        column("changed", "Changed", 7.5 if few else 6.5, right=True),
        column("queries", "Queries", 7.5 if few else 6.5, right=True),
        column("text", "Text", None),
    ]


def _of(rates: Iterable[Rate | None]) -> str:
    """The denominators of some attacks in words: "26 examples attacked", or "24 to 26 ..." if they differ."""
    known = [rate for rate in rates if rate is not None]
    totals = sorted({rate.whole for rate in known})
    count = " to ".join(f"{total:,}" for total in dict.fromkeys([*totals[:1], *totals[-1:]]))
    return f"{count} {known[0].of}" if known else ""


def attack_page(view: AttackView, run: Run) -> str:
    """The whole page as HTML."""
    labels, summaries = view.labels, view.summary()
    listing = Listing(lambda record, attack: _row(record, attack, view))
    listing.read(run.records())
    names = short_names(listing.attacks)
    figures = [{name: (value, note) for name, value, note in lines(summary)} for summary in summaries]
    classes = [
        {name: (value, note) for name, value, note in class_lines(summary.by_class, labels)} for summary in summaries
    ]
    fooling = [summary for summary in summaries if not keeps_label(summary.goal)]
    columns = _columns(len(names), listing.rows())
    rated = any(one["cell"] == "accepted" for one in columns)
    first: dict[str, Any] = (
        {"order": "-accepted"} if rated else {}
    )  # the list starts with what people would most likely accept
    return page_of(
        "attack/page.html.j2",
        view,
        on_data(view),
        headline=headline(summaries, names, labels),
        goal=goal_named(view.goal, labels),
        own_goal=any(map(has_own_goal, summaries)),
        summaries=summaries,
        names=names,
        errors=view.errors,
        judged=any(summary.fair is not None for summary in summaries),
        study=view.study,
        figures=figures,
        order=rows_of(summaries),
        classes=classes,
        class_order=order_of(classes),
        bars=bars(listing.words),
        curve=curve(fooling, {s.attack: listing.queries[s.attack] for s in fooling if s.attack in listing.queries}),
        fooling=fooling,
        before_of=_of(summary.accuracy_before for summary in fooling),
        under_of=_of(summary.accuracy_under_attack for summary in fooling),
        success_of=_of(summary.success for summary in fooling),
        figure_of={summary.attack: found for summary, found in zip(summaries, figures, strict=True)},
        **listing.values(names.values(), columns, filters=_FILTERS, **first),
    )


def headline(summaries: Sequence[Summary], names: Mapping[str, str], labels: Sequence[str]) -> str:
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
    rest = [f"{names[s.attack]} on {s.success.hits:,} of {s.success.total:,}{_fairly(s)}" for s in others]
    return f"{start}{names[first.attack]}{',' * bool(start)} {feat} on " + "; ".join(
        [f"{count} examples {right}{_fairly(first, ' with changes that people would accept')}", *rest]
    )


def _fairly(summary: Summary, accepted: str = " acceptable") -> str:
    """How many of the successes people would accept, for the headline: measured, if a study tells."""
    if summary.measured is not None and summary.measured.fair.value is not None and summary.success.hits:
        return _measured(summary, summary.measured.fair.value)
    fair = summary.fair
    if fair is None or not summary.success.hits:
        return ""
    if not fair.judged:
        return f" (none of them could be judged{' for acceptance' if accepted else ''})"
    about = "fewer than 1" if fair.expected < 0.95 else f"about {fair.expected:,.0f}"
    more = f" and {fair.unjudged:,} not judged" if fair.unjudged else ""
    return f", {about}{accepted}{more}"


def _measured(summary: Summary, share: float) -> str:
    """As `_fairly`, by people."""
    expected = share * summary.success.total
    about = "fewer than 1" if expected < 0.95 else f"about {expected:,.0f}"
    return f", {about} of which people found valid"
