"""PR, the share of Omega_r that keeps the label (Yang et al. 2022): counted, or estimated with an interval.

There may be several radii. delta can be divided among all intervals.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mohs.bounds.finding import ShareFinding
from mohs.bounds.intervals import (
    Sequential,
    clopper_pearson,
    each,
    hoeffding_interval,
    hoeffding_size,
    needed_clopper_pearson,
)
from mohs.bounds.points import Points, Whole, chunks, texts_at
from mohs.bounds.sampling import draw
from mohs.errors import BadInput
from mohs.space import omega

METHODS = ("clopper-pearson", "hoeffding", "sequential")
_TEXTS_AT_ONCE = 4096
_TEXTS_BETWEEN_LOOKS = 100  # at a sequential interval
_BYTES_A_NUMBER = 8  # odds for each word and number of changes left; a change drawn is two numbers of half that size
_MOST_DRAWS = 5_000_000  # all draws of an example are in memory at once


@dataclass(frozen=True)
class Share:
    """How to estimate a share: for each example the true share is in the interval with probability 1 - delta.

    r: substitutions, as a number or as a share of the words that may change ("25%": rounded down, at least one).
    n: texts to draw; by default what the method needs for epsilon and delta. `sequential` stops as soon as its interval
    is narrow enough. If the space has no more texts than would be drawn, all of them are counted instead.
    """

    r: str = "25%"
    epsilon: float = 0.025
    delta: float = 0.005
    method: str = "clopper-pearson"
    n: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "r", str(self.r))  # a number is accepted too
        if self.method not in METHODS:
            raise BadInput(f"Unknown method {self.method!r}; use {', '.join(METHODS)}.")
        for name, value in (("epsilon", self.epsilon), ("delta", self.delta)):
            if not 0 < value < 1:
                raise BadInput(f"{name} is {value}; it must lie between 0 and 1.")
        self.radius(100)

    def radius(self, words: int) -> int:
        """The number of substitutions in a text with this many words."""
        number = self.r.removesuffix("%")
        try:
            value = float(number) / 100 if self.r.endswith("%") else int(number)
        except ValueError:
            raise BadInput(f"The radius {self.r!r} is neither a whole number nor a share such as 25%.") from None
        if value < 0 or not math.isfinite(value):
            raise BadInput(f"The radius is {self.r!r}; it must not be negative.")
        return max(1, math.floor(value * words + 1e-9)) if self.r.endswith("%") else int(value)

    @property
    def draws(self) -> int:
        """How many texts are drawn; with `sequential`, at most."""
        if self.n is not None:
            return self.n
        if self.method == "hoeffding":
            return hoeffding_size(self.epsilon, self.delta)
        return needed_clopper_pearson(self.epsilon, self.delta / (2 if self.method == "sequential" else 1))

    def memory(self, choices: int, words: int) -> int:
        """About how many bytes the draws of one example take, if this many of its words have choices."""
        r = min(self.radius(words), choices)
        return _BYTES_A_NUMBER * (r + 1) * (choices + self.draws)

    async def __call__(self, points: Points, label: int, words: int, seed: str) -> ShareFinding:
        """Measure the share for one example."""
        choices = points.space.choices
        r = min(self.radius(words), len(choices))
        size = omega.size(choices, r)
        told = size if size < 2**53 else float(size) if size < 10**300 else math.inf
        if size <= self.draws:
            hits = 0
            for j in range(r + 1):
                for chunk in filter(None, chunks(points.sizes, texts_at(range(len(choices)), j))):
                    hits += await _held(points, chunk.places, chunk.picks, label)
            share = hits / size
            return ShareFinding(r, told, size, hits, share, share, share, "counted")
        random = np.random.default_rng(list(hashlib.sha256(seed.encode("utf-8", "surrogatepass")).digest()))
        drawn = draw(points.sizes, r, self.draws, random)  # the original may be among them
        if self.method == "sequential":
            sequence = await self._sequential(points, *drawn, label)
            hits, n, (low, high) = sequence.hits, sequence.n, sequence.interval
            return ShareFinding(r, told, n, hits, hits / n, low, high, self.method)
        hits = await _held(points, *drawn, label)
        low, high = (hoeffding_interval if self.method == "hoeffding" else clopper_pearson)(
            hits, self.draws, self.delta
        )
        return ShareFinding(r, told, self.draws, hits, hits / self.draws, low, high, self.method)

    async def _sequential(self, points: Points, places: Whole, picks: Whole, label: int) -> Sequential:
        """Ask in batches until the interval is narrow enough."""
        sequence = Sequential(self.delta, self.draws)
        while (room := sequence.before_last) and sequence.interval.half_width > self.epsilon:
            some = slice(sequence.n, sequence.n + min(_TEXTS_BETWEEN_LOOKS, room))
            hits = await _held(points, places[some], picks[some], label)
            sequence.add(hits, len(places[some]))
        return sequence


@dataclass(frozen=True)
class Shares:
    """Several shares of one example, one for each radius."""

    radii: tuple[Share, ...]

    def memory(self, choices: int, words: int) -> int:
        """About how many bytes the draws of one example take: one share is measured after the other."""
        return max(share.memory(choices, words) for share in self.radii)

    async def __call__(self, points: Points, label: int, words: int, seed: str) -> tuple[ShareFinding, ...]:
        """Measure each share for one example, in the order of the radii."""
        return tuple([await share(points, label, words, seed) for share in self.radii])


def checked(asked: Share | str | int | Sequence[Share | str | int] | None) -> tuple[Share, ...]:
    """The shares, given as objects or radii. They must differ in r only, and not need too many draws."""
    one = isinstance(asked, Share | str | int)
    several: Any = () if asked is None else (asked,) if one else asked
    shares = tuple(share if isinstance(share, Share) else Share(str(share)) for share in several)
    for share in shares:
        if replace(share, r=shares[0].r) != shares[0]:
            raise BadInput(f"{share} and {shares[0]} differ in more than r; start a separate run for each.")
        if [other.r for other in shares].count(share.r) > 1:
            raise BadInput(f"The radius {share.r} is given twice; give it once.")
        if share.radius(1) < 1 or (share.r.endswith("%") and not 0 < float(share.r[:-1]) <= 100):
            raise BadInput(f"The radius is {share.r}; it must be at least 1, or a share above 0% and up to 100%.")
        drawable(share)
    return shares


def together(shares: Sequence[Share], examples: int) -> tuple[Share, ...]:
    """The same shares, with delta divided by the number of all intervals of all examples (see `each`)."""
    found = tuple(replace(share, delta=each(share.delta, examples * len(shares))) for share in shares)
    for share in found:
        drawable(share)
    return found


def drawable(share: Share) -> None:
    """Refuse a share that needs too many draws."""
    if share.draws > _MOST_DRAWS:
        raise BadInput(
            f"epsilon {share.epsilon:g} and delta {share.delta:g} need {share.draws:,} texts per example, more than "
            f"{_MOST_DRAWS:,}; use a larger epsilon, or set the number of draws."
        )


async def _held(points: Points, places: Whole, picks: Whole, label: int) -> int:
    """How many texts keep the label; a margin that decides nothing keeps none, as in a proof."""
    hits = 0
    for start in range(0, len(places), _TEXTS_AT_ONCE):
        some = slice(start, start + _TEXTS_AT_ONCE)
        hits += int((await points.margins(places[some], picks[some], label) > points.tolerance).sum())
    return hits
