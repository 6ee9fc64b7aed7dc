"""The page of a run whose verb has none of its own: its tables, and the list of attempts."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from mohs.report.listing import Listing, column, row_of, short_names
from mohs.report.table import order_of
from mohs.report.template import embedded, rendered

if TYPE_CHECKING:
    from mohs.report.view import View
    from mohs.runs.run import Run


def plain_page(view: View, run: Run) -> str:
    """The whole page."""
    labels = [str(label) for label in view.config.get("labels") or ()]
    listing = Listing(lambda record, attack: row_of(record, attack, labels))
    deque(listing.watch(run.records()), maxlen=0)
    tables = view.tables()
    figures = [{name: (value, note) for name, value, note in rows} for _, rows in tables]
    columns = [
        column("id", "Id", 8),
        column("outcome", "Outcome", 10.5),
        column("label", "Label", 8.5),
        column("changed", "Changed", 7.5, right=True),
        column("queries", "Queries", 7.5, right=True),
        column("text", "Text", None),
    ]
    names = short_names(listing.attacks)
    return rendered(
        "page.html.j2",
        title=view.title,
        config=view.config,
        versions=view.facts.get("versions", {}),
        headline=f"{len(run):,} of {run.planned:,} attempts of mohs {run.command} are finished",
        flags=view.notes,
        names=names,
        captions=[caption for caption, _ in tables],
        figures=figures,
        order=order_of(figures),
        columns=columns,
        data=embedded({"attacks": list(names.values()), "columns": columns, "rows": listing.rows()}),
        **listing.values(),
    )
