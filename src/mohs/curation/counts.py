"""How many texts there are of each task and family of perturbations: Table 1 of the AdvGLUE paper."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mohs.curation.config import FAMILIES, Config

Rows = Mapping[str, Mapping[str, Sequence[Mapping[str, Any]]]]  # by task and split


def table1(config: Config, rows: Rows) -> list[dict[str, Any]]:
    """A line for each task and split, with a number for each family that the benchmark has."""
    families = families_of(config)
    found = []
    for task, parts in rows.items():
        for split, own in parts.items():
            counts = Counter((row["class"], row["family"]) for row in own)
            by_family = {family: counts[of_class, family] for of_class, family in families}
            found.append({"task": task, "split": split, "all": len(own), "families": by_family})
    return found


def families_of(config: Config) -> list[tuple[str, str]]:
    """The classes and families of the benchmark, in the order of the paper's columns; own families come last."""
    there = dict.fromkeys((one.of_class, one.family) for one in config.attacks)
    there |= dict.fromkeys(("human", one.family) for one in config.crafted)
    known = [(of_class, family) for of_class, own in FAMILIES.items() for family in own]
    order = {pair: place for place, pair in enumerate(known)}
    return sorted(there, key=lambda pair: order.get(pair, len(order)))


def label_counts(rows: Iterable[Mapping[str, Any]], classes: int) -> list[int]:
    """How many rows each class has."""
    counts = Counter(row["label"] for row in rows)
    return [counts[label] for label in range(classes)]
