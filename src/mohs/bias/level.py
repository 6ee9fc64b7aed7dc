"""Statistics of the differences at one distance from a sentence; their size does not depend on the number of texts."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from random import Random

UNIT = 10**9  # probabilities are whole billionths, so that sums are exact in any order
BINS = 50  # each 0.02 wide
EXAMPLES_KEPT = 5  # per level


@dataclass(frozen=True)
class Shown:
    """One text with the first word and with the second, and the label's probability for each."""

    text: tuple[str, ...]
    patched: tuple[str, ...]
    before: float
    after: float


@dataclass(frozen=True)
class LevelFinding:
    """The differences at one distance, as a record stores them."""

    k: int
    n: int
    sum: float
    squares: float
    exact: bool  # all neighbours, not a sample
    bins: dict[int, int]
    examples: tuple[Shown, ...] = ()


@dataclass
class Level:
    """Running statistics of the differences, and a few texts drawn at random."""

    k: int
    exact: bool = True  # all neighbours, not a sample
    n: int = 0
    total: int = 0
    squares: int = 0
    bins: Counter[int] = field(default_factory=Counter)
    examples: list[Shown] = field(default_factory=list)

    def add(self, text: tuple[str, ...], patched: tuple[str, ...], before: int, after: int, random: Random) -> None:
        """Add a text with the first word and with the second, and the label's probability for each (in billionths)."""
        gap = after - before
        self.n += 1
        self.total += gap
        self.squares += gap * gap
        self.bins[bin_of(gap / UNIT)] += 1
        place = self.n - 1 if self.n <= EXAMPLES_KEPT else random.randrange(self.n)  # reservoir sampling
        if place < EXAMPLES_KEPT:
            shown = Shown(text, patched, before / UNIT, after / UNIT)
            self.examples[place : place + 1] = [shown]

    def finding(self) -> LevelFinding:
        """The form in a record."""
        return LevelFinding(
            k=self.k,
            n=self.n,
            sum=self.total / UNIT,
            squares=self.squares / UNIT**2,
            exact=self.exact,
            bins=dict(sorted(self.bins.items())),
            examples=tuple(self.examples),
        )


def bin_of(gap: float) -> int:
    """The bin of a difference: bin i goes from i/50 to below (i + 1)/50, and 1 is in the last.

    The difference is rounded to six decimals, so that noise from batching counts as 0.
    """
    return min(math.floor(round(gap * 10**6) * BINS / 10**6), BINS - 1)
