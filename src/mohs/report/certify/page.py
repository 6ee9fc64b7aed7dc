"""The page of a certify run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mohs.certifying.budgets import written
from mohs.certifying.finding import CertifyFinding
from mohs.records import Outcome, Record
from mohs.report.certify.charts import against_budget
from mohs.report.certify.figures import CertifySummary, certify_lines, compared, headline
from mohs.report.listing import Listing, column, row_of, said_of
from mohs.report.page import on_data, page_of

if TYPE_CHECKING:
    from mohs.report.view import View
    from mohs.runs.run import Run

_CALLED = {"skipped": "misclassified", "measured": "right"}


def certify_page(view: View, run: Run, summary: CertifySummary) -> str:
    """The whole page as HTML."""
    labels = view.labels
    listing = Listing(lambda record, attack: _row(record, attack, labels))
    listing.read(run.records())
    return page_of(
        "certify/page.html.j2",
        view,
        f"{on_data(view)}, certified accuracy",
        headline=headline(summary),
        alarm=view.alarm,
        summary=summary,
        errors=view.errors,
        lines=certify_lines(summary),
        compared=compared(view.config, summary.method),
        chart=against_budget(summary),
        names=dict.fromkeys(listing.attacks, "certify"),
        **listing.values(["certify"], _columns(bool(view.config.get("draws"))), _CALLED),
    )


def _row(record: Record, attack: int, labels: Sequence[str]) -> dict[str, Any]:
    """A record for the page's script."""
    row = row_of(record, attack, labels) | {"said": said_of(record, labels), **dict.fromkeys(("proof", "attack_said"))}
    row |= {"bound": None, "votes": None}
    found: CertifyFinding | None = record.finding
    if found is None:
        return row
    if found.votes is not None:
        row["votes"] = round(found.votes.label / found.votes.draws, 4)
        row.setdefault("shown", {})["votes"] = (
            f"{found.votes.label:,}/{found.votes.draws:,}, at least {found.votes.low:.4f}"
        )
    if record.outcome is not Outcome.MEASURED:
        return row
    proven = [written(one.budget) for one in found.budgets if one.certified]
    fooled = next((one for one in found.budgets if one.fooled), None)
    bounds = [(written(one.budget), one.bound) for one in found.budgets]
    row["proof"] = f"budget {', '.join(proven)}" if proven else "none"
    row["attack_said"] = "withstood" if fooled is None else f"fooled: {fooled.changed} changed, {fooled.by}"
    if fooled is not None and fooled.votes is not None:
        row["attack_said"] += f"; {fooled.votes.label:,} of {fooled.votes.draws:,} fresh votes for the label"
    if fooled is None and any(one.undecided for one in found.budgets):
        row["attack_said"] += " (a vote is undecided)"
    row["bound"] = bounds[0][1]
    row.setdefault("shown", {})["bound"] = "; ".join(
        f"{name}: {'none' if bound is None else format(bound, '.4f')}" for name, bound in bounds
    )
    if found.contradiction:
        row["attack_said"] = f"CONTRADICTION, {row['attack_said']}"
    return row


def _columns(drawn: bool) -> list[dict[str, Any]]:
    found = [
        column("id", "Id", 8),
        column("outcome", "Outcome", 14),
        column("label", "Label", 9),
        column("proof", "Certified", 9),
        column("bound", "Bound", 10),
        column("votes", "Votes", 10),
        column("attack_said", "Attack", 11),
        column("text", "Text", None),
    ]
    return [one for one in found if drawn or one["cell"] != "votes"]
