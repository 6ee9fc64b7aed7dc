from __future__ import annotations

from collections import Counter
from itertools import product
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from mohs.space import Space
from mohs.space.omega import Sampler, levels, points, size
from mohs.text import Text


def brute(choices: dict[int, list[str]], r: int) -> list[dict[int, str]]:
    """Every assignment of a word or nothing to every position, cut to r changes."""
    everything = product(*([None, *words] for words in choices.values()))
    found = [{p: w for p, w in zip(choices, point, strict=True) if w is not None} for point in everything]
    return [edits for edits in found if len(edits) <= r]


@st.composite
def spaces(draw: st.DrawFn) -> tuple[dict[int, list[str]], int]:
    """Positions without choices, with one, several; r from 0 to beyond the number of positions."""
    counts = draw(st.lists(st.integers(0, 4), max_size=6))
    gaps = draw(st.lists(st.integers(1, 3), min_size=len(counts), max_size=len(counts)))
    choices, place = {}, -1
    for count, gap in zip(counts, gaps, strict=True):
        place += gap
        choices[place] = [f"w{i}" for i in range(count)]
    return choices, draw(st.integers(0, len(counts) + 2))


@settings(max_examples=400)
@given(spaces())
def test_size_and_points_equal_brute_force(drawn: tuple[dict[int, list[str]], int]) -> None:
    choices, r = drawn
    expected = brute(choices, r)
    assert size(choices, r) == len(expected)
    found = list(points(choices, r))
    assert len(found) == len(expected)
    assert {frozenset(edits.items()) for edits in found} == {frozenset(edits.items()) for edits in expected}
    assert [len(edits) for edits in found] == sorted(len(edits) for edits in found)
    counted = Counter(len(edits) for edits in expected)
    assert levels(choices, r) == [counted[j] for j in range(r + 1)]


@given(spaces())
def test_without_r_the_whole_space(drawn: tuple[dict[int, list[str]], int]) -> None:
    choices, _ = drawn
    assert size(choices) == size(choices, len(choices)) == size(choices, 99) == len(brute(choices, 99))


@settings(max_examples=200)
@given(spaces(), st.integers(0, 10**6))
def test_samples_lie_in_the_space(drawn: tuple[dict[int, list[str]], int], seed: int) -> None:
    choices, r = drawn
    sampler = Sampler(choices, r)
    assert sampler.size == size(choices, r)
    edits = sampler(Random(seed))
    assert edits in brute(choices, r)
    assert edits == Sampler(choices, r)(Random(seed))


SAMPLED = [
    ({0: 1, 1: 1, 2: 1}, 3),
    ({0: 3, 1: 1, 2: 2}, 2),
    ({0: 2, 1: 0, 2: 2, 5: 4}, 3),
    ({0: 2, 1: 2, 2: 2, 3: 2}, 2),
    ({4: 5}, 1),
    ({0: 1, 1: 4, 2: 4, 3: 1}, 1),
    ({0: 3, 1: 3}, 9),
]


@pytest.mark.parametrize(("counts", "r"), SAMPLED)
def test_sampling_is_uniform(counts: dict[int, int], r: int) -> None:
    choices = {place: [f"w{i}" for i in range(count)] for place, count in counts.items()}
    everything = [frozenset(edits.items()) for edits in points(choices, r)]
    sampler, random = Sampler(choices, r), Random(7)
    drawn = Counter(frozenset(sampler(random).items()) for _ in range(200 * len(everything)))
    assert set(drawn) <= set(everything)
    assert chisquare([drawn[point] for point in everything]).pvalue > 1e-3


@pytest.mark.parametrize(("counts", "r"), SAMPLED)
def test_sampling_is_uniform_in_each_stratum(counts: dict[int, int], r: int) -> None:
    choices = {place: [f"w{i}" for i in range(count)] for place, count in counts.items()}
    sampler, random = Sampler(choices, r), Random(11)
    for j, expected in enumerate(levels(choices, min(r, len(counts)))):
        stratum = [frozenset(edits.items()) for edits in points(choices, j) if len(edits) == j]
        assert len(stratum) == expected
        if len(stratum) > 1:
            drawn = Counter(frozenset(sampler.at_level(j, random).items()) for _ in range(200 * len(stratum)))
            assert set(drawn) <= set(stratum)
            assert chisquare([drawn[point] for point in stratum]).pvalue > 1e-3


def test_a_wrong_sampler_would_be_seen() -> None:
    """The released code of paper 001 draws each position by itself; the test above tells it from uniform."""
    choices = {place: ["a", "b"] for place in range(3)}
    everything = [frozenset(edits.items()) for edits in points(choices, 3)]
    random = Random(3)
    drawn = Counter(
        frozenset((p, random.choice(words)) for p, words in choices.items() if random.random() < 0.5)
        for _ in range(200 * len(everything))
    )
    assert chisquare([drawn[point] for point in everything]).pvalue < 1e-3


def test_a_long_text_is_counted_at_once() -> None:
    choices = {place: ["w"] * 50 for place in range(2000)}
    assert size(choices) == 51**2000
    assert size(choices, 1) == 1 + 2000 * 50
    assert size(choices, 2) == 1 + 2000 * 50 + 2000 * 1999 // 2 * 2500
    assert size(choices, 500).bit_length() > 4000


def test_the_order_of_positions_can_be_chosen() -> None:
    choices = {0: ["a"], 1: ["b"], 2: ["c"]}
    assert [list(edits) for edits in points(choices, 1, order=[2, 0, 1])] == [[], [2], [0], [1]]


def test_enumeration_is_lazy() -> None:
    choices = {place: ["w"] * 50 for place in range(2000)}
    stream = points(choices, 2000)
    assert [next(stream) for _ in range(3)] == [{}, {0: "w"}, {0: "w"}]


def test_a_space_gives_texts() -> None:
    space = Space(Text("a good, good film"), {1: ("fine", "nice"), 2: ("fine",)})
    assert space.size() == 6
    assert [str(text) for text in space.points(1)] == [
        "a good, good film",
        "a fine, good film",
        "a nice, good film",
        "a good, fine film",
    ]
    assert space.sample(2, Random(0)) in space
    assert all(text in space for text in space.points(2))
