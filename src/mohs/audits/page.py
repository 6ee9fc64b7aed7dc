"""The page of an audit: one self-contained HTML file."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mohs.audits import gauges as g
from mohs.audits.charts import curves, rule_bars, scatter, synonym_lines
from mohs.audits.figures import AttackAudit
from mohs.audits.measuring import Example
from mohs.audits.show import CLASSES_NOTE, measure_lines, ratio, success_lines
from mohs.audits.taxonomy import cells
from mohs.records import Record
from mohs.report.attack.classes import class_lines
from mohs.report.listing import Listing, column, row_of, said_of, short_names
from mohs.report.table import order_of, rate
from mohs.report.template import rendered

if TYPE_CHECKING:
    from mohs.audits.result import Audit

MOST_RULES = 30
_VALUES = (("cosine", g.COSINE), ("word", g.WORD), ("errors", g.ERRORS), ("ppl", g.PPL_RATIO))


def audit_page(audit: Audit) -> str:
    """The whole page as HTML."""
    audits = audit.summary()
    names = short_names(one.name for one in audits)
    labels = {column.name: column.labels for column in audit.columns}
    listing = Listing(lambda record, attack: _row(record, attack, labels))
    examples = [one for found in audit.examples.values() for one in found]
    listing.read(_hits(audit))
    rows = listing.values([names[name] for name in listing.attacks], _columns(len(audits), examples))
    parts = [_table(audits, success_lines), _table(audits, measure_lines), _table(audits, _class_lines)]
    manifest = audit.runs[0].manifest
    return rendered(
        "audit.html.j2",
        title=f"audit of {', '.join(str(run.folder.name if run.folder else 'a run') for run in audit.runs)}",
        headline=_headline(audits, names),
        flags=audit.notes,
        versions=manifest.get("facts", {}).get("versions", {}),
        config=manifest.get("config", {}),
        services=audit.services,
        names=names,
        success=parts[0],
        measures=parts[1],
        by_class=parts[2],
        scatter=scatter(audits),
        rules={one.name: _rules(one) for one in audits if one.grammar and one.grammar.rules},
        bars={one.name: bars for one in audits if one.grammar and (bars := rule_bars(one.grammar.rules))},
        curves=curves(audits),
        synonyms=synonym_lines(audit.synonyms),
        classes=[(row.attack, *cells(row), _why(row.by)) for one in audits for row in one.classes],
        classes_note=CLASSES_NOTE,
        **rows,
    )


def _hits(audit: Audit) -> Iterator[Record]:
    """The adversarial examples of all columns, under the column's name, with their values as measures."""
    for part in audit.columns:
        values = {one.example_id: one for one in audit.examples[part.name]}
        for record in part.hits():
            found = values.get(record.example_id)
            measures = {} if found is None else dict(found.taken.values)
            yield replace(record, attack=part.name, measures=measures, finding=found)


def _row(record: Record, attack: int, labels: dict[str, list[str]]) -> dict[str, Any]:
    """An adversarial example for the page's script."""
    found = record.finding
    row = row_of(replace(record, finding=None), attack, labels[record.attack])
    row["said"] = said_of(record, labels[record.attack])
    for cell, name in _VALUES:
        value = record.measures.get(name, math.nan)
        row[cell] = round(value, 4) if math.isfinite(value) else None
    row["rules"] = _introduced(found)
    return row


def _introduced(found: Example | None) -> str:
    """The rules that the change breaks."""
    if found is None or found.taken.rules_after is None:
        return ""
    new = Counter(found.taken.rules_after) - Counter(found.taken.rules_before or ())
    return ", ".join(f"{rule} ({count})" if count > 1 else rule for rule, count in sorted(new.items()))


def _columns(attacks: int, examples: Sequence[Example]) -> list[dict[str, Any]]:
    fluent = any(g.PPL_RATIO in one.taken.values for one in examples)
    checked = any(one.taken.rules_after is not None for one in examples)
    return [
        column("id", "Id", 8),
        *([column("attack", "Attack", 9)] if attacks > 1 else []),
        column("label", "Label", 9.5),
        column("changed", "Changed", 7, right=True),
        column("cosine", "Cosine", 7, right=True),
        column("word", "Word cosine", 8, right=True),
        *([column("errors", "New errors", 7, right=True), column("rules", "Rules", 10)] if checked else []),
        *([column("ppl", "Perplexity ratio", 8, right=True)] if fluent else []),
        column("text", "Text", None),
    ]


def _table(audits: Sequence[AttackAudit], lines: Any) -> dict[str, Any]:
    figures = [{name: (value, note) for name, value, note in lines(one)} for one in audits]
    return {"figures": figures, "order": order_of(figures)}


def _class_lines(one: AttackAudit) -> list[tuple[str, str, str]]:
    return class_lines(one.by_class, one.labels)


def _rules(one: AttackAudit) -> dict[str, Any]:
    assert one.grammar is not None, "only columns with grammar are asked"
    rules = one.grammar.rules
    shown = [(rule.rule, rule.before, rule.after, ratio(rule.before, rule.after)) for rule in rules[:MOST_RULES]]
    return {"rows": shown, "left": max(0, len(rules) - MOST_RULES), "introduced": rate(one.grammar.introduced)}


def _why(by: Any) -> str:
    return "; ".join(f"{family}: {', '.join(parts)}" for family, parts in by.items())


def _headline(audits: Sequence[AttackAudit], names: dict[str, str]) -> str:
    told = [one for one in audits if one.together is not None and one.success.total]
    if not told:
        return "There is no adversarial example to audit."
    if len(told) > 3:
        told = [max(told, key=lambda one: one.success.value or 0)]
    said = [
        f"{names[one.name]}: {one.success.hits:,} of {one.success.total:,} attacked examples fooled the model, "
        f"{one.together.hits:,} of them under all constraints"
        for one in told
        if one.together is not None
    ]
    return "; ".join(said)
