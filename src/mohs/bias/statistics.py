"""From records to the bias of each pair at each distance, with intervals and p values."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from mohs.errors import BadInput
from mohs.records import Outcome, Record

Floats = npt.NDArray[np.float64]

_MOST_SENTENCES_FOR_ALL_SIGNS = 12  # up to here every sign pattern is tried; beyond, patterns are drawn
_SIGN_PATTERNS_DRAWN = 10_000
_NUMBERS_IN_MEMORY = 1 << 22


@dataclass(frozen=True)
class PairBias:
    """B_{p,k} of one pair at one distance."""

    old: str
    new: str
    k: int
    sentences: int  # source sentences that have neighbours at this distance
    neighbours: int  # texts asked
    bias: float  # mean over all neighbours; positive: the second word is preferred
    low: float  # 95% interval over source sentences; nan for a single sentence
    high: float
    p: float  # sign-flip test over source sentences, two-sided
    holm: float  # the same, adjusted for all pairs at this distance
    exact: bool  # no sentence's neighbourhood was sampled
    bins: dict[int, int]  # how many neighbours have differences in each bin; estimated if sampled
    size: float = 0.0  # of all neighbourhoods together, exact or estimated; sentences weigh by theirs


def pair_biases(
    records: Iterable[Record], *, epsilon: float | None = None, resamples: int = 2000, seed: int = 0
) -> list[PairBias]:
    """The bias of each pair at each distance, pairs with the most sentences first.

    epsilon: use only the sentences whose own bias (k = 0) for that pair is smaller than this.
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
        _bias(old, new, k, parts, resamples, seed)
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


def _bias(old: str, new: str, k: int, parts: Sequence[_Part], resamples: int, seed: int) -> PairBias:
    # Each pair and distance has its own random numbers, independent of the other pairs ...
    digest = hashlib.sha256(f"{seed}/{old}/{new}/{k}".encode()).digest()
    random = np.random.default_rng(int.from_bytes(digest[:8], "big"))
    parts = sorted(parts, key=lambda part: part[:5])  # ... and of the order of the records
    totals = np.array([part.total for part in parts])
    sizes = np.array([part.size for part in parts])
    low, high = interval(totals, sizes, resamples, random)
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
        p=sign_flip(totals, random),
        holm=math.nan,
        exact=all(part.exact for part in parts),
        bins={number: max(1, round(count)) for number, count in sorted(bins.items())},
        size=float(sizes.sum()),
    )


def interval(totals: Floats, sizes: Floats, resamples: int, random: np.random.Generator) -> tuple[float, float]:
    """A 95% bootstrap interval of the pooled mean. Whole sentences are resampled, with all their neighbours."""
    m = len(totals)
    if m < 2:
        return math.nan, math.nan
    means = [
        totals[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)
        for drawn in (random.integers(m, size=(rows, m)) for rows in _blocks(resamples, m))
    ]
    low, high = np.quantile(np.concatenate(means), [0.025, 0.975])
    return float(low), float(high)


def sign_flip(totals: Floats, random: np.random.Generator) -> float:
    """The p value of a sign-flip test: how often the sum is as far from 0 with random signs; exact if few sentences."""
    m = len(totals)
    seen = abs(float(totals.sum())) - 1e-12 * float(np.abs(totals).sum())  # a tie stays a tie despite rounding
    if m <= _MOST_SENTENCES_FOR_ALL_SIGNS:
        patterns = np.arange(1 << m)[:, None] >> np.arange(m) & 1
        return float(np.mean(np.abs((1 - 2 * patterns) @ totals) >= seen))
    far = sum(
        int((np.abs((1 - 2 * random.integers(2, size=(rows, m))) @ totals) >= seen).sum())
        for rows in _blocks(_SIGN_PATTERNS_DRAWN, m)
    )
    return (far + 1) / (_SIGN_PATTERNS_DRAWN + 1)  # the observed signs are one of the patterns


def holm(values: Sequence[float]) -> list[float]:
    """P values adjusted for multiple tests (Holm 1979): bounds the probability of any false positive."""
    adjusted = [0.0] * len(values)
    largest = 0.0
    for rank, place in enumerate(sorted(range(len(values)), key=values.__getitem__)):
        largest = max(largest, min(1.0, (len(values) - rank) * values[place]))
        adjusted[place] = largest
    return adjusted


def _adjusted(found: Sequence[PairBias]) -> list[PairBias]:
    done: list[PairBias] = []
    for k in sorted({one.k for one in found}):
        level = [one for one in found if one.k == k]
        values = holm([one.p for one in level])
        done += [replace(one, holm=value) for one, value in zip(level, values, strict=True)]
    return done


def _blocks(rows: int, width: int) -> Iterator[int]:
    """Sizes of blocks of rows that fit into memory."""
    size = max(1, _NUMBERS_IN_MEMORY // width)
    for start in range(0, rows, size):
        yield min(size, rows - start)
