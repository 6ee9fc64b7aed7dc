from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mohs.bias.finding import BiasFinding, PairFinding
from mohs.bias.level import LevelFinding, bin_of
from mohs.bias.statistics import PairBias, holm, interval, pair_biases, sign_flip
from mohs.records import Outcome, Record

Gaps = Sequence[float]


def level(k: int, gaps: Gaps, exact: bool = True) -> LevelFinding:
    bins: dict[int, int] = {}
    for gap in gaps:
        bins[bin_of(gap)] = bins.get(bin_of(gap), 0) + 1
    squares = sum(gap * gap for gap in gaps)
    return LevelFinding(k=k, n=len(gaps), sum=sum(gaps), squares=squares, exact=exact, bins=bins)


def record(number: int, outcome: Outcome = Outcome.MEASURED, exact: bool = True, **pairs: Sequence[Gaps]) -> Record:
    """`he_she=[[0.1], [0.2, 0.3]]`: the differences at k = 0, 1, ..."""
    found = [
        PairFinding(old, new, 0, levels=tuple(level(k, gaps, exact) for k, gaps in enumerate(all)))
        for (old, new), all in ((name.split("_"), all) for name, all in pairs.items())
    ]
    return Record("bias:toy", str(number), outcome, 0, ("text",), ("",), 0, 0, finding=BiasFinding(tuple(found)))


def one(found: list[PairBias], old: str, k: int) -> PairBias:
    (answer,) = [row for row in found if (row.old, row.k) == (old, k)]
    return answer


def test_the_bias_is_the_mean_over_all_neighbours() -> None:
    records = [record(0, he_she=[[0.1], [0.2, 0.3, 0.4]]), record(1, he_she=[[-0.3], [-0.5]])]
    found = pair_biases(records)
    assert [(row.old, row.new, row.k) for row in found] == [("he", "she", 0), ("he", "she", 1)]
    near, far = found
    assert (near.sentences, near.neighbours, far.sentences, far.neighbours) == (2, 2, 2, 4)
    assert near.bias == pytest.approx(-0.1)
    assert far.bias == pytest.approx(0.1)  # not the mean of the sentences' means
    assert far.bins == {-25: 1, 10: 1, 15: 1, 20: 1}


def test_the_filter_is_decided_by_pair_at_k_0_and_holds_for_all_levels() -> None:
    records = [
        record(0, he_she=[[0.004], [0.5]], his_her=[[0.2], [0.25]]),
        record(1, he_she=[[-0.005], [0.1]], his_her=[[-0.0049], [-0.25]]),
        record(2, he_she=[[0.3], [0.001]]),
    ]
    found = pair_biases(records, epsilon=0.005)
    assert {(row.old, row.k): row.bias for row in found} == {
        ("he", 0): 0.004,
        ("he", 1): 0.5,
        ("his", 0): -0.0049,
        ("his", 1): -0.25,
    }


def test_pairs_with_most_sentences_come_first_then_by_name() -> None:
    records = [record(0, a_b=[[0.1]], c_d=[[0.1], [0.1]]), record(1, c_d=[[0.1], [0.1]]), record(2, B_b=[[0.1]])]
    assert [(row.old, row.k) for row in pair_biases(records)] == [("c", 0), ("c", 1), ("B", 0), ("a", 0)]


def test_empty_levels_and_other_records_do_not_count() -> None:
    records = [
        record(0, he_she=[[0.1], []]),
        record(1, he_she=[[0.3], [0.5]]),
        record(2, Outcome.ERROR, he_she=[[0.9]]),
        record(3, Outcome.SKIPPED),
        record(4, Outcome.EXHAUSTED, he_she=[[0.5]]),
    ]
    found = pair_biases(records)
    assert one(found, "he", 0).bias == pytest.approx(0.3)
    assert one(found, "he", 0).sentences == 3
    assert one(found, "he", 1).sentences == 1
    assert pair_biases([]) == []


def test_one_sampled_sentence_makes_a_sample() -> None:
    whole, part = record(0, he_she=[[0.1]]), record(1, exact=False, he_she=[[0.1]])
    assert one(pair_biases([whole]), "he", 0).exact
    assert not one(pair_biases([whole, part]), "he", 0).exact


def test_a_single_sentence_has_no_interval_and_no_significance() -> None:
    (row,) = pair_biases([record(0, he_she=[[0.4]])])
    assert math.isnan(row.low)
    assert math.isnan(row.high)
    assert (row.p, row.holm) == (1.0, 1.0)


def test_neither_the_order_of_records_nor_other_pairs_move_a_figure() -> None:
    random = np.random.default_rng(0)
    records = [record(i, he_she=[[g], [g, g / 2]]) for i, g in enumerate(random.normal(0.05, 0.1, 20).tolist())]
    forward, backward = pair_biases(records), pair_biases(records[::-1])
    assert forward == backward
    more = pair_biases([*records, record(99, man_woman=[[0.2], [0.1]])])
    assert [(r.low, r.high, r.p) for r in forward] == [(r.low, r.high, r.p) for r in more if r.old == "he"]
    assert pair_biases(records, seed=1) != forward


