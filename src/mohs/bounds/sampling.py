"""Uniform draws from Ω_r, many at once.

Let W_i(k) be the number of ways to change at most k of the positions from i on, with c_p words at position p:
W_i(k) = W_{i+1}(k) + c_i W_{i+1}(k-1). A draw walks over the positions. It has k changes left, at first k = r. It
changes position i with probability c_i W_{i+1}(k-1) / W_i(k), to each of its words with equal probability. Along any
walk these factors cancel to 1 / W_0(r). So all points of Ω_r, including X, are equally likely. To exclude X, 1 is
subtracted from W_i(r) while nothing has changed yet, that is, while k is still r.

There is no rounding. To make a change with probability a/b, a uniform real number in [0, 1) is drawn bit by bit and
compared with a/b. The first 63 bits decide, unless they equal the first 63 bits of a/b. In that case, which has
probability 2^-63, more bits are drawn and compared as whole numbers until they differ. So only a table of the first 63
bits is kept, however long a and b are, and all draws walk together. The only assumption is that the generator's bits
are uniform and independent.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from mohs.errors import BadInput

Whole = npt.NDArray[np.int32]

_BITS_PER_DRAW = 63  # one less than fits, so that probability 1, which is 2^63, can be written too


class Draws:
    """Draws points of Ω_r, many at once, each with exactly the same probability. Reuse it for several batches.

    sizes: how many words each position may change to, not counting the original.
    original: whether X itself may be drawn.
    """

    def __init__(self, sizes: Sequence[int], r: int, *, original: bool = True) -> None:
        if r < 0 or min(sizes, default=0) < 0:
            raise BadInput(f"r is {r} and the smallest size is {min(sizes, default=0)}; neither may be negative")
        self.r = r
        self._places = [place for place, count in enumerate(sizes) if count]
        self._sizes = [sizes[place] for place in self._places]
        self._most = min(r, len(self._places))
        self._original = original
        self.size = 1  # the number of points
        self._limits = np.zeros((len(self._sizes), self._most + 1), np.uint64)
        for row, (here, changed) in zip(self._limits[::-1], self._ways(), strict=True):
            self.size = here[-1]
            odds = map(self._odds, here, changed, range(len(here)))
            row[:] = [(a << _BITS_PER_DRAW) // b if b else 0 for a, b in odds]
        self.size -= not original
        if not self.size:
            raise BadInput(f"Nothing can change with r = {r} and {len(self._places)} positions that have choices.")

    def __call__(self, n: int, random: np.random.Generator) -> tuple[Whole, Whole]:
        """N draws: the changed positions, in order, and the number of the new word at each; n x r, padded with -1."""
        positions = np.full((n, self.r), -1, np.int32)
        words = np.full((n, self.r), -1, np.int32)
        left = np.full(n, self._most, np.intp)
        for step, (place, count) in enumerate(zip(self._places, self._sizes, strict=True)):
            rows = np.flatnonzero(self._changes(step, left, random))
            column = self._most - left[rows]
            positions[rows, column] = place
            words[rows, column] = random.integers(count, size=len(rows))  # unbiased: uses rejection
            left[rows] -= 1
        return positions, words

    def _changes(self, step: int, left: npt.NDArray[np.intp], random: np.random.Generator) -> npt.NDArray[np.bool_]:
        limits = self._limits[step].take(left)
        drawn = random.integers(1 << _BITS_PER_DRAW, size=len(left), dtype=np.uint64)
        changed: npt.NDArray[np.bool_] = drawn < limits
        tied = np.flatnonzero(drawn == limits)
        if len(tied):
            odds = self._odds_at(step)
            changed[tied] = [_below(odds[k], random) for k in left[tied].tolist()]
        return changed

    def _ways(self) -> Iterator[tuple[list[int], list[int]]]:
        """W_i(k) for k <= r, and how many of these ways change position i; from the last position to the first."""
        here = [1] * (self._most + 1)
        for count in reversed(self._sizes):
            changed = [0, *(count * ways for ways in here[:-1])]
            here = [without + ways for without, ways in zip(here, changed, strict=True)]
            yield here, changed

    def _odds(self, here: int, changed: int, k: int) -> tuple[int, int]:
        """The probability of a change as numerator and denominator."""
        return changed, here - (k == self._most and not self._original)

    def _odds_at(self, step: int) -> list[tuple[int, int]]:
        """The same for every k of one step. Recomputed, since it is rarely needed and the numbers are long."""
        for i, (here, changed) in enumerate(self._ways(), 1):
            if i == len(self._sizes) - step:
                return list(map(self._odds, here, changed, range(len(here))))
        raise AssertionError(f"there is no step {step}")


def draw(
    choices_sizes: Sequence[int], r: int, n: int, random: np.random.Generator, *, original: bool = True
) -> tuple[Whole, Whole]:
    """N uniform points of Ω_r: the changed positions, in order, and the number of the new word at each.

    Both are n x r, padded with -1. Positions and words are counted from 0; the original word is not counted.
    original: whether X itself, a row without changes, may be drawn.
    """
    return Draws(choices_sizes, r, original=original)(n, random)


def independent(
    choices_sizes: Sequence[int], chance: float, n: int, random: np.random.Generator
) -> tuple[Whole, Whole]:
    """N texts in which every position is drawn by itself: the changed positions, and the number of each new word.

    As in the authors' code: at each position one of its words is drawn, the original among them, with equal
    probability; then the original is put back with probability 1 - chance. So position p changes with probability
    chance * c_p / (c_p + 1). This is not uniform on any Omega_r: texts with few changes are far more likely than their
    number says, and the number of changes has no limit below the number of positions.

    Both results have a column for every position, padded with -1.
    """
    if not 0 <= chance <= 1 or min(choices_sizes, default=0) < 0:
        raise BadInput(f"The chance of a change is {chance}; it must lie between 0 and 1.")
    sizes = np.asarray(choices_sizes, np.int64)
    words = random.integers(sizes + 1, size=(n, len(sizes)))  # 0 is the original
    words[random.random((n, len(sizes))) >= chance] = 0
    order = np.argsort(words == 0, axis=1, kind="stable")  # changed positions first, in order
    picks = np.take_along_axis(words, order, axis=1) - 1
    return np.where(picks >= 0, order, -1).astype(np.int32), picks.astype(np.int32)


def _below(odds: tuple[int, int], random: np.random.Generator) -> bool:
    """Whether a random real number with the same first 63 bits as a/b lies below a/b."""
    a, b = odds
    rest = (a << _BITS_PER_DRAW) % b if b else 0
    while rest:
        limit, rest = divmod(rest << _BITS_PER_DRAW, b)
        drawn = int(random.integers(1 << _BITS_PER_DRAW, dtype=np.uint64))
        if drawn != limit:
            return drawn < limit
    return False
