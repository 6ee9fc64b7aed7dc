from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product
from random import Random
from typing import cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2_contingency, chisquare

from mohs.bounds import sampling
from mohs.bounds.sampling import Draws, Whole, draw
from mohs.errors import BadInput
from mohs.space import omega

Point = tuple[tuple[int, int], ...]  # (position, word), in order


def brute(sizes: list[int], r: int, original: bool = True) -> list[Point]:
    """Every choice of a word or nothing (-1) at every position, cut to r changes."""
    everything = product(*(range(-1, count) for count in sizes))
    found = [tuple((place, word) for place, word in enumerate(words) if word >= 0) for words in everything]
    return [point for point in found if len(point) <= r and (point or original)]


def points(drawn: tuple[Whole, Whole]) -> list[Point]:
    return [
        tuple((place, word) for place, word in zip(row, chosen, strict=True) if place >= 0)
        for row, chosen in zip(drawn[0].tolist(), drawn[1].tolist(), strict=True)
    ]


def choices(sizes: list[int]) -> dict[int, list[str]]:
    return {place: [f"w{word}" for word in range(count)] for place, count in enumerate(sizes)}


sizes_of = st.lists(st.integers(0, 4), max_size=6)


@settings(max_examples=200)
@given(sizes_of, st.integers(0, 8), st.integers(0, 40), st.booleans(), st.integers(0, 2**32))
def test_draws_are_points_of_the_space(sizes: list[int], r: int, n: int, original: bool, seed: int) -> None:
    everything = brute(sizes, r, original)
    if not everything:
        with pytest.raises(BadInput, match="Nothing can change with r ="):
            Draws(sizes, r, original=original)
        return
    assert Draws(sizes, r, original=original).size == len(everything)
    positions, words = draw(sizes, r, n, np.random.default_rng(seed), original=original)
    assert positions.shape == words.shape == (n, r)
    assert ((positions == -1) == (words == -1)).all()
    # Changes stand to the left, in the order of their positions.
    assert (np.diff(np.where(positions < 0, 99, positions), axis=1) >= 0).all()
    assert set(points((positions, words))) <= set(everything)
    again = draw(sizes, r, n, np.random.default_rng(seed), original=original)
    assert (again[0] == positions).all()
    assert (again[1] == words).all()


@settings(max_examples=200)
@given(sizes_of, st.integers(0, 8), st.booleans())
def test_the_chances_along_every_walk_multiply_to_the_same(sizes: list[int], r: int, original: bool) -> None:
    """Exactly, in fractions: what the comparison of bits is given to decide is uniform."""
    everything = brute(sizes, r, original)
    if not everything:
        return
    draws = Draws(sizes, r, original=original)
    steps = {place: draws._odds_at(step) for step, place in enumerate(draws._places)}
    for point in everything:
        chance, left = Fraction(1), min(r, len(steps))
        for place, odds in steps.items():
            change = Fraction(*odds[left])
            word = dict(point).get(place)
            chance *= 1 - change if word is None else change / sizes[place]
            left -= word is not None
        assert chance == Fraction(1, len(everything))


