"""The page of an analysis: one self-contained HTML file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mohs.analyses.charts import histogram, layer_chart
from mohs.analyses.show import below, bucket_columns, layers_note, lines, quartiles, word_lines
from mohs.report.listing import short_names
from mohs.report.table import order_of
from mohs.report.template import rendered

if TYPE_CHECKING:
    from mohs.analyses.result import Analysis


def analysis_page(analysis: Analysis) -> str:
    """The whole page as HTML."""
    parts, config = analysis.attacks, analysis.manifest.get("config", {})
    names = short_names(one.attack for one in parts)
    words = word_lines(analysis.words)
    charts = {
        "Word cosine": histogram([(one.attack, one.cosine) for one in parts]),
        f"Similarity of fragments of {analysis.window} words": histogram(
            [(one.attack, one.similarity) for one in parts]
        ),
    }
    layers = [
        {
            "title": f"{names[one.attack]}: {figures.victim}",
            "chart": layer_chart(figures),
            "groups": [(curve.group, f"{curve.words:,}") for curve in figures.curves],
            "rows": [
                [quartiles(curve.quartiles[layer]) for curve in figures.curves]
                for layer in range(len(figures.curves[0].quartiles))
            ],
            "note": layers_note(one, figures),
        }
        for one in parts
        for figures in one.layers
    ]
    note = below(parts)
    return rendered(
        "analyse.html.j2",
        title=f"analysis of {analysis.run.name if analysis.run else 'a run'}",
        headline=_headline(analysis),
        flags=analysis.notes,
        versions=analysis.manifest.get("facts", {}).get("versions", {}),
        config=config,
        services=analysis.services,
        names=names,
        figures=_table([lines(one) for one in parts]),
        figures_note=f"{note[0].upper()}{note[1:]}.",
        bars=_bars(analysis),
        charts={name: chart for name, chart in charts.items() if chart},
        cosines=_table(bucket_columns([one.cosine for one in parts])),
        similarities=_table(bucket_columns([one.similarity for one in parts])),
        layers=layers,
        fragments=[(names[one.attack], one.fragments) for one in parts if one.fragments],
        words=[caption for caption, _ in words],
        word_rows=_table([rows for _, rows in words]),
        window=analysis.window,
    )


def _table(columns: list[list[tuple[str, str, str]]]) -> dict[str, Any]:
    figures = [{name: (value, note) for name, value, note in rows} for rows in columns]
    return {"figures": figures, "order": order_of(figures)}


def _bars(analysis: Analysis) -> list[dict[str, Any]]:
    """The share of words that are more frequent in another class, original words beside attack words."""
    rows = []
    for one in analysis.attacks:
        if one.frequencies is not None:
            for kind, found in (
                ("original words", one.frequencies.old_wrong),
                ("attack words", one.frequencies.new_wrong),
            ):
                if found.value is not None:
                    rows.append({"attack": one.attack, "kind": kind, "rate": found})
    return rows


def _headline(analysis: Analysis) -> str:
    if analysis.words is not None:
        return f"{len(analysis.words.words):,} words of a bias run, counted in the training data"
    told = [
        f"{one.attack}: {len(one.substitutions):,} words replaced in {one.few_edits.total:,} adversarial examples"
        for one in analysis.attacks
    ]
    return "; ".join(told)
