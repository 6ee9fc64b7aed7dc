"""Prints the analysis of a study on the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from mohs.report.table import marks, tables_of
from mohs.report.terminal import printable, show_tables
from mohs.studies.analysis_notes import SIMULATED
from mohs.studies.lines import figure, model_rows, parts_of, training_rows

if TYPE_CHECKING:
    from rich.console import Console

    from mohs.studies.analysis import Analysis

INTERVALS = (
    "they allow for other items and, where it is known who judged, other judges; those of attack success, kappa, "
    "alpha, versions, corrected valid items, reasons of curation and models for other items alone"
)


def headline(found: Analysis) -> str:
    """What was analysed, in a sentence."""
    questions = found.whole.questions
    judgements = sum(one.judgements for one in questions)
    judges = f"{found.counted.judges:,} {found.judges}" if found.counted.judges else found.judges
    if found.counted.judges == 1:
        judges = "1 simulated judge" if found.simulated else "1 person"
    return f"{judgements:,} judgements of {sum(one.items for one in questions):,} items by {judges}"


def rule_said(found: Analysis) -> str:
    """When an item counts as valid; empty if the design does not say."""
    if found.rule is None or found.design.valid is None:
        return ""
    valid = found.design.valid
    if found.rule.statistic == "consensus":
        return f"valid: at least {found.rule.least_agreeing} judges agree, and on the original label"
    sign = {"at_most": "<=", "at_least": ">=", "below": "<", "above": ">"}
    (name,) = found.rule.bounds
    answer = "" if valid.answer is None else f' of "{found.design.question(valid.question).label(valid.answer)}"'
    return f"valid: {found.rule.statistic}{answer} {sign[name]} {found.threshold:g}"


def show(found: Analysis, console: Console) -> None:
    """Print all tables, then the notes."""
    console.print(Text(printable(f"{found.design.title} ({found.design.name})"), style="bold"))
    if found.simulated:
        console.print(Text(SIMULATED, style="bold yellow"))
    console.print(Text(printable(headline(found))))
    columns = [(one.name, dict(parts_of(one, found.design))) for one in found.columns]
    for name in dict.fromkeys(part for _, parts in columns for part in parts):
        console.print()
        console.print(Text(name, style="bold"))
        note = "; ".join(filter(None, [rule_said(found), marks(), INTERVALS])) if name == "Validity" else ""
        tables, _ = tables_of([(who, parts.get(name, [])) for who, parts in columns], console.width)
        _tables(console, tables, note)
    if rows := training_rows(found.trained):
        console.print()
        console.print(Text("Training and unchanged texts", style="bold"))
        _tables(console, tables_of([(found.judges, rows)], console.width)[0], "")
    for one in found.models:
        console.print()
        console.print(Text(printable(f"A model beside {found.judges}: {one.model}"), style="bold"))
        _tables(console, tables_of([(one.model, model_rows(one))], console.width)[0], "")
    console.print()
    if found.pool.named:
        console.print(Text(printable(str(found.sensitivity))))
    if found.relations is not None:
        console.print(Text(_related(found)))
    for note in (note for note in found.notes if note != SIMULATED):
        console.print(Text(printable(note), style="yellow"))


def _tables(console: Console, tables: list[Table], note: str) -> None:
    if note:
        show_tables(console, tables, note)
        return
    for table in tables:
        console.print(table)


def _related(found: Analysis) -> str:
    """How scores go with word vectors and the encoder, in a sentence or two."""
    assert found.relations is not None
    one = found.relations
    told = [
        f"with {of}: {figure(value)} ({value.items:,} items)"
        for of, value in ((one.of_word, one.word_correlation), (one.of_text, one.text_correlation))
        if value.value is not None
    ]
    if not told:
        return "The page has the shares of valid items by word cosine and by the encoder's similarity."
    return f"Rank correlation of mean scores {'; '.join(told)}. The page has the shares of valid items by interval."
