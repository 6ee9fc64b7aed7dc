"""The geometry of a space: Ω_r holds the texts that differ from the original in at most r positions.

With c_p alternatives at position p (not counting the original word), Ω_r has sum over j <= r of e_j(c) points, where
e_j are the elementary symmetric polynomials. Positions with the same number of alternatives form a group. A group of n
positions with c alternatives contributes the factor (1 + c t)^n, whose coefficients are C(n, k) c^k. All numbers are
exact integers.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, combinations, product
from math import comb, prod
from random import Random

Edits = dict[int, str]  # position -> new word
Choices = Mapping[int, Sequence[str]]


def size(choices: Choices, r: int | None = None) -> int:
    """The number of points in Ω_r, including the original; without r, in the whole space."""
    if r is None or r >= len(choices):
        return prod(1 + len(words) for words in choices.values())
    return sum(levels(choices, r))


def levels(choices: Choices, r: int) -> list[int]:
    """The numbers of points with exactly 0, 1, ..., r changes."""
    return _suffixes(_groups(choices), min(max(r, 0), len(choices)))[0] + [0] * (r - len(choices))


def points(choices: Choices, r: int, order: Sequence[int] | None = None) -> Iterator[Edits]:
    """Iterate over Ω_r lazily: fewest changes first, then positions and words in the given order."""
    for j in range(min(max(r, 0), len(choices)) + 1):
        yield from points_at(choices, j, order)


def points_at(choices: Choices, r: int, order: Sequence[int] | None = None) -> Iterator[Edits]:
    """Iterate over the points with exactly r changes, in the same order."""
    for chosen in combinations(list(choices) if order is None else list(order), r):
        for words in product(*(choices[place] for place in chosen)):
            yield dict(zip(chosen, words, strict=True))


class Sampler:
    """Draws points of Ω_r, exactly uniformly."""

    def __init__(self, choices: Choices, r: int) -> None:
        self._choices = choices
        self._groups = _groups(choices)
        self.r = min(max(r, 0), len(choices))
        self._suffixes = _suffixes(self._groups, self.r)
        self._sums = list(accumulate(self._suffixes[0]))

    @property
    def size(self) -> int:
        """The number of points to draw from."""
        return self._sums[-1]

    def __call__(self, random: Random) -> Edits:
        """Draw one point: first its number of changes, then how many per group, which positions, and which words."""
        return self.at_level(bisect_right(self._sums, random.randrange(self.size)), random)

    def at_level(self, changes: int, random: Random) -> Edits:
        """Draw one point with exactly that many changes."""
        edits: Edits = {}
        left = changes
        for (count, places), after in zip(self._groups, self._suffixes[1:], strict=True):
            if not left:
                break
            ticket = random.randrange(_total(count, len(places), after, left))
            for k in range(min(len(places), left) + 1):
                ticket -= _term(count, len(places), after, left, k)
                if ticket < 0:
                    break
            for place in random.sample(places, k):
                edits[place] = self._choices[place][random.randrange(count)]
            left -= k
        return dict(sorted(edits.items()))


def _groups(choices: Choices) -> list[tuple[int, list[int]]]:
    """Group positions by their number of alternatives; positions without any are left out."""
    found: dict[int, list[int]] = {}
    for place, words in choices.items():
        if words:
            found.setdefault(len(words), []).append(place)
    return sorted(found.items())


def _suffixes(groups: Sequence[tuple[int, list[int]]], r: int) -> list[list[int]]:
    """Entry d holds the coefficients, up to t^r, of the product of the factors from group d on."""
    found = [[1] + [0] * r]
    for count, places in reversed(groups):
        factor = [comb(len(places), k) * count**k for k in range(min(len(places), r) + 1)]
        after = found[-1]
        found.append([sum(factor[k] * after[j - k] for k in range(min(len(factor) - 1, j) + 1)) for j in range(r + 1)])
    return found[::-1]


def _term(count: int, n: int, after: Sequence[int], left: int, k: int) -> int:
    term: int = comb(n, k) * count**k * after[left - k]
    return term


def _total(count: int, n: int, after: Sequence[int], left: int) -> int:
    return sum(_term(count, n, after, left, k) for k in range(min(n, left) + 1))
