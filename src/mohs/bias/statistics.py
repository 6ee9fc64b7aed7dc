"""From records to the bias of each pair at each distance, with intervals and p values."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from mohs.errors import BadInput
from mohs.records import Outcome, Record
from mohs.tasks.inference import holm, interval_of, p_of


@dataclass(frozen=True)
class PairBias:
    """B_{p,k} of one pair at one distance."""

    old: str
    new: str
    k: int
    sentences: int  # source sentences that have neighbours at this distance
    neighbours: int  # texts asked
    bias: float  # mean over all neighbours; positive: the second word is preferred
    low: float  # 95% interval over source sentences; nan for fewer than six
    high: float
    p: float  # two-sided test over source sentences; nan for fewer than eight
    holm: float  # the same, adjusted for all pairs and distances that were tested
    exact: bool  # no sentence's neighbourhood was sampled
    bins: dict[int, int]  # how many neighbours have differences in each bin; estimated if sampled
    size: float = 0.0  # of all neighbourhoods together, exact or estimated; sentences weigh by theirs


def pair_biases(records: Iterable[Record], *, epsilon: float | None = None, seed: int = 0) -> list[PairBias]:
    """The bias of each pair at each distance, pairs with the most sentences first.

    epsilon: use only the sentences whose own bias (k = 0) for that pair is smaller than this. That bias is not tested,
    since the sentences were chosen by it.
    """
    if epsilon is not None:
        check_epsilon(epsilon)
    groups: dict[tuple[str, str], dict[int, list[_Part]]] = {}
    for old, new, parts in _sentences(records):
        if epsilon is not None and not any(part.k == 0 and abs(part.total / part.n) < epsilon for part in parts):
            continue
        for part in parts:
            groups.setdefault((old, new), {}).setdefault(part.k, []).append(part)
    found = [
        _bias(old, new, k, parts, seed, tested=k > 0 or epsilon is None)
        for (old, new), levels in groups.items()
        for k, parts in levels.items()
    ]
    found = _adjusted(found)
    most = {pair: max(map(len, levels.values())) for pair, levels in groups.items()}
    return sorted(found, key=lambda one: (-most[one.old, one.new], one.old, one.new, one.k))


def check_epsilon(epsilon: float) -> None:
    """Refuse a threshold outside (0, 1]."""
    if not 0 < epsilon <= 1:
        raise BadInput(f"epsilon is {epsilon}; it must be above 0 and at most 1.")


class _Part(NamedTuple):
    """One sentence at one distance."""

    k: int
    n: int
    total: float
    exact: bool
    size: float  # the sentence's weight: the number of its neighbours, exact or estimated
    bins: dict[int, int]


def _sentences(records: Iterable[Record]) -> Iterator[tuple[str, str, list[_Part]]]:
    for record in records:
        if record.outcome not in (Outcome.MEASURED, Outcome.EXHAUSTED):
            continue  # after an error the finding is incomplete
        for pair in record.finding.pairs if record.finding is not None else ():
            parts = [_Part(row.k, row.n, row.weighted, row.exact, row.weight, row.bins) for row in pair.levels if row.n]
            if parts:
                yield pair.old, pair.new, parts


def _bias(old: str, new: str, k: int, parts: Sequence[_Part], seed: int, *, tested: bool) -> PairBias:
    # Each pair and distance has its own random numbers, independent of the other pairs ...
    digest = hashlib.sha256(f"{seed}/{old}/{new}/{k}".encode()).digest()
    random = np.random.default_rng(int.from_bytes(digest[:8], "big"))
    parts = sorted(parts, key=lambda part: part[:5])  # ... and of the order of the records
    totals = np.array([part.total for part in parts])
    sizes = np.array([part.size for part in parts])
    effects = totals / sizes
    low, high = interval_of(effects, sizes, -1, 1) or (math.nan, math.nan)
    bins: dict[int, float] = {}
    for part in parts:
        for number, count in part.bins.items():
            bins[number] = bins.get(number, 0.0) + count * part.size / part.n
    return PairBias(
        old=old,
        new=new,
        k=k,
        sentences=len(parts),
        neighbours=sum(part.n for part in parts),
        bias=float(totals.sum() / sizes.sum()),
        low=low,
        high=high,
        p=p_of(effects, sizes, random) if tested else math.nan,
        holm=math.nan,
        exact=all(part.exact for part in parts),
        bins={number: max(1, round(count)) for number, count in sorted(bins.items())},
        size=float(sizes.sum()),
    )


def _adjusted(found: Sequence[PairBias]) -> list[PairBias]:
    values = holm([one.p for one in found])
    return [replace(one, holm=value) for one, value in zip(found, values, strict=True)]
