"""Spaces: built from a source, constraints and stopwords."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mohs.space import Constraint, Neighbours, Services, Space, WordCosine, WordsBeyond, WordsChanged, build_space
from mohs.text import Example, Text, pocket
from mohs.text.vectors import Vectors, read_vectors
from tests.toys import now, services, table


def space_of(text: str, **rows: str) -> Space:
    example = Example.of(text, 0)
    return now(build_space(example.text, table(**rows), (), frozenset({"the"}), example.positions, services()))


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
    space = now(build_space(example.text, table(good="nice"), (), frozenset(), (1,), services()))
    assert space.positions == (1,)


def test_neighbours_are_close_enough_and_never_the_word() -> None:
    source, ask = Neighbours(k=10, min_cosine=0.7), services(vectors=read_vectors("pocket"))
    found, none = now(source(Text("Terrible qwertyuiop"), [0, 1], ask))
    assert 0 < len(found) <= 10
    assert all(word[0].isupper() and word != "Terrible" for word in found)
    assert all(pocket.lexicon().cosine("terrible", word.lower()) >= 0.69 for word in found)
    assert none == {}


def test_stopwords_are_neither_replaced_nor_brought_in() -> None:
    space = space_of("the good \u2019tis film", the="a", good="nice The fine", film="movie")
    assert dict(space.choices) == {1: ("nice", "fine"), 3: ("movie",)}


def test_constraints_on_words_are_in_the_choices() -> None:
    vectors = Vectors("toy", ("good", "fine", "bad"), np.array([[1, 0], [0.6, 0.8], [-1, 0]], np.float32))
    text, ask = Text("good film"), services(vectors=vectors)
    near = Constraint(WordCosine(), at_least=0.5)
    few = Constraint(WordsChanged(), at_most=1)
    source = table(good="fine bad new", film="bad")
    space = now(build_space(text, source, (near, few), frozenset(), (0, 1), ask))
    assert dict(space.choices) == {0: ("fine",)}  # an unknown word has no cosine, and passes no threshold
    measures = now(space.audit(text.replace(0, "fine"), ask))
    assert measures == {"word cosine": pytest.approx(0.6), "words changed": 1.0}
    assert space.violated(measures) == []
    assert space.violated({**measures, "words changed": 2.0}) == ["words changed"]
    assert space.violated({"word cosine": 0.1, "words changed": math.nan}) == ["word cosine", "words changed"]


def test_an_audit_takes_further_measures() -> None:
    space = space_of("the good film", good="fine")
    measures = now(space.audit(space.text.replace(1, "fine"), services(), [WordsChanged()]))
    assert measures == {"words changed": 1.0}


def test_allowed_keeps_the_order() -> None:
    text = Text("a b c")
    space = Space(text, {}, (Constraint(WordsChanged(), at_most=1),))
    offered = [text.replace(0, "x"), text.replace_all({0: "x", 1: "y"}), text.replace(2, "z")]
    assert now(space.allowed(text, offered, services())) == [offered[0], offered[2]]


def test_edits_say_where_words_came_from() -> None:
    space = space_of("the good film", good="fine", film="movie")
    assert [edit.source for edit in space.edits(Text("the fine movie"))] == ["table", "table"]


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


def test_a_living_space_offers_by_the_text_as_it_stands() -> None:
    @dataclass(frozen=True)
    class After:
        """Offers the word before, doubled."""

        needs: ClassVar[tuple[str, ...]] = ()

        async def __call__(self, text: Text, positions: Sequence[int], ask: Services) -> list[dict[str, str]]:
            return [{text.words[p - 1] * 2: "double"} for p in positions]

    x = Text("the a b c")
    space = now(build_space(x, After(), (), frozenset({"the"}), range(4), services(), living=True))
    assert space.positions == (1, 2, 3)
    assert x.replace(2, "aa") not in space
    assert now(space.words(x, [2], services())) == [("aa",)]
    assert x.replace(2, "aa") in space
    current = x.replace(2, "aa")
    assert now(space.words(current, [3], services())) == [("aaaa",)]
    assert current.replace(3, "aaaa") in space
    assert current.replace(1, "z") not in space
    assert [edit.source for edit in space.edits(current.replace(3, "aaaa"))] == ["double", "double"]


def test_two_settings_of_one_measure_are_judged_apart() -> None:
    text = Text("a b c d e f g h i j")
    two = Constraint(WordsBeyond(0.1), at_most=2), Constraint(WordsBeyond(0.9), at_most=0)
    space = Space(text, {}, two)
    changed = text.replace_all({0: "x", 1: "y"})
    measures = now(space.audit(changed, services(), [WordsBeyond(0.5)]))
    assert sorted(measures.values()) == [-7, -3, 1]
    assert space.violated(measures) == []
    assert len(space.violated(now(space.audit(text.replace_all(dict.fromkeys(range(10), "z")), services())))) == 2
