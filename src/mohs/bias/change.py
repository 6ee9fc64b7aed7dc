"""Two runs over the same sentences: how much the bias of each pair changed, sentence by sentence."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from mohs.bias.finding import PairFinding
from mohs.bias.level import LevelFinding
from mohs.records import Outcome, Record
from mohs.tasks.inference import holm, interval_of, p_of


@dataclass(frozen=True)
class PairChange:
    """How much B_{p,k} of one pair at one distance changed, over the sentences that both runs measured alike."""

    old: str
    new: str
    k: int
    sentences: int
    change: float  # after - before
    low: float  # 95% interval over sentences; nan for fewer than six
    high: float
    p: float  # two-sided test over sentences; nan for fewer than eight
    holm: float  # the same, adjusted for all pairs and distances that were tested


def pair_changes(before: Iterable[Record], after: Iterable[Record], *, seed: int = 0) -> list[PairChange]:
    """The changes of every pair and distance, in the order in which the later run's records have them.

    The difference of a sentence is that of its means before and after, and weighs as much as the sentence has
    neighbours. Sentences whose neighbourhood has another size in the other run are left out: they were measured on
    other texts.
    """
    earlier = dict(_levels(before))
    found: dict[tuple[str, str, int], list[tuple[float, float]]] = {}
    for key, level in _levels(after):
        other = earlier.get(key)
        if other is not None and math.isclose(other.weight, level.weight, rel_tol=1e-9):
            _, old, new, _, _, k = key
            gap = level.weighted / level.weight - other.weighted / other.weight
            found.setdefault((old, new, k), []).append((gap, level.weight))
    changes = [_change(*key, sorted(rows), seed) for key, rows in found.items()]
    adjusted = holm([one.p for one in changes])
    return [replace(one, holm=value) for one, value in zip(changes, adjusted, strict=True)]


_Key = tuple[str, str, str, int, bool, int]


def _levels(records: Iterable[Record]) -> Iterable[tuple[_Key, LevelFinding]]:
    for record in records:
        if record.outcome not in (Outcome.MEASURED, Outcome.EXHAUSTED) or record.finding is None:
            continue
        pairs: Iterable[PairFinding] = record.finding.pairs
        for pair in pairs:
            for level in pair.levels:
                if level.n:
                    yield (record.example_id, pair.old, pair.new, pair.position, pair.back, level.k), level


def _change(old: str, new: str, k: int, rows: list[tuple[float, float]], seed: int) -> PairChange:
    digest = hashlib.sha256(f"{seed}/{old}/{new}/{k}/change".encode()).digest()
    random = np.random.default_rng(int.from_bytes(digest[:8], "big"))
    gaps, sizes = np.array(rows).T
    low, high = interval_of(gaps, sizes, -2, 2) or (math.nan, math.nan)
    change = float((gaps * sizes).sum() / sizes.sum())
    return PairChange(old, new, k, len(rows), change, low, high, p_of(gaps, sizes, random), math.nan)
