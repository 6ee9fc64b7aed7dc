"""The page of a radius run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from shlex import quote
from typing import TYPE_CHECKING, Any

from mohs.bounds.finding import RadiusFinding, ShareFinding
from mohs.records import Outcome, Record
from mohs.report.listing import Listing, column, row_of, said_of, short_names
from mohs.report.page import on_data, page_of
from mohs.report.radius.charts import left_standing, scatter, side_by_side, withstood
from mohs.report.radius.figures import (
    KINDS,
    RadiusSummary,
    radius_headline,
    radius_lines,
    shown_steps,
)
from mohs.report.radius.shares import mean_cells, share_headline, share_notes
from mohs.report.radius.uppers import DUEL_NOTE, duel_cells, upper_cells, upper_note
from mohs.report.radius.violins import levels, violins
from mohs.report.table import rate

if TYPE_CHECKING:
    from mohs.report.view import View
    from mohs.runs.run import Run

_CALLED = {**KINDS, "skipped": "misclassified"}


def radius_page(view: View, run: Run, summary: RadiusSummary) -> str:
    """The whole page as HTML."""
    labels, shares = view.labels, summary.shares
    listing = Listing(lambda record, attack: _row(record, attack, labels))
    listing.read(run.records())
    listed = listing.values(["radius"], _columns(bool(shares)), _CALLED)
    names = short_names(upper.attack for upper in summary.attacks)
    return page_of(
        "radius/page.html.j2",
        view,
        f"{on_data(view)}, robustness radius",
        headline=radius_headline(summary),
        summary=summary,
        errors=view.errors,
        names=dict.fromkeys(listing.attacks, "radius"),
        lines=radius_lines(summary),
        steps=[(step.r, rate(step.proven), rate(step.possible)) for step in shown_steps(summary.curve)],
        uppers=_uppers(summary),
        upper_note=upper_note(len(summary.attacks) > 1),
        duels=[(names[d.attack], names[d.other], duel_cells(d)) for d in summary.duels],
        duel_note=DUEL_NOTE,
        share_headline=share_headline(shares) if shares else None,
        share_notes=share_notes(shares) if shares else [],
        means=[(share.r, mean_cells(share)) for share in shares],
        above=[(share.r, one.threshold, rate(one.low), rate(one.value)) for share in shares for one in share.above],
        curve=withstood(summary),
        standing=left_standing(summary.attacks),
        side_by_side=side_by_side(summary.attacks, summary.duels),
        attack_names=names,
        violins=violins(shares) if shares else None,
        levels=levels(shares) if shares else None,
        scatter=scatter(shares[-1]) if shares else None,
        verify=f"mohs verify RUN --victim {quote(str(view.config.get('victim', '-')))}",
        **listed | {"outcomes": _chips(summary, listing.rows())},
    )


def _uppers(summary: RadiusSummary) -> list[tuple[str, list[tuple[str, str]]]]:
    several = len(summary.attacks) > 1
    names = short_names(upper.attack for upper in summary.attacks)
    return [(names[upper.attack], upper_cells(upper, several)) for upper in summary.attacks]


def _chips(summary: RadiusSummary, rows: Sequence[Mapping[str, Any]]) -> dict[str, tuple[int, int]]:
    """For each kind, the number of rows on the page and in the run."""
    here = Counter(row["outcome"] for row in rows)
    counts = {**summary.kinds, "skipped": summary.outcomes["skipped"], "error": summary.outcomes["error"]}
    return {kind: (here[kind], count) for kind, count in counts.items() if count}


def _row(record: Record, attack: int, labels: Sequence[str]) -> dict[str, Any]:
    """A record for the page's script."""
    row = row_of(record, attack, labels) | {
        "said": said_of(record, labels),
        **dict.fromkeys(("lower", "upper", "by", "pr")),
    }
    if record.outcome is not Outcome.MEASURED:
        return row
    found: RadiusFinding = record.finding
    shown = {} if found.upper is not None else {"upper": "none" if found.kind == "whole" else "?"}
    row |= {
        "outcome": found.kind,
        "lower": found.lower,
        "upper": found.upper,
        "by": f"{found.by}, ended by {found.reason}" if found.reason else found.by,
        "shown": shown,
    }
    if found.shares:
        row["pr"] = round(found.shares[-1].value, 4)
        written = [_written(share) for share in found.shares]
        if len(written) > 1:
            written = [f"r {share.r}: {one}" for share, one in zip(found.shares, written, strict=True)]
        shown["pr"] = "; ".join(written)
    return row


def _written(share: ShareFinding) -> str:
    """A share with its interval."""
    if share.method == "counted":
        return f"{share.value:.4f} (counted)"
    return f"{share.value:.4f} [{share.low:.4f}, {share.high:.4f}]"


def _columns(share: bool) -> list[dict[str, Any]]:
    return [
        column("id", "Id", 8),
        column("outcome", "Radius", 12),
        column("label", "Label", 8.5),
        column("lower", "L", 4.5, right=True),
        column("upper", "U", 5, right=True),
        column("by", "By", 10),
        *([column("pr", "PR", 11)] if share else []),
        column("queries", "Queries", 7.5, right=True),
        column("text", "Text", None),
    ]
