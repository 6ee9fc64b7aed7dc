"""The page of a second-order run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mohs.records import Record
from mohs.report.charts import bars
from mohs.report.listing import Listing, column, pieces, row_of, short_names
from mohs.report.second_order.figures import (
    headline,
    patch_of,
    predictions,
    second_order_flags,
    second_order_lines,
    summarise_second_order,
)
from mohs.report.table import order_of
from mohs.report.template import embedded, rendered

if TYPE_CHECKING:
    from mohs.runs.run import Run

_CALLED = {"success": "vulnerable", "failed": "none found", "skipped": "no pair"}


def second_order_page(run: Run) -> str:
    """The whole page."""
    config: Mapping[str, Any] = run.manifest.get("config", {})
    facts = run.manifest.get("facts", {})
    labels = [str(label) for label in config.get("labels") or ()]
    listing = Listing(lambda record, attack: _row(record, attack, labels))
    summaries = summarise_second_order(listing.watch(run.records()))
    names = short_names(listing.attacks)
    figures = [{name: (value, note) for name, value, note in second_order_lines(s)} for s in summaries]
    columns = _columns(len(names))
    data = {"attacks": list(names.values()), "columns": columns, "called": _CALLED, "rows": listing.rows()}
    if listing.outcomes["success"]:
        data["only"] = ["success"]  # the list starts with what was found
    return rendered(
        "second_order/page.html.j2",
        title=f"{config.get('victim', 'a model')} on {config.get('data', 'examples')}, second-order robustness",
        config=config,
        versions=facts.get("versions", {}),
        headline=headline(summaries, names),
        flags=second_order_flags(facts, summaries, listing.outcomes.total(), run.planned),
        summaries=summaries,
        names=names,
        figures=figures,
        order=order_of(figures),
        bars=bars(listing.words),
        columns=columns,
        data=embedded(data),
        **listing.values(**_CALLED),
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
