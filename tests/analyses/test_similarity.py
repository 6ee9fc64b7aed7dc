"""Cosines of words and of fragments, with vectors whose angles are known."""

from __future__ import annotations

import math

import pytest

from mohs.analyses.similarity import by_similarity, fill_in_cosines, fill_in_similarities, fragments_of
from mohs.analyses.substitutions import Substitution, columns_of
from mohs.engine import Service
from tests.analyses.toys import Vectors, attack_run, success
from tests.audits.toys import Encoder, cosine


def substitutions(*changes: tuple[str, dict[int, str]], window: int = 11) -> list[Substitution]:
    run = attack_run([success(number, text, words) for number, (text, words) in enumerate(changes)])
    (column,), _ = columns_of(run, window)
    return column.substitutions


def test_cosines_of_words_whatever_their_case() -> None:
    found = substitutions(("A Good film", {1: "Bad", 2: "movie"}), ("a good plot", {1: "fine", 2: "story"}))
    fill_in_cosines(found, Vectors())  # type: ignore[arg-type]
    assert [one.cosine for one in found] == [0.0, pytest.approx(0.8), pytest.approx(0.8), None]


def test_similarity_is_that_of_the_windows_in_both_final_texts() -> None:
    """The toy encoder turns by a tenth for each word with an x."""
    found = substitutions(("a b c d e f g", {1: "x", 5: "xx"}), ("a b", {0: "A"}), window=5)
    told: list[int] = []
    encoder = Encoder()
    fill_in_similarities(found, Service(encoder), told.append)
    assert [(one.old_fragment, one.new_fragment) for one in found[:2]] == [
        ("a b c d", "a x c d"),
        ("d e f g", "d e xx g"),
    ]
    assert [one.similarity for one in found] == pytest.approx([math.cos(0.1), math.cos(0.1), cosine("a b", "A b")])
    assert sum(told) == len(fragments_of(found)) == 6
    assert sorted(encoder.asked) == sorted(fragments_of(found))  # each once


def test_a_window_holds_other_replaced_words_too() -> None:
    found = substitutions(("a b c", {0: "x", 2: "x"}))
    fill_in_similarities(found, Service(Encoder()), lambda _: None)
    assert [one.similarity for one in found] == pytest.approx([math.cos(0.2)] * 2)


def test_one_fragment_of_each_bucket_lowest_first() -> None:
    found = substitutions(*[(f"a b {n}", {0: "c"}) for n in range(6)])
    for one, value in zip(found, (0.97, 0.31, 0.34, 0.999, 1.0, None), strict=True):
        one.similarity = value
    assert [one.similarity for one in by_similarity(found)] == [0.31, 0.97, 1.0]
