"""The page of a study's analysis: one self-contained HTML file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mohs.report.listing import short_names
from mohs.report.table import marks, order_of
from mohs.report.template import rendered
from mohs.studies.analysis_notes import SIMULATED
from mohs.studies.charts import answer_bars, bucket_chart, cell_chart, change_chart, percents, threshold_chart
from mohs.studies.lines import FAIR, ITEMS, Row, model_rows, parts_of, share, training_rows
from mohs.studies.show import INTERVALS, headline, rule_said

if TYPE_CHECKING:
    from mohs.studies.analysis import Analysis
    from mohs.studies.quality import Work

_SHOWN = 25  # annotators without a flag; if there are more, they are folded


def analysis_page(found: Analysis) -> str:
    """The whole page as HTML."""
    columns = found.columns
    short = short_names(one.name for one in columns)
    return rendered(
        "study.html.j2",
        title=f"{found.design.title} ({found.design.name})",
        headline=page_headline(found),
        flags=[note for note in found.notes if note != SIMULATED],
        versions={},
        judged=headline(found),
        simulated=SIMULATED if found.simulated else "",
        facts=_facts(found),
        names=list(short.values()),
        parts_of=_parts(found),
        validity_note=_sentence("; ".join(filter(None, [rule_said(found), marks(), INTERVALS]))),
        what=ITEMS[found.design.items],
        threshold=threshold_chart([(short[one.name], one.curve) for one in found.groups], found.threshold),
        percents=percents(),
        relations=_relations(found),
        cells=None if found.relations is None else cell_chart(found.relations.jointly),
        confusion=found.whole.confusion,
        answers=[(one, answer_bars(one)) for one in found.whole.questions if one.judgements],
        turned={q.name: any(one.negated for one in q.statements) for q in found.design.questions},
        changes=_changes(found, short),
        training=_table([training_rows(found.trained)]),
        judges=found.judges,
        models=[(one, _table([model_rows(one)])) for one in found.models],
        work=_work(found),
        sensitivity=str(found.sensitivity),
    )


def page_headline(found: Analysis) -> str:
    """The main figure in a sentence."""
    valid, what = found.whole.valid, ITEMS[found.design.items][0]
    who = "Simulated judges" if found.simulated else "People"
    if valid.value is None:
        return headline(found)
    told = f"{who} find {share(valid)} of the {what} valid"
    if found.design.items == "texts":
        told = f"{who} take {share(valid)} of the altered texts for real"
    elif found.design.items == "labels":
        told = f"{who} give {share(valid)} of the {what} their original label"
    single = found.groups[0]
    if len(found.groups) == 1 and single.fair is not None:
        name = FAIR[found.design.items]
        how = f"measured {name}" if single.measured == "directly" else f"{name} by Eq. 6.2"
        told += f"; {how} is {share(single.fair)}"
    return told


def _facts(found: Analysis) -> list[tuple[str, str]]:
    source = found.source
    rows = [
        ("Design", f"{found.design.name}, {found.design.judges} judges an item"),
        ("Paper", found.design.paper),
        ("Rule", rule_said(found).removeprefix("valid: ")),
        ("Runs", ", ".join(map(str, source.get("runs") or ()))),
        ("Victims", ", ".join(map(str, source.get("victims") or ()))),
        ("Data", ", ".join(map(str, source.get("data") or ()))),
        ("Table", str(source.get("table") or "")),
        *((kind.capitalize(), name) for kind, name in found.services.items()),
    ]
    return [(name, value) for name, value in rows if value]


def _parts(found: Analysis) -> list[tuple[str, dict[str, Any]]]:
    """The tables: a name, and the rows of each group."""
    columns = [dict(parts_of(one, found.design)) for one in found.columns]
    names = dict.fromkeys(part for parts in columns for part in parts)
    return [(name, _table([parts.get(name, []) for parts in columns])) for name in names]


def _table(columns: Sequence[Sequence[Row]]) -> dict[str, Any]:
    figures = [{name: (value, note) for name, value, note in rows} for rows in columns]
    return {"figures": figures, "order": order_of(figures)}


def _relations(found: Analysis) -> list[dict[str, Any]]:
    """The charts of validity against one number of an item."""
    if found.relations is None:
        return []
    one = found.relations
    told = (
        ("Word cosine", one.of_word, one.word, one.word_unknown, one.word_correlation),
        ("Similarity", one.of_text, one.text, one.text_unknown, one.text_correlation),
    )
    return [
        {"name": name, "of": of, "buckets": buckets, "chart": chart, "unknown": unknown, "correlation": correlation}
        for name, of, buckets, unknown, correlation in told
        if (chart := bucket_chart(buckets)) is not None
    ]


def _changes(found: Analysis, short: dict[str, str]) -> list[dict[str, Any]]:
    """The charts of Eq. 6.2, one for each attack whose single changes were judged."""
    facts: dict[str, Any] = found.source.get("groups") or {}
    rows = []
    for one in found.groups:
        if one.measured != "by formula":
            continue
        counts = {int(i): int(count) for i, count in (facts.get(one.name, {}).get("changes") or {}).items()}
        if (chart := change_chart(counts, one.valid)) is not None:
            rows.append({"name": short[one.name], "chart": chart, "group": one})
    return rows


def _work(found: Analysis) -> dict[str, Any]:
    """The annotators who did something: the flagged first, then the others. Unnamed ones are nobody in particular."""
    work = [one for one in found.quality.work if one.annotator.named]
    rows = [one for one in work if one.answered or one.controls or one.flags]
    flagged: list[Work] = [one for one in rows if one.flags]
    others = [one for one in rows if not one.flags]
    return {"flagged": flagged, "others": others, "folded": len(others) > _SHOWN}


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."
