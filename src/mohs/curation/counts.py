"""How many texts there are of each task and family of perturbations: Table 1 of the AdvGLUE paper."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mohs.curation.config import FAMILIES, Config

_ONE_SIDED, _FEW = 0.8, 10  # the share of one class, and the number of texts, from which on it is said

Rows = Mapping[str, Mapping[str, Sequence[Mapping[str, Any]]]]  # by task and split


def table1(config: Config, rows: Rows) -> list[dict[str, Any]]:
    """A line for each task and split, with a number for each family that the benchmark has."""
    families = families_of(config)
    found = []
    for task, parts in rows.items():
        for split, own in parts.items():
            counts = Counter(row["family"] for row in own)
            by_family = {family: counts[family] for family in families}
            found.append({"task": task, "split": split, "all": len(own), "families": by_family})
    return found


def families_of(config: Config) -> list[str]:
    """The families of the benchmark, in the order of the paper's columns; own families come last.

    A set that people made may be of a family of attacks. Then both count as one, as they do in scores.
    """
    there = dict.fromkeys((one.of_class, one.family) for one in config.attacks)
    there |= dict.fromkeys(("human", one.family) for one in config.crafted)
    known = [(of_class, family) for of_class, own in FAMILIES.items() for family in own]
    order = {pair: place for place, pair in enumerate(known)}
    ordered = sorted(there, key=lambda pair: order.get(pair, len(order)))
    return list(dict.fromkeys(family for _, family in ordered))


def one_sided(task: str, labels: Sequence[int], names: Sequence[str]) -> str | None:
    """A note if a model that always says one class would score high: attacks may fool surrogates in one direction."""
    if not labels:
        return None
    label, count = max(Counter(labels).items(), key=lambda pair: (pair[1], -pair[0]))
    if count < _ONE_SIDED * len(labels) or len(labels) < _FEW or not 0 <= label < len(names):
        return None
    return (
        f"{count} of {len(labels)} texts of {task} have the label {names[label]}, so a model that always says so reads "
        f"{count / len(labels):.0%} of them right."
    )


def label_counts(rows: Iterable[Mapping[str, Any]], classes: int) -> list[int]:
    """How many rows each class has."""
    counts = Counter(row["label"] for row in rows)
    return [counts[label] for label in range(classes)]
