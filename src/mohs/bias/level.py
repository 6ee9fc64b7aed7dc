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
    size: float | None = None  # of a sample: the estimated number of neighbours ...
    total: float | None = None  # ... and the estimated sum over them; None in a sample without weights

    @property
    def weight(self) -> float:
        """The number of neighbours that the sentence counts for: exact, estimated, or of a sample without weights."""
        return float(self.n) if self.size is None else self.size

    @property
    def weighted(self) -> float:
        """The sum of the differences over that many neighbours."""
        return self.sum if self.total is None else self.total


@dataclass
class Steps:
    """Sums over the steps that led to a sample, from which the size of the level and its sum are estimated.

    A step weighs W / m: its start stands for W texts (Horvitz and Thompson 1952), and m parents lead to its text. m is
    known of some steps, drawn at random. For the rest 1 / k stands in, which is right if all orders of k changes lead
    to a text, and the known ones correct it (a difference estimator): on average over draws, size and sum are those of
    the whole level, whatever stands in.
    """

    made: int = 0
    checked: int = 0
    weights: float = 0.0  # sum of W
    gaps: float = 0.0  # sum of W F
    checked_weights: float = 0.0
    checked_gaps: float = 0.0
    shares: float = 0.0  # sum of W / m, of checked ones
    shared_gaps: float = 0.0  # sum of W F / m, of checked ones

    def add(self, gap: float, weight: float, parents: int | None) -> None:
        """Add a step to a text with this difference."""
        self.made += 1
        self.weights += weight
        self.gaps += weight * gap
        if parents is not None:
            self.checked += 1
            self.checked_weights += weight
            self.checked_gaps += weight * gap
            self.shares += weight / parents
            self.shared_gaps += weight * gap / parents

    def estimate(self, k: int, seen: int) -> tuple[float, float]:
        """The size of the level and the sum of its differences. seen: how many texts of the level were drawn.

        By chance the estimate may be one that cannot be: fewer texts than were seen, or a mean difference beyond 1.
        Then the checked steps alone give mean and size (a ratio estimator), and the size is at least what was seen.
        """
        each = self.made / self.checked if self.checked else 0.0
        size = (self.weights - each * self.checked_weights) / k + each * self.shares
        total = (self.gaps - each * self.checked_gaps) / k + each * self.shared_gaps
        if size >= seen and abs(total) <= size:
            return size, total
        if not self.checked:
            size, total = self.weights / k, self.gaps / k
        else:
            size = self.weights * self.shares / self.checked_weights
            total = size * self.shared_gaps / self.shares
        return (size, total) if size >= seen else (float(seen), total * seen / size)


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
    steps: Steps | None = None  # of a sample with weights

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
            size=None if self.steps is None else self.steps.estimate(self.k, self.n)[0],
            total=None if self.steps is None else self.steps.estimate(self.k, self.n)[1],
        )


def bin_of(gap: float) -> int:
    """The bin of a difference: bin i goes from i/50 to below (i + 1)/50, and 1 is in the last.

    The difference is rounded to six decimals, so that noise from batching counts as 0.
    """
    return min(math.floor(round(gap * 10**6) * BINS / 10**6), BINS - 1)
