"""The page of a second-order run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mohs.records import Record
from mohs.report.charts import bars
from mohs.report.listing import Listing, column, pieces, row_of, short_names
from mohs.report.page import on_data, page_of
from mohs.report.second_order.figures import (
    SecondOrderSummary,
    headline,
    patch_of,
    predictions,
    second_order_lines,
)
from mohs.report.table import order_of

if TYPE_CHECKING:
    from mohs.report.view import View
    from mohs.runs.run import Run

_CALLED = {"success": "vulnerable", "failed": "none found", "skipped": "no pair"}


def second_order_page(view: View, run: Run, summaries: Sequence[SecondOrderSummary]) -> str:
    """The whole page as HTML."""
    labels = view.labels
    listing = Listing(lambda record, attack: _row(record, attack, labels))
    listing.read(run.records())
    names = short_names(listing.attacks)
    figures = [{name: (value, note) for name, value, note in second_order_lines(s)} for s in summaries]
    only: dict[str, Any] = (
        {"only": ["success"]} if listing.outcomes["success"] else {}
    )  # the list first shows vulnerable examples only
    return page_of(
        "second_order/page.html.j2",
        view,
        f"{on_data(view)}, second-order robustness",
        headline=headline(summaries, names),
        summaries=summaries,
        errors=view.errors,
        names=names,
        figures=figures,
        order=order_of(figures),
        bars=bars(listing.words),
        **listing.values(names.values(), _columns(len(names)), _CALLED, **only),
    )


def _row(record: Record, attack: int, labels: Sequence[str]) -> dict[str, Any]:
    patch = patch_of(record)
    row = row_of(record, attack, labels) | {"steps": record.finding.steps if record.finding else None}
    if patch is not None:
        row |= {"patch": f"{patch.old}|{patch.new}", "text": pieces(record, patch)}
        row["predictions"] = predictions(record, labels)
    return row


def _columns(attacks: int) -> list[dict[str, Any]]:
    return [
        column("id", "Id", 8),
        *([column("attack", "Method", 9)] if attacks > 1 else []),
        column("outcome", "Outcome", 10.5),
        column("label", "Label", 8.5),
        column("changed", "Changed", 7.5, right=True),
        column("steps", "Steps", 6, right=True),
        column("queries", "Queries", 7.5, right=True),
        column("text", "Text", None),
    ]
