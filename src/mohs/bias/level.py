"""What is kept of the differences at one distance from a sentence, however many texts there are."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from random import Random

UNIT = 10**9  # chances are whole billionths, so that sums are exact whatever the order
BINS = 50  # each 0.02 wide
EXAMPLES_KEPT = 5  # of each level


@dataclass(frozen=True)
class Shown:
    """One text with the first word and with the second, and the chance of the label for each."""

    text: tuple[str, ...]
    patched: tuple[str, ...]
    before: float
    after: float


@dataclass(frozen=True)
class LevelFinding:
    """The differences at one distance, as they are recorded."""

    k: int
    n: int
    sum: float
    squares: float
    exact: bool  # whether all neighbours are there
    bins: dict[int, int]
    examples: tuple[Shown, ...] = ()


@dataclass
class Level:
    """A running count of the differences, and a few of the texts drawn at random."""

    k: int
    exact: bool = True  # whether all neighbours are there
    n: int = 0
    total: int = 0
    squares: int = 0
    bins: Counter[int] = field(default_factory=Counter)
    examples: list[Shown] = field(default_factory=list)

    def add(self, text: tuple[str, ...], patched: tuple[str, ...], before: int, after: int, random: Random) -> None:
        """One more text with the first word and with the second, and the chance of the label for each (billionths)."""
        gap = after - before
        self.n += 1
        self.total += gap
        self.squares += gap * gap
        self.bins[bin_of(gap / UNIT)] += 1
        place = self.n - 1 if self.n <= EXAMPLES_KEPT else random.randrange(self.n)  # so that all are as likely to stay
        if place < EXAMPLES_KEPT:
            shown = Shown(text, patched, before / UNIT, after / UNIT)
            self.examples[place : place + 1] = [shown]

    def finding(self) -> LevelFinding:
        """As it is recorded."""
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
    """Which bin of width 0.02 a difference falls in: number i is from i/50 to below (i + 1)/50, and 1 is in the last.

    Decided on six decimals: a difference that is nothing but the shape of a batch is 0.
    """
    return min(math.floor(round(gap * 10**6) * BINS / 10**6), BINS - 1)
