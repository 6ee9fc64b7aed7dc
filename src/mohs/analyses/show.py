"""Prints an analysis on the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from mohs.analyses.buckets import PER_UNIT, Buckets, number_of
from mohs.analyses.intervals import Clustered, Median
from mohs.analyses.layers import LayerFigures
from mohs.analyses.result import AttackAnalysis, WordLabels
from mohs.report.table import marks, mean, rate, tables_of
from mohs.report.terminal import printable, show_tables

if TYPE_CHECKING:
    from rich.console import Console

    from mohs.analyses.result import Analysis

Row = tuple[str, str, str]

_WIDE = 106  # columns; a narrower terminal gets medians without quartiles
_INTERVALS = "intervals take the example as the unit, since its words are not independent"
_OTHER = "other class: words that are relatively most frequent in another class than the true one"


def show(analysis: Analysis, console: Console) -> None:
    """Print all tables, then the notes."""
    console.print(Text(printable(f"Analysis of {analysis.run or 'a run in memory'}"), style="bold"))
    parts = analysis.attacks
    if parts:
        console.print()
        columns = [(one.attack, lines(one)) for one in parts]
        show_tables(console, tables_of(columns, console.width)[0], below(parts))
        for name, told in (("cosine", "word cosine"), ("similarity", f"fragments of {analysis.window} words")):
            shown = [one for one in parts if getattr(one, name).total]
            rows = bucket_columns([getattr(one, name) for one in shown])
            columns = [(one.attack, column) for one, column in zip(shown, rows, strict=True)]
            if columns:
                console.print()
                note = f"{told}: share of the substitutions in each interval; the right end is not included"
                show_tables(console, tables_of(columns, console.width)[0], note)
    for one in parts:
        for figures in one.layers:
            console.print()
            wide = console.width >= _WIDE
            show_tables(console, [_layers(figures, wide)], layers_note(one, figures, wide=wide))
    for one in parts:
        if one.fragments:
            console.print()
            console.print(Text(printable(f"Fragments by similarity, {one.attack}"), style="bold"))
            for found in one.fragments:
                console.print(Text(printable(f"{found.similarity:5.2f}  {_flat(found.old_fragment)}")))
                console.print(Text(printable(f"       {_flat(found.new_fragment)}"), style="dim"))
    if analysis.words is not None:
        console.print()
        note = "training examples with the word, by label (Zhang et al. 2021, Table 7)"
        show_tables(console, tables_of(word_lines(analysis.words), console.width)[0], note)
    console.print()
    asked = "; ".join(f"{kind}: {name}" for kind, name in analysis.services.items())
    if asked:
        console.print(Text(printable(f"Measured with {asked}."), style="dim"))
    for note in analysis.notes:
        console.print(Text(printable(note), style="yellow"))


def below(parts: Sequence[AttackAnalysis]) -> str:
    """What the marks in the figures mean, and which words count as those of another class."""
    return "; ".join([marks(), _INTERVALS, *([_OTHER] if any(one.frequencies for one in parts) else [])])


def lines(one: AttackAnalysis) -> list[Row]:
    """The figures of an attack as rows."""
    rows = [
        ("adversarial examples", f"{one.few_edits.total:,}", ""),
        ("words replaced", f"{len(one.substitutions):,}", "in all of them"),
        ("with one or two edits", rate(one.few_edits), f"of {one.few_edits.of}"),
        ("replacement rate", mean(one.replaced, percent=True), "share of words; mean over examples"),
    ]
    if one.frequencies is not None:
        found = one.frequencies
        rows += [
            ("original word in training", median(found.old_median), "median count"),
            ("attack word in training", median(found.new_median), "median count"),
            ("original words, other class", share(found.old_wrong), f"of {found.old_wrong.of}"),
            ("attack words, other class", share(found.new_wrong), f"of {found.new_wrong.of}"),
            ("original words, not in training", share(found.old_unseen), f"of {found.old_unseen.of}"),
            ("attack words, not in training", share(found.new_unseen), f"of {found.new_unseen.of}"),
        ]
        if found.several:
            rows.append(("replacements of several words", str(found.several), "not counted"))
    rows += [
        ("word cosine", median(one.cosine_median, 2), "median"),
        *(
            [("no word vector", str(one.cosine.unknown), "substitutions without a cosine")]
            if one.cosine.unknown
            else []
        ),
        ("fragment similarity", median(one.similarity_median, 2), "median, by the encoder"),
    ]
    if one.similarity.unknown:
        rows.append(("fragments not encoded", str(one.similarity.unknown), "substitutions without a similarity"))
    return rows


def median(found: Median, digits: int = 0) -> str:
    """A median as `18 [9, 30]`."""
    if found.value is None:
        return "-"
    inner = (
        "-"
        if found.low is None or found.high is None
        else f"{_number(found.low, digits)}, {_number(found.high, digits)}"
    )
    return f"{_number(found.value, digits)} [{inner}]"


def _number(value: float, digits: int) -> str:
    return f"{value:,.{digits}f}" if digits else f"{value:,.1f}".removesuffix(".0")


def share(found: Clustered) -> str:
    """A share, with [-] if there are too few examples for an interval."""
    if found.value is not None and found.interval is None:
        return f"{found.value:.1%} ({found.counted}) [-]"
    return rate(found)


def bucket_columns(found: Sequence[Buckets]) -> list[list[Row]]:
    """Histograms as rows, a column for each, over the same buckets; a bucket holds its left edge only."""
    numbers = [number_of(edge) for one in found for edge, _ in one.counts]
    shared = range(min(numbers), max(numbers) + 1) if numbers else range(0)
    columns = []
    for one in found:
        counts = {number_of(edge): count for edge, count in one.counts}
        columns.append([(_bucket(number), _counted(counts.get(number, 0), one.total), "") for number in shared])
    return columns


def _bucket(number: int) -> str:
    if number == PER_UNIT:
        return "1.00"
    return f"{number / PER_UNIT:.2f} to {(number + 1) / PER_UNIT:.2f}"


def _counted(count: int, total: int) -> str:
    return f"{count / total:.1%} ({count})" if total else "-"


def layers_note(one: AttackAnalysis, figures: LayerFigures, *, wide: bool = True) -> str:
    """What a table of layers holds."""
    held = "median [25%, 75%]" if wide else "median (the page and --json have the quartiles)"
    return (
        f"{one.attack}, layers of {figures.victim}: cosine of a word's vector with the original word's, {held} over "
        f"the words of {figures.pairs} examples; layer 0 is the input embedding"
    )


def _layers(figures: LayerFigures, wide: bool) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("layer", justify="right")
    for curve in figures.curves:
        table.add_column(Text(curve.group), justify="right")
    table.add_row("words", *(f"{curve.words:,}" for curve in figures.curves))
    for layer in range(len(figures.curves[0].quartiles)):
        found = [curve.quartiles[layer] for curve in figures.curves]
        table.add_row(str(layer), *(quartiles(one) if wide else f"{one[1]:.2f}" for one in found))
    return table


def quartiles(found: Sequence[float]) -> str:
    """Quartiles as `.81 [.74, .88]`."""
    low, middle, high = (f"{value:.2f}" for value in found)
    return f"{middle} [{low}, {high}]"


def word_lines(words: WordLabels | None) -> list[tuple[str, list[Row]]]:
    """The words of a bias run, a column for each label."""
    if words is None:
        return []
    numbers = words.numbers
    tables = []
    for number in numbers:
        rows = [(word, f"{counts.get(number, 0):,}", "examples") for word, counts in words.words.items()]
        tables.append((words.named(number), rows))
    return tables


def _flat(text: str) -> str:
    return " ".join(text.split())