def test_the_interval_of_two_sentences_spans_their_means() -> None:
    (row,) = pair_biases([record(0, he_she=[[0.2]]), record(1, he_she=[[0.3, 0.5]])])
    assert row.low == pytest.approx(0.2)
    assert row.high == pytest.approx(0.4)


def test_intervals_over_sentences_cover_the_truth_and_those_over_neighbours_do_not() -> None:
    """40 sentences of 10 to 80 neighbours; sentences differ by 0.1, neighbours of one by 0.05; the truth is 0.03.

    Of 300 simulated studies 95% should cover it; with 300, and the percentile interval a little short, 90% to 98% pass.
    """
    random = np.random.default_rng(5)
    truth, studies = 0.03, 300
    covered = naive = 0
    for _ in range(studies):
        sizes = random.integers(10, 81, 40)
        gaps = [random.normal(random.normal(truth, 0.1), 0.05, size) for size in sizes]
        low, high = interval(np.array([g.sum() for g in gaps]), sizes.astype(float), 400, random)
        covered += low <= truth <= high
        everything = np.concatenate(gaps)
        naive += abs(everything.mean() - truth) <= 1.96 * everything.std() / math.sqrt(len(everything))
    assert 0.90 <= covered / studies <= 0.98, covered
    assert naive / studies < 0.6, naive


@given(st.lists(st.integers(-8, 8), min_size=1, max_size=7))
def test_the_sign_flip_test_by_brute_force(totals: list[int]) -> None:
    patterns = list(product((1, -1), repeat=len(totals)))
    far = [p for p in patterns if abs(sum(a * b for a, b in zip(p, totals, strict=True))) >= abs(sum(totals))]
    scaled = np.array(totals) / 10  # tenths do not add up exactly
    assert sign_flip(scaled, np.random.default_rng(0)) == len(far) / len(patterns)


@pytest.mark.parametrize("m", range(1, 13))
def test_the_smallest_p_of_so_many_sentences(m: int) -> None:
    assert sign_flip(np.arange(1.0, m + 1), np.random.default_rng(0)) == 2 / 2**m


def test_many_sentences_are_tested_by_drawing() -> None:
    random = np.random.default_rng(0)
    assert sign_flip(np.full(40, 0.1), random) == 1 / 10_001
    assert sign_flip(np.zeros(40), random) == 1.0
    totals = np.arange(1.0, 14)  # 13: drawn, and few enough to know the truth
    signs = 1 - 2 * (np.arange(1 << 13)[:, None] >> np.arange(13) & 1)
    totals[9:] *= -1
    truth = np.mean(np.abs(signs @ totals) >= abs(totals.sum()))
    assert sign_flip(totals, random) == pytest.approx(truth, abs=0.02)  # four standard deviations


@pytest.mark.parametrize("m", [10, 30])
def test_p_is_uniform_where_there_is_nothing(m: int) -> None:
    """300 studies without a bias: the share with p <= level is the level, give or take three standard deviations."""
    random = np.random.default_rng(3)
    values = [sign_flip(random.normal(0, 1, m) * random.integers(1, 50, m), random) for _ in range(300)]
    for chance in (0.05, 0.2, 0.5, 0.8):
        slack = 3 * math.sqrt(chance * (1 - chance) / 300)
        assert abs(np.mean([value <= chance for value in values]) - chance) <= slack, chance


@given(st.lists(st.integers(0, 20), max_size=6), st.integers(1, 40))
def test_holm_by_its_definition(twentieths: list[int], step: int) -> None:
    """At a level, hypotheses go in the order of p until one is not below level / (number left); adjusted p <= level."""
    values = [number / 20 for number in twentieths]
    level = step / 40 - 1 / 97  # never a tie
    rejected: set[int] = set()
    for rank, place in enumerate(sorted(range(len(values)), key=values.__getitem__)):
        if values[place] * (len(values) - rank) > level:
            break
        rejected.add(place)
    adjusted = holm(values)
    assert {place for place, value in enumerate(adjusted) if value <= level} == rejected
    assert all(value <= adjusted[place] <= 1 for place, value in enumerate(values))


def test_holm_is_over_the_pairs_of_one_distance() -> None:
    records = [record(i, he_she=[[0.1], [0.1]], man_woman=[[0.1]]) for i in range(6)]
    found = pair_biases(records)
    assert all(row.p == 2 / 64 for row in found)
    assert {(row.old, row.k): row.holm for row in found} == {("he", 0): 4 / 64, ("man", 0): 4 / 64, ("he", 1): 2 / 64}
