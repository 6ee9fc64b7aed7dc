"""The page of a comparison: one self-contained HTML file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mohs.comparisons.charts import scatters, training_bars
from mohs.comparisons.examples import fooled_alone
from mohs.comparisons.show import HEADS, against_cells, errors_of, headline, note_of, side_lines
from mohs.comparisons.sides import Side
from mohs.records import Record
from mohs.report.listing import Listing, column, row_of, said_of, short_names
from mohs.report.table import marks, order_of
from mohs.report.template import rendered

if TYPE_CHECKING:
    from mohs.comparisons.result import Comparison


def comparison_page(comparison: Comparison) -> str:
    """The whole page as HTML."""
    base = comparison.sides[0]
    config = base.run.manifest.get("config", {})
    labels = [str(label) for label in config.get("labels") or ()]
    listing = Listing(lambda record, attack: _row(record, attack, labels))
    listing.read(_records(comparison))
    names = short_names(listing.attacks)
    columns = [
        column("id", "Id", 8),
        *([column("attack", "Attack", 10)] if len(names) > 1 else []),
        column("by", "Fooled", 9),
        column("label", "Label", 9.5),
        column("changed", "Changed", 7.5, right=True),
        column("queries", "Queries", 7.5, right=True),
        column("text", "Text", None),
    ]
    lines = [{name: (value, note) for name, value, note in side_lines(comparison, side)} for side in comparison.sides]
    return rendered(
        "compare.html.j2",
        title=f"comparison of {', '.join(_named(side) for side in comparison.sides)}",
        headline=headline(comparison),
        flags=comparison.notes,
        versions=base.run.manifest.get("facts", {}).get("versions", {}),
        config=config,
        sides=comparison.sides,
        groups=comparison.groups,
        names=names,
        figures=lines,
        order=order_of(lines),
        figures_note=f"Each run over all its own examples; {marks(errors_of(comparison))}.",
        charts=scatters(comparison),
        bars=training_bars(comparison),
        against=[
            {
                "title": f"{one.side.letter} against {base.letter}",
                "heads": [
                    base.letter,
                    one.side.letter,
                    *(name.format(first=base.letter, second=one.side.letter) for name in HEADS),
                ],
                "rows": [
                    (f"{group}: {figure}" if group else figure, cells)
                    for group, figure, cells in against_cells(comparison, one)
                ],
                "note": note_of(comparison, one),
            }
            for one in comparison.against
        ],
        **listing.values(names.values(), columns, filters={"by": "Fooled", "label": "True class"}),
    )


def _named(side: Side) -> str:
    return side.run.folder.name if side.run.folder else "a run"


def _records(comparison: Comparison) -> Iterator[Record]:
    """The examples fooled in one run alone; which runs is in their `by`."""
    for fooled, other, _, record in fooled_alone(comparison):
        yield replace(record, by=f"{fooled.letter}, not {other.letter}")


def _row(record: Record, attack: int, labels: list[str]) -> dict[str, Any]:
    return row_of(record, attack, labels) | {"said": said_of(record, labels), "by": record.by}
