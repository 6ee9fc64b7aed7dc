"""Spaces, sources and constraints."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mohs.space import Constraint, Neighbours, PosShared, SentenceSimilarity, build_space
from mohs.text import Example, Text, pocket
from tests.toys import table


def space_of(text: str, **rows: str):  # type: ignore[no-untyped-def]
    example = Example.of(text, 0)
    return build_space(example, table(**rows), (), frozenset({"the"}), example.positions)


def test_membership_is_exactly_the_product_of_choices() -> None:
    space = space_of("the good film", good="nice fine", film="movie", the="a")
    points = {f"the {a} {b}" for a, b in product(("good", "nice", "fine"), ("film", "movie"))}
    assert space.positions == (1, 2)
    for words in product(("the", "a"), ("good", "nice", "fine", "bad"), ("film", "movie", "the")):
        text = " ".join(words)
        candidate = space.text.replace_all(dict(enumerate(words)))
        assert (candidate in space) == (text in points)
    assert Text("the good film!") not in space
    assert Text("good film") not in space


def test_only_given_positions() -> None:
    example = Example.of("good good good", 0)
    space = build_space(example, table(good="nice"), (), frozenset(), (1,))
    assert space.positions == (1,)


def test_neighbours_are_close_enough_and_never_the_word() -> None:
    source = Neighbours(k=10, min_cosine=0.7)
    found = source("Terrible")
    assert found
    assert len(found) <= 10
    assert all(word[0].isupper() and word != "Terrible" for word in found)
    assert all(pocket.lexicon().cosine("terrible", word.lower()) >= 0.69 for word in found)
    assert source("qwertyuiop") == []


@given(st.sampled_from(pocket.lexicon().words[:2000]), st.integers(1, 60), st.floats(0.5, 1))
def test_neighbours_against_brute_force(word: str, k: int, least: float) -> None:
    lexicon = pocket.lexicon()
    cosines = lexicon.vectors @ lexicon.vectors[lexicon.index[word]]
    found = lexicon.near(word, k, least)
    assert [c for _, c in found] == sorted((c for _, c in found), reverse=True)
    for other, cosine in found:
        assert float(cosines[lexicon.index[other]]) == pytest.approx(cosine, abs=0.004)  # stored in one byte
    if found and len(found) < min(k, 50):  # the list ended at the threshold: nothing outside is clearly closer
        outside = set(lexicon.words) - {word} - {other for other, _ in found}
        assert max(float(cosines[lexicon.index[other]]) for other in outside) < least + 0.004


@pytest.mark.parametrize(
    ("old", "new", "shared"),
    [("good", "nice", 1), ("film", "movie", 1), ("quickly", "table", 0), ("Film", "filmed", 1), ("film", "zzzz", 0)],
)
def test_part_of_speech(old: str, new: str, shared: float) -> None:
    assert PosShared().of_words(old, new) == shared


def test_noun_for_verb_only_where_allowed() -> None:
    lexicon = pocket.lexicon()
    nouns = [w for w in lexicon.words if lexicon.parts_of_speech(w) == 1]
    verbs = [w for w in lexicon.words if lexicon.parts_of_speech(w) == 2]
    assert PosShared().of_words(nouns[0], verbs[0]) == 1
    assert PosShared(noun_is_verb=False).of_words(nouns[0], verbs[0]) == 0


def test_constraint_is_a_measure_and_a_threshold() -> None:
    constraint = Constraint(PosShared(), at_least=0.5)
    assert constraint.holds(0.5)
    assert not constraint.holds(0.49)
    assert not constraint.holds(math.nan)
    assert constraint.about_words
    assert not Constraint(SentenceSimilarity(), at_least=0.5).about_words


@pytest.mark.parametrize(("cosine", "angular"), [(1, 1), (0.87758, 0.840845), (0.6216, 0.7135), (0, 0.5), (-1, 0)])
def test_angular_against_cosine(cosine: float, angular: float) -> None:
    one, other = np.array([1.0, 0.0], np.float32), np.array([cosine, math.sqrt(1 - cosine * cosine)], np.float32)
    assert SentenceSimilarity(angular=True).of_vectors(one, other) == pytest.approx(angular, abs=1e-4)
    assert SentenceSimilarity(angular=False).of_vectors(one, other) == pytest.approx(cosine, abs=1e-6)


def test_a_window_sees_only_words_around_the_change() -> None:
    text = Text(" ".join(f"w{i}" for i in range(40)))
    measure = SentenceSimilarity(window=5)
    assert measure._views(text, text, text.replace(20, "x")) == ("w18 w19 w20 w21 w22 ", "w18 w19 x w21 w22 ")
    assert measure._views(text, text, text.replace(0, "x"))[1] == "x w1 w2 w3 w4 "
    assert measure._views(text, text, text.replace(39, "x"))[1] == "w35 w36 w37 w38 x"


def test_a_later_step_has_a_window_too() -> None:
    text = Text(" ".join(f"w{i}" for i in range(40)))
    current = text.replace_all({3: "x", 19: "y"})
    step = current.replace(20, "z")
    against_original = SentenceSimilarity(window=3)._views(text, current, step)
    assert against_original == ("w19 w20 w21 ", "y z w21 ")
    against_previous = SentenceSimilarity(window=3, previous=True)._views(text, current, step)
    assert against_previous == ("y w20 w21 ", "y z w21 ")


def test_an_audit_compares_whole_texts() -> None:
    text = Text(" ".join(f"w{i}" for i in range(40)))
    for changed in (text.replace(3, "x"), text.replace_all({3: "x", 30: "y"})):
        assert SentenceSimilarity(window=5, previous=True)._views(text, None, changed) == (str(text), str(changed))
