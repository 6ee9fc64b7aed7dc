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
from mohs.bounds.sampling import Draws, draw, independent
from mohs.errors import BadInput
from mohs.space import omega

METHODS = ("clopper-pearson", "hoeffding", "sequential")
DRAWS = ("uniform", "independent")
_TEXTS_AT_ONCE = 4096
_TEXTS_BETWEEN_LOOKS = 10  # at a sequential interval
_BYTES_A_NUMBER = 8  # odds for each word and number of changes left; a change drawn is two numbers of half that size
_MOST_DRAWS = 5_000_000  # all draws of an example are in memory at once
_MOST_ROUNDS = 200  # of draws, until enough different combinations give different texts


@dataclass(frozen=True)
class Share:
    """How to estimate a share: for each example the true share is in the interval with probability 1 - delta.

    r: substitutions, as a number or as a share of the words that may change ("25%": rounded down, at least one).
    n: texts to draw; by default what the method needs for epsilon and delta. `sequential` stops as soon as its interval
    is narrow enough. If the space has no more texts than would be drawn, all of them are counted instead.
    draw: uniform: every text of Omega_r is drawn with the same probability. independent: every word is drawn by itself,
    as in the authors' code (see `mohs.bounds.sampling.independent`). This is not uniform on Omega_r, the number of
    substitutions varies around r, and what is estimated is the probability that a text so drawn keeps the label.
    decide: a level; `sequential` then also stops as soon as its interval shows whether the share is above it.
    """

    r: str = "25%"
    epsilon: float = 0.025
    delta: float = 0.005
    method: str = "clopper-pearson"
    n: int | None = None
    draw: str = "uniform"
    decide: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "r", str(self.r))  # a number is accepted too
        if self.method not in METHODS:
            raise BadInput(f"Unknown method {self.method!r}; use {', '.join(METHODS)}.")
        for name, value in (("epsilon", self.epsilon), ("delta", self.delta)):
            if not 0 < value < 1:
                raise BadInput(f"{name} is {value}; it must lie between 0 and 1.")
        if self.draw not in DRAWS:
            raise BadInput(f"Texts cannot be drawn {self.draw!r}; use {' or '.join(DRAWS)}.")
        if self.decide is not None and not 0 < self.decide < 1:
            raise BadInput(f"The level to decide about is {self.decide}; it must lie between 0 and 1.")
        if self.decide is not None and self.method != "sequential":
            raise BadInput(f"The interval {self.method} cannot stop early to decide about a level; use sequential.")
        self.radius(100)

    @property
    def told_draw(self) -> str | None:
        """How texts are drawn, for records and manifests; None if uniformly, as it always was."""
        return None if self.draw == "uniform" else self.draw

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
        r = min(self.radius(words), choices) if self.draw == "uniform" else 4 * choices
        return _BYTES_A_NUMBER * (r + 1) * (choices + self.draws)

    async def __call__(self, points: Points, label: int, words: int, seed: str) -> ShareFinding:
        """Measure the share for one example."""
        choices = points.space.choices
        r = min(self.radius(words), len(choices))
        size = omega.size(choices, r if self.draw == "uniform" else None)
        if size <= self.draws and self.draw == "uniform":
            return await self._counted(points, label, r)
        random = np.random.default_rng(list(hashlib.sha256(seed.encode("utf-8", "surrogatepass")).digest()))
        places, picks, part = self._drawn(points, r, words, random)
        told = size if size < 2**53 else float(size) if size < 10**300 else math.inf
        if part < 1:
            told = told * part  # an estimate
        if self.method == "sequential":
            sequence = await self._sequential(points, places, picks, label)
            hits, n, (low, high) = sequence.hits, sequence.n, sequence.interval
        else:
            hits, n = await _held(points, places, picks, label), self.draws
            low, high = (hoeffding_interval if self.method == "hoeffding" else clopper_pearson)(hits, n, self.delta)
        return ShareFinding(r, told, n, hits, hits / n, low, high, self.method, self.told_draw)

    async def _counted(self, points: Points, label: int, r: int) -> ShareFinding:
        """Ask about every text of Omega_r."""
        hits = n = 0
        for j in range(r + 1):
            for chunk in filter(None, chunks(points.sizes, texts_at(range(len(points.places)), j))):
                first = points.distinct.first(chunk.places, chunk.picks)
                hits += await _held(points, chunk.places[first], chunk.picks[first], label)
                n += int(first.sum())
        return ShareFinding(r, n, n, hits, hits / n, hits / n, hits / n, "counted")

    def _drawn(self, points: Points, r: int, words: int, random: np.random.Generator) -> tuple[Whole, Whole, float]:
        """As many texts as are needed, and which part of all combinations of substitutions gives different texts.

        Combinations are drawn alike. If only the first combination of each text is kept, so are texts. The original may
        be among them.
        """
        if self.draw == "independent":
            chance = min(1.0, float(self.r[:-1]) / 100 if self.r.endswith("%") else r / max(1, words))
            return *independent(points.sizes, chance, self.draws, random), 1.0
        if points.distinct.plain:
            return *draw(points.sizes, r, self.draws, random), 1.0
        more, places, picks = Draws(points.sizes, r), [], []
        for rounds in range(1, _MOST_ROUNDS + 1):
            some, own = more(self.draws, random)
            first = points.distinct.first(some, own)
            places.append(some[first])
            picks.append(own[first])
            if (kept := sum(map(len, places))) >= self.draws:
                part = kept / (rounds * self.draws)
                return np.concatenate(places)[: self.draws], np.concatenate(picks)[: self.draws], part
        raise BadInput(
            f"Hardly any of {rounds * self.draws:,} combinations of substitutions give different texts, so the share "
            "cannot be estimated; use a source of single words."
        )

    async def _sequential(self, points: Points, places: Whole, picks: Whole, label: int) -> Sequential:
        """Ask in batches until the interval is narrow enough, or shows what was to be decided."""
        sequence = Sequential(self.delta, self.draws)
        while (room := sequence.before_last) and not self._enough(sequence):
            some = slice(sequence.n, sequence.n + min(_TEXTS_BETWEEN_LOOKS, room))
            hits = await _held(points, places[some], picks[some], label)
            sequence.add(hits, len(places[some]))
        return sequence

    def _enough(self, sequence: Sequential) -> bool:
        decided = self.decide is not None and sequence.decided(self.decide) is not None
        return decided or sequence.interval.half_width <= self.epsilon


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
