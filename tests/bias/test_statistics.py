from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest

from mohs.bias.change import pair_changes
from mohs.bias.finding import BiasFinding, PairFinding
from mohs.bias.level import LevelFinding, bin_of
from mohs.bias.statistics import PairBias, pair_biases
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


def test_fewer_than_six_sentences_have_no_interval_and_fewer_than_eight_no_test() -> None:
    """Nor are they counted among the tests that Holm's correction is for."""
    records = [record(i, he_she=[[0.4 + i / 100]]) for i in range(8)]
    few, some, enough = (one(pair_biases(records[:m]), "he", 0) for m in (5, 7, 8))
    assert all(map(math.isnan, (few.low, few.high, few.p, few.holm)))
    assert few.bias == pytest.approx(0.42)
    assert 0.4 < some.low < 0.42 < 0.44 < some.high < 0.47
    assert math.isnan(some.p)
    assert enough.p == enough.holm == 2 / 256
    (others,) = {row.holm for row in pair_biases([*records, record(8, a_b=[[0.4]])]) if row.old == "he"}
    assert others == enough.holm


def test_the_filtered_set_is_not_tested_by_what_chose_it() -> None:
    records = [record(i, he_she=[[0.001 + i / 10**4], [0.1 + i / 100]]) for i in range(8)]
    near, far = pair_biases(records, epsilon=0.005)
    assert math.isnan(near.p)
    assert far.holm == far.p == 2 / 256


def test_neither_the_order_of_records_nor_other_pairs_move_a_figure() -> None:
    random = np.random.default_rng(0)
    records = [record(i, he_she=[[g], [g, g / 2]]) for i, g in enumerate(random.normal(0.05, 0.1, 20).tolist())]
    forward, backward = pair_biases(records), pair_biases(records[::-1])
    assert forward == backward
    more = pair_biases([*records, record(99, man_woman=[[0.2], [0.1]])])
    assert [(r.low, r.high, r.p) for r in forward] == [(r.low, r.high, r.p) for r in more if r.old == "he"]


def test_holm_is_over_all_pairs_and_distances() -> None:
    records = [record(i, he_she=[[0.1], [0.1]], man_woman=[[0.1]]) for i in range(8)]
    found = pair_biases(records)
    assert all(row.p == 2 / 256 for row in found)
    assert {row.holm for row in found} == {6 / 256}


def test_a_change_is_that_of_each_sentence() -> None:
    """Sentences differ by far more than the runs do: only a paired test can see it."""
    random = np.random.default_rng(0)
    gaps = random.normal(0, 0.2, (8, 1)) + random.normal(0, 0.001, (8, 3))
    before = [record(i, he_she=[[row[0]], [row[0], row[1]]]) for i, row in enumerate(gaps.tolist())]
    after = [record(i, he_she=[[row[0] + 0.02], [row[1] + 0.02, row[2]]]) for i, row in enumerate(gaps.tolist())]
    near, far = pair_changes(before, after)
    assert (near.old, near.new, near.k, near.sentences) == ("he", "she", 0, 8)
    assert near.change == pytest.approx(0.02)
    assert (near.p, near.holm) == (2 / 256, 4 / 256)
    old, new = (one(pair_biases(side), "he", 1) for side in (before, after))
    assert far.change == pytest.approx(new.bias - old.bias)
    assert 0.005 < far.low < far.change < far.high < 0.015
    assert new.low < old.bias < new.high  # what the two intervals alone would say


def test_a_change_leaves_out_sentences_that_were_measured_on_other_texts() -> None:
    before = [record(i, he_she=[[0.1], [0.1]]) for i in range(3)]
    after = [record(1, he_she=[[0.2], [0.2, 0.2]]), record(2, he_she=[[0.2], [0.2]]), record(3, he_she=[[0.9]])]
    assert [(row.k, row.sentences) for row in pair_changes(before, after)] == [(0, 2), (1, 1)]
    assert all(math.isnan(row.low) and math.isnan(row.holm) for row in pair_changes(before, after))
    assert pair_changes(before, []) == []
