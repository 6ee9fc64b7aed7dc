"""Two shares of the same examples."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from mohs.report.paired import HIDDEN, NO, NOT_ASKED, YES, Answer, Paired, Pairs, answered
from mohs.tasks.inference import paired_interval

KNOWN = st.sampled_from([YES, NO])
ANY = st.sampled_from([YES, NO, HIDDEN, NOT_ASKED, Answer(None, least=True), Answer(None, most=False)])
KINDS = st.sampled_from(["both", "one", "none", None])


def paired(rows: Sequence[tuple[object, Answer, Answer]]) -> Paired:
    return Paired.of_answers("examples", rows)


def test_counts_by_hand() -> None:
    found = paired([(0, YES, YES)] * 3 + [(0, YES, NO)] * 12 + [(0, NO, YES)] * 3 + [(0, NO, NO)] * 2)
    assert found.pairs == Pairs(both=3, first=12, second=3, neither=2)
    assert (found.first, found.second, found.difference) == (15 / 20, 6 / 20, -9 / 20)
    assert found.bounds == (-9 / 20, -9 / 20)
    assert found.p == pytest.approx(binomtest(3, 15).pvalue)
    assert found.interval == paired_interval(3, 12, 20)
    assert found.to_json()["only_first"] == 12


@given(st.lists(st.tuples(KNOWN, KNOWN), min_size=6, max_size=40), st.data())
def test_mcnemar_is_scipys_and_kinds_do_not_matter_without_errors(
    answers: list[tuple[Answer, Answer]], data: st.DataObject
) -> None:
    plain = paired([(None, one, other) for one, other in answers])
    seen = plain.pairs
    if seen.first + seen.second:
        assert plain.p == pytest.approx(binomtest(seen.first, seen.first + seen.second).pvalue)
    else:
        assert plain.p == 1
    kinds = paired([(data.draw(KINDS), one, other) for one, other in answers])
    assert kinds.pairs == seen
    assert kinds.difference == pytest.approx(plain.difference)
    assert kinds.interval == pytest.approx(plain.interval)
    turned = paired([(None, other, one) for one, other in answers])
    assert turned.interval is not None
    assert plain.interval == pytest.approx((-turned.interval[1], -turned.interval[0]))


@given(st.lists(st.tuples(KINDS, ANY, ANY), max_size=7))
def test_bounds_by_brute_force(rows: list[tuple[object, Answer, Answer]]) -> None:
    """Every way in which the hidden answers may have come out."""
    found, asked = paired(rows), [(one, other) for _, one, other in rows if one.asked and other.asked]
    if not asked:
        assert found.bounds is None
        assert found.difference is None
        return
    ways = [
        [sorted({one.ends[0], one.ends[1]}) if one.value is None else [one.value] for one in pair] for pair in asked
    ]
    sums = [
        sum(int(pair[1]) - int(pair[0]) for pair in zip(way[::2], way[1::2], strict=True))
        for way in product(*(choice for pair in ways for choice in pair))
    ]
    assert found.bounds == pytest.approx((min(sums) / len(asked), max(sums) / len(asked)))


def test_an_error_counts_as_its_kind_does() -> None:
    """20 misread, 20 attacked of which the second run withstands 10 more, 40 of which it is not known."""
    rows = [("aside", NO, NO)] * 20 + [("attacked", NO, YES)] * 10 + [("attacked", NO, NO)] * 10
    rows += [("attacked", NO, HIDDEN)] * 40
    found = paired(rows)
    assert found.difference == pytest.approx(0.75 * 0.5)  # without the errors it would be 10 of 40
    assert found.bounds == (10 / 80, 50 / 80)
    assert found.interval is not None
    low, high = found.interval
    narrow = paired([("aside", NO, NO)] * 20 + [("attacked", NO, YES)] * 30 + [("attacked", NO, NO)] * 30).interval
    assert narrow is not None
    assert low < narrow[0] < 0.375 < narrow[1] < high


def test_a_kind_of_errors_alone_is_pooled_with_the_others_that_have_some() -> None:
    rows = [("aside", NO, NO)] * 10 + [("both", NO, YES)] * 4 + [("both", NO, NO)] * 4 + [("both", NO, HIDDEN)] * 2
    rows += [("one", HIDDEN, NO)] * 5
    assert paired(rows).difference == pytest.approx(0.5 * 15 / 25)
    assert paired([("both", HIDDEN, NO)] * 9).difference is None
    assert paired([("both", HIDDEN, NO)] * 9).bounds == (-1, 0)


def test_errors_of_no_known_kind_are_only_in_the_bounds() -> None:
    rows = [("aside", NO, NO)] * 6 + [("attacked", NO, YES)] * 2
    found = paired([*rows, (None, HIDDEN, HIDDEN), (None, YES, HIDDEN)])
    assert (found.difference, found.interval) == (paired(rows).difference, paired(rows).interval)
    assert found.bounds == ((2 - 2) / 10, (2 + 1) / 10)
    assert found.pairs.errors == 2


def test_few_examples_have_no_interval_and_no_test() -> None:
    found = paired([(None, YES, NO)] * 5)
    assert found.difference == -1
    assert found.interval is None
    assert math.isnan(found.p)
    assert found.to_json()["p"] is None


@pytest.mark.parametrize(("n", "errors"), [(10, 0.0), (40, 0.0), (40, 0.3), (150, 0.3)])
@pytest.mark.parametrize("shares", [(0.5, 0.5), (0.1, 0.4), (0.02, 0.02), (0.98, 0.7)])
def test_the_interval_holds_the_truth(n: int, errors: float, shares: tuple[float, float]) -> None:
    """Both runs attack 80%, mostly the same examples; only attacked ones end in an error. 95% within the noise."""
    random = np.random.default_rng(5)
    held, off, studies = 0, 0.0, 160
    for _ in range(studies):
        attacked = random.random(n) < 0.8
        both = np.stack([attacked, np.where(random.random(n) < 0.8, attacked, random.random(n) < 0.8)])
        luck = random.random(n)
        lucks = np.stack([luck, np.where(random.random(n) < 0.6, luck, random.random(n))])
        yes = (lucks < np.array(shares)[:, None]) & both
        lost = (random.random((2, n)) < errors) & both
        rows: list[tuple[object, Answer, Answer]] = []
        for at in range(n):
            one, other = (HIDDEN if lost[side, at] else answered(bool(yes[side, at])) for side in (0, 1))
            rows.append(((bool(both[0, at]), bool(both[1, at])), one, other))
        found = paired(rows)
        assert found.interval is not None
        assert found.difference is not None
        truth = 0.8 * (shares[1] - shares[0])
        held += found.interval[0] <= truth <= found.interval[1]
        off += found.difference - truth
    assert held / studies >= 0.9
    assert abs(off / studies) < 0.02
