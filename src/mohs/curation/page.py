"""The page of a benchmark: effectiveness and validity of its attacks, counts, and what the stages dropped."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mohs.curation.config import Config
from mohs.curation.counts import families_of
from mohs.curation.tables import agreement_table, counts_table, drops_table, funnel_table, is_average, validity_table
from mohs.report.template import rendered


def benchmark_page(config: Config, about: Mapping[str, Any]) -> str:
    """The whole page as HTML."""
    return rendered(
        "benchmark.html.j2",
        title=f"benchmark {config.name}",
        headline=headline(about),
        flags=about["notes"],
        versions={},
        about=about,
        simulated=about["judging"]["simulated"],
        counts=counts_table(about, families_of(config)),
        validity=validity_table(about),
        averages=[place for place, row in enumerate(validity_table(about)[1]) if is_average(row)],
        drops=drops_table(about),
        agreement=agreement_table(about),
        funnel=funnel_table(about),
    )


def headline(about: Mapping[str, Any]) -> str:
    """How large the benchmark is, and which attack gives most of its valid texts."""
    tasks = about["tasks"]
    texts = sum(sum(task["counts"].values()) for task in tasks.values())
    said = f"{texts:,} texts in {len(tasks)} {'task' if len(tasks) == 1 else 'tasks'}"
    cells = [one for one in about["validity"] if one["surrogates"] and one["curated_asr"]]
    if not cells:
        return said
    best = max(cells, key=lambda one: one["curated_asr"])
    return (
        f"{said}; most valid texts for an example attacked: {best['method']} on {best['task']} "
        f"(success {best['asr']:.1%}, after curation {best['curated_asr']:.1%})"
    )
