"""The figures of a benchmark as tables: heads and rows of strings, from benchmark.json."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mohs.curation.measured import ALL

Table = tuple[list[str], list[list[str]]]
NONE = "-"


def counts_table(about: Mapping[str, Any], families: Sequence[str]) -> Table:
    """Table 1: texts of each task and family."""
    names = list(families)
    rows = [
        [line["task"], line["split"], f"{line['all']:,}", *(f"{line['families'][name]:,}" for name in names)]
        for line in about["table1"]
    ]
    if len(about["tasks"]) > 1:
        for split in ("dev", "test"):
            own = [line for line in about["table1"] if line["split"] == split]
            sums = [sum(line["families"][name] for line in own) for name in names]
            rows.append(["all", split, f"{sum(line['all'] for line in own):,}", *(f"{one:,}" for one in sums)])
    return ["task", "split", "all", *names], rows


def validity_table(about: Mapping[str, Any]) -> Table:
    """Table 3: effectiveness and validity of each attack."""
    heads = ["task", "attack", "ASR", "curated ASR", "filter rate", "kappa", "curated kappa", _accuracy(about)]
    return heads, [
        [
            one["task"],
            one["method"],
            percent(one["asr"]),
            percent(one["curated_asr"]),
            percent(one["filter_rate"]),
            figure(one["kappa"]["value"]),
            figure(one["curated_kappa"]["value"]),
            figure(one["human_accuracy"]["with_own"]["value"]),
        ]
        for one in about["validity"]
    ]


def drops_table(about: Mapping[str, Any]) -> Table:
    """Section 3.4: what each filter takes of what it is given."""
    names = ("transfer", "fidelity", "automatic", "no_consensus", "other_label")
    heads = ["task", "transfer", "fidelity", "both automatic filters", "no consensus", "another label"]
    return heads, [[one["task"], *(share(one[name]) for name in names)] for one in about["drops"]]


def agreement_table(about: Mapping[str, Any]) -> Table:
    """Agreement of the judges on each task, before and after curation, with intervals."""
    found: dict[str, Mapping[str, Any]] = {}
    for one in about["validity"]:  # the average of a task comes last
        found[one["task"]] = one
    heads = ["task", "kappa before", "kappa after", _accuracy(about), "against the others' majority"]
    return heads, [
        [
            task,
            estimate(one["kappa"]),
            estimate(one["curated_kappa"]),
            estimate(one["human_accuracy"]["with_own"]),
            estimate(one["human_accuracy"]["without_own"]),
        ]
        for task, one in found.items()
    ]


def funnel_table(about: Mapping[str, Any]) -> Table:
    """What each stage took in and kept, and why it dropped the others."""
    return ["task", "attack", "stage", "in", "out", "dropped"], [
        [
            one["task"],
            one["method"],
            one["stage"],
            f"{one['given']:,}",
            f"{one['kept']:,}",
            "; ".join(f"{count:,} {reason}" for reason, count in one["reasons"].items()),
        ]
        for one in about["funnel"]
    ]


def _accuracy(about: Mapping[str, Any]) -> str:
    """What the accuracy of the judges is called: simulated ones are not human."""
    return "simulated judges' accuracy" if about["judging"]["simulated"] else "human accuracy"


def percent(value: float | None) -> str:
    """A share as 8.29."""
    return NONE if value is None else f"{100 * value:.2f}"


def figure(value: float | None) -> str:
    """An agreement as 0.51."""
    return NONE if value is None else f"{value:.2f}"


def share(rate: Mapping[str, Any]) -> str:
    """A share with its count and interval."""
    if rate["value"] is None:
        return NONE
    low, high = rate["interval"]
    return f"{rate['value']:.1%} ({rate['hits']:,}/{rate['total']:,}) [{100 * low:.1f}, {100 * high:.1f}]"


def estimate(found: Mapping[str, Any]) -> str:
    """An agreement with its interval."""
    if found["value"] is None:
        return NONE
    if found["low"] is None or found["high"] is None:
        return f"{found['value']:.2f} [-]"
    return f"{found['value']:.2f} [{found['low']:.2f}, {found['high']:.2f}]"


def is_average(row: Sequence[str]) -> bool:
    """Whether a row of the validity table is that of a task."""
    return row[1] == ALL
