"""BERTScore: cases worked out by hand, and laws."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mohs.text.bertscore import bert_score, idf
from mohs.text.questions import TokenVectors

SPECIAL = (0, 0, 1)


def tokens(*vectors: tuple[float, ...], weights: list[float] | None = None) -> TokenVectors:
    table = np.array(vectors, np.float32).reshape(len(vectors), -1)
    norms = np.linalg.norm(table, axis=1, keepdims=True)
    return TokenVectors((table / norms).astype(np.float32), np.array(weights or [1.0] * len(vectors), np.float32))


def drawn() -> st.SearchStrategy[TokenVectors]:
    vector = st.tuples(*[st.integers(-5, 5)] * 3).filter(any)
    return st.lists(vector, min_size=1, max_size=5).map(lambda rows: tokens(*rows))


def test_precision_is_over_the_candidate() -> None:
    candidate, reference = tokens((1, 0), (0, 1), (3, 4)), tokens((1, 0))
    found = bert_score(candidate, reference)
    assert found == pytest.approx(((1 + 0 + 0.6) / 3, 1, 2 * (1.6 / 3) / (1.6 / 3 + 1)))
    swapped = bert_score(reference, candidate)
    assert swapped == pytest.approx((found.recall, found.precision, found.f1))


def test_matching_is_greedy() -> None:
    """One token may be the match of several, and each looks for itself."""
    found = bert_score(tokens((1, 0), (4, 3)), tokens((1, 0), (0, 1)))
    assert found.precision == pytest.approx((1 + 0.8) / 2)
    assert found.recall == pytest.approx((1 + 0.6) / 2)


def test_order_does_not_matter() -> None:
    one, other = tokens((1, 0), (0, 1), (1, 1)), tokens((1, 1), (1, 0), (0, 1))
    assert bert_score(one, other) == pytest.approx((1, 1, 1))


def test_special_tokens_are_matched_but_not_averaged() -> None:
    candidate = tokens(SPECIAL, (1, 0, 0), weights=[0, 1])
    reference = tokens(SPECIAL, (3, 0, 4), weights=[0, 1])
    assert bert_score(candidate, reference) == pytest.approx((0.6, 0.8, 2 * 0.48 / 1.4))


def test_weights() -> None:
    candidate = tokens((1, 0), (0, 1), weights=[3, 1])
    assert bert_score(candidate, tokens((1, 0))).precision == pytest.approx(0.75)
    assert bert_score(tokens((1, 0)), candidate).recall == pytest.approx(0.75)


def test_baseline() -> None:
    plain = bert_score(tokens((1, 0), (3, 4)), tokens((1, 0)))
    found = bert_score(tokens((1, 0), (3, 4)), tokens((1, 0)), baseline=(0.5, 0.2, 0.4))
    assert plain == pytest.approx((0.8, 1, 1.6 / 1.8))
    assert found == pytest.approx((0.6, 1, (1.6 / 1.8 - 0.4) / 0.6))


@pytest.mark.parametrize(
    "empty", [TokenVectors(np.zeros((0, 3), np.float32), np.zeros(0, np.float32)), tokens(SPECIAL, weights=[0])]
)
@pytest.mark.parametrize("baseline", [None, (0.5, 0.5, 0.5)])
def test_a_text_without_tokens(empty: TokenVectors, baseline: Any) -> None:
    full = tokens((1, 0, 0))
    for one, other in ((empty, full), (full, empty), (empty, empty)):
        assert all(map(math.isnan, bert_score(one, other, baseline)))


def test_f1_stays_a_mean_where_cosines_are_negative() -> None:
    against = bert_score(tokens((1, 0)), tokens((-1, 0)))
    assert tuple(against) == (-1, -1, 0)
    mixed = bert_score(tokens((1, 0)), tokens((10, 1), (-1, 0)))
    assert mixed.precision > 0
    assert mixed.recall < 0
    assert mixed.f1 == 0


@given(one=drawn(), other=drawn())
def test_laws(one: TokenVectors, other: TokenVectors) -> None:
    assert bert_score(one, one) == pytest.approx((1, 1, 1), abs=1e-6)
    found, back = bert_score(one, other), bert_score(other, one)
    assert back == pytest.approx((found.recall, found.precision, found.f1), abs=1e-12)
    assert max(found) <= 1 + 1e-6
    best = [max(float(a @ b) for b in other.vectors) for a in one.vectors]
    assert found.precision == pytest.approx(sum(best) / len(best), abs=1e-6)
    if min(found) > 0:
        assert min(found.precision, found.recall) - 1e-9 <= found.f1 <= max(found.precision, found.recall) + 1e-9


def test_idf() -> None:
    weights, unseen = idf([["a", "b", "a"], ["a"], ["a", "c"]])
    assert weights == pytest.approx({"a": 0, "b": math.log(2), "c": math.log(2)})
    assert unseen == pytest.approx(math.log(4))
