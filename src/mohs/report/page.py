"""What all pages share, and the default page: tables and a list of attempts, for verbs without a page of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mohs.report.listing import Listing, column, row_of, short_names
from mohs.report.table import order_of
from mohs.report.template import rendered

if TYPE_CHECKING:
    from mohs.report.view import View
    from mohs.runs.run import Run


def page_of(template: str, view: View, title: str, **values: Any) -> str:
    """Fill in a template with the facts that every page shows, plus the given values."""
    about = {"versions": view.facts.get("versions", {}), "exact": view.facts.get("exact")}
    return rendered(template, title=title, config=view.config, flags=view.notes, **about, **values)


def on_data(view: View) -> str:
    """The start of a page's title."""
    return f"{view.config.get('victim', 'a model')} on {view.config.get('data', 'examples')}"


def plain_page(view: View, run: Run) -> str:
    """The whole page as HTML."""
    labels = view.labels
    listing = Listing(lambda record, attack: row_of(record, attack, labels))
    listing.read(run.records())
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
    return page_of(
        "page.html.j2",
        view,
        view.title,
        headline=view.headline,
        names=names,
        captions=[caption for caption, _ in tables],
        figures=figures,
        order=order_of(figures),
        **listing.values(names.values(), columns),
    )