@given(sizes_of, st.integers(0, 8), st.booleans())
def test_the_table_holds_the_first_bits_of_those_chances(sizes: list[int], r: int, original: bool) -> None:
    if not brute(sizes, r, original):
        return
    draws = Draws(sizes, r, original=original)
    for step in range(len(draws._places)):
        assert draws._limits[step].tolist() == [(a << 63) // b if b else 0 for a, b in draws._odds_at(step)]


class Scripted:
    """A generator that gives what it was told to."""

    def __init__(self, *values: int) -> None:
        self.values = list(values)

    def integers(self, high: int, size: int | None = None, dtype: type = np.int64) -> object:
        value = self.values.pop(0)
        assert 0 <= value < high
        return value if size is None else np.full(size, value, dtype)


def changed(sizes: list[int], *values: int) -> bool:
    """Whether the first position changes; a third of the points of two positions with one word and r = 1 do."""
    random = Scripted(*values)
    found = Draws(sizes, 1)._changes(0, np.array([1]), cast(np.random.Generator, random))
    assert not random.values
    return bool(found[0])


def test_bits_are_compared_until_they_differ() -> None:
    first, rest = divmod(1 << 63, 3)
    second, third = divmod(rest << 63, 3)
    assert (rest, third) != (0, 0)
    assert changed([1, 1], first - 1)
    assert not changed([1, 1], first + 1)
    assert changed([1, 1], first, second - 1)
    assert not changed([1, 1], first, second + 1)
    assert changed([1, 1], first, second, (third << 63) // 3 - 1)
    # A half has no bits beyond its first: a number that starts with them is not below it.
    assert changed([1], (1 << 62) - 1)
    assert not changed([1], 1 << 62)


SAMPLED = [
    ([1, 1, 1], 3),
    ([3, 1, 2], 2),
    ([2, 0, 2, 4], 3),
    ([2, 2, 2, 2], 2),
    ([5], 1),
    ([1], 4),
    ([0, 1, 4, 4, 1, 0], 1),
    ([3, 3], 9),
    ([7, 1, 1, 2], 2),
]


@pytest.mark.parametrize("bits", [63, 1, 2])  # with few, almost every comparison needs more of them
@pytest.mark.parametrize("original", [True, False])
@pytest.mark.parametrize(("sizes", "r"), SAMPLED)
def test_every_point_is_drawn_alike(
    sizes: list[int], r: int, original: bool, bits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sampling, "_BITS_PER_DRAW", bits)
    everything = brute(sizes, r, original)
    drawn = Counter(points(draw(sizes, r, 100 * len(everything), np.random.default_rng(7), original=original)))
    assert set(drawn) <= set(everything)
    if len(everything) > 1:
        assert chisquare([drawn[point] for point in everything]).pvalue > 1e-3
    assert all(drawn[point] for point in everything)
    for level in range(r + 1):
        stratum = [point for point in everything if len(point) == level]
        if len(stratum) > 1:
            assert chisquare([drawn[point] for point in stratum]).pvalue > 1e-3


def test_a_wrong_sampler_would_be_seen() -> None:
    """Levels drawn rightly, then positions alike whatever their number of words."""
    sizes, r, random = [7, 1, 1, 2], 2, Random(1)
    everything = brute(sizes, r)
    drawn: Counter[Point] = Counter()
    for level in random.choices(range(r + 1), omega.levels(choices(sizes), r), k=100 * len(everything)):
        places = sorted(random.sample(range(4), level))
        drawn[tuple((place, random.randrange(sizes[place])) for place in places)] += 1
    assert chisquare([drawn[point] for point in everything]).pvalue < 1e-3


@pytest.mark.parametrize("original", [True, False])
def test_levels_are_drawn_by_their_sizes(original: bool) -> None:
    sizes = [1 + place % 7 for place in range(25)]
    expected = omega.levels(choices(sizes), 5)
    if not original:
        expected[0] = 0
    positions, _ = draw(sizes, 5, 200_000, np.random.default_rng(5), original=original)
    drawn = np.bincount((positions >= 0).sum(axis=1), minlength=6)
    shares = np.array([float(Fraction(level, sum(expected))) for level in expected])
    assert drawn[:2].sum() <= 5  # of 200,000; too rare for the test below
    assert chisquare(drawn[2:], drawn[2:].sum() * shares[2:] / shares[2:].sum()).pvalue > 1e-3


LARGE = [
    ([1 + place % 3 for place in range(12)], 4),
    ([(0, 50, 1, 9)[place % 4] for place in range(300)], 60),  # numbers of hundreds of bits
]


@pytest.mark.parametrize(("sizes", "r"), LARGE)
def test_large_spaces_are_drawn_as_by_the_sampler_for_single_points(sizes: list[int], r: int) -> None:
    sampler, random = omega.Sampler(choices(sizes), r), Random(3)
    assert Draws(sizes, r).size == sampler.size
    one_by_one = [[(place, int(word[1:])) for place, word in sampler(random).items()] for _ in range(4000)]
    together = points(draw(sizes, r, 4000, np.random.default_rng(3)))
    for seen in (
        lambda point: len(point),  # the level
        lambda point: sum(place % 2 for place, _ in point),  # which positions, by their numbers of words
        lambda point: sum(place < len(sizes) // 2 for place, _ in point),  # and by where they stand
        lambda point: sum(word == 0 for _, word in point),
    ):
        counted = [Counter(map(seen, drawn)) for drawn in (one_by_one, together)]
        common = [value for value in counted[0] if counted[0][value] + counted[1][value] >= 20]
        assert len(common) > 1
        assert chi2_contingency([[counts[value] for value in common] for counts in counted]).pvalue > 1e-3


def test_positions_are_drawn_by_their_number_of_words() -> None:
    sizes = [30, *[1] * 30]
    positions, words = draw(sizes, 1, 60_000, np.random.default_rng(2), original=False)
    drawn = np.bincount(positions[:, 0], minlength=31)
    assert chisquare(drawn, [30_000, *[1000] * 30]).pvalue > 1e-3
    assert chisquare(np.bincount(words[positions[:, 0] == 0, 0], minlength=30)).pvalue > 1e-3


def test_a_space_beyond_64_bits_without_a_limit() -> None:
    """Each position is then by itself."""
    wide = Draws([40] * 200, 200)
    assert wide.size == 41**200
    changes = (wide(20_000, np.random.default_rng(2))[0] >= 0).sum()
    assert changes / (20_000 * 200) == pytest.approx(40 / 41, abs=5 * (40 / 41**2 / 4e6) ** 0.5)


def test_a_kept_sampler_goes_on_where_it_was() -> None:
    draws, random = Draws([3, 2, 4], 2), np.random.default_rng(0)
    first, second = draws(50, random), draws(50, random)
    assert (first[0] != second[0]).any()
    assert (draws(50, np.random.default_rng(0))[0] == first[0]).all()


def test_negative_numbers_are_refused() -> None:
    with pytest.raises(BadInput, match="r is -1"):
        Draws([1], -1)
    with pytest.raises(BadInput, match="r is 1 and the smallest size is -2; neither may be negative"):
        Draws([1, -2], 1)
