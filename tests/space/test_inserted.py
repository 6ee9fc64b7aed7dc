"""Insertions and merges by a masked language model."""

from __future__ import annotations

from typing import Any

import pytest

from mohs.errors import BadInput
from mohs.space import Constraint, MaskedWords, Source, WordCosine, build_space
from mohs.space.inserted import InsertedWords, MergedWords, ReplacedPos, Sparing, is_insertion, merges, offered
from mohs.text import Text
from mohs.text.questions import Blank, Filled, Guess, Spot, Tag
from mohs.text.text import Edit
from mohs.text.vectors import Vectors
from tests.toys import now, services, table


def fill(blank: Blank) -> Filled:
    words = [("very", -1.0, True), ("##s", -1.5, False), (".", -2.0, True), ("film", -3.0, True), ("Rare", -6.0, True)]
    return Filled(tuple(Guess(*word) for word in words[: blank.k]), 0.0)


def tag(spot: Spot) -> Tag:
    return Tag(
        {"the": "DET", "is": "AUX", "Paris": "PROPN", "good": "ADJ"}.get(spot.text[spot.start : spot.end], "NOUN"), "XX"
    )


def found(source: Source, *fields: str, positions: Any = None) -> list[list[str]]:
    text = Text(*fields)
    positions = range(len(text)) if positions is None else positions
    return [list(offer) for offer in now(source(text, positions, services(masked_lm=fill, tagger=tag)))]


def test_words_are_put_in_on_either_side() -> None:
    assert found(InsertedWords(), "Good film") == [
        ["very Good", "film Good", "Rare Good", "Good very", "Good film", "Good Rare"],
        ["very film", "Rare film", "film very", "film Rare"],  # not film film
    ]
    assert found(InsertedWords(after=False), "good") == [["very good", "film good", "Rare good"]]
    assert found(InsertedWords(before=False, k=4), "good") == [["good very", "good film"]]
    assert found(InsertedWords(before=False, min_probability=0.04), "good") == [["good very", "good film"]]
    assert found(InsertedWords(before=False, min_probability=0.05), "good") == [["good very"]]


def test_the_blank_is_an_empty_stretch_beside_the_word() -> None:
    ask = services(masked_lm=lambda blank: Filled((), 0.0))
    x = Text("a film", "so good!")
    now(InsertedWords(k=5)(x, [1, 3], ask))
    assert ask.parts["masked_lm"].asked == [
        Blank(x.fields, 0, 2, 2, 5),
        Blank(x.fields, 0, 6, 6, 5),
        Blank(x.fields, 1, 3, 3, 5),
        Blank(x.fields, 1, 7, 7, 5),
    ]


def test_an_emptied_word_gets_no_company() -> None:
    text = Text("a good film").replace(1, "")
    ask = services(masked_lm=fill)
    offers = now(InsertedWords()(text, [0, 1], ask))
    assert offers[0]
    assert not offers[1]


def test_two_words_are_merged_into_one() -> None:
    assert found(MergedWords(), "the good film") == [["very", "film"], ["very", "film"], []]
    assert found(MergedWords(min_probability=1e-3), "the film") == [["very", "film", "Rare"], []]
    assert found(MergedWords(), "Film show") == [["Very"], []]  # in its case, and not the word itself
    x = Text("so good films", "the film")
    ask = services(masked_lm=fill, tagger=tag)
    now(MergedWords(k=7)(x, [0, 1, 2, 3], ask))
    assert ask.parts["masked_lm"].asked == [Blank(x.fields, 0, 3, 13, 7), Blank(x.fields, 1, 0, 8, 7)]


@pytest.mark.parametrize(
    ("text", "merged"),
    [
        ("the film", True),
        ("the, film", False),  # a mark between them
        ("the-film", False),  # one word
        ("the  film", True),
        ("film the", False),  # no pair of the list
        ("film is", False),
        ("is film", True),  # AUX as VERB
        ("Paris film", True),  # PROPN as NOUN
        ("film film", True),
        ("the", False),
    ],
)
def test_which_words_are_merged(text: str, merged: bool) -> None:
    assert bool(found(MergedWords(), text)[0]) is merged


def test_words_of_two_fields_are_not_merged() -> None:
    assert found(MergedWords(), "film", "film") == [[], []]


@pytest.mark.parametrize("kind", [InsertedWords, MergedWords])
@pytest.mark.parametrize("settings", [{"k": 0}, {"min_probability": -0.1}, {"min_probability": 1.1}])
def test_settings_that_switch_a_source_off_are_refused(kind: Any, settings: dict[str, Any]) -> None:
    with pytest.raises(BadInput, match="does not fit"):
        kind(**settings)


def test_sparing_leaves_words_of_a_list_alone() -> None:
    sparing = Sparing(table(the="this", good="fine", dont="do"), frozenset({"the", "don't"}))
    assert found(sparing, "The good the") == [[], ["fine"], []]
    assert found(sparing, "don\u2019t") == [[]]
    assert Sparing(MaskedWords(), frozenset()).needs == ("masked_lm",)


def test_part_of_speech_is_asked_of_replaced_words_only() -> None:
    x = Text("a film")
    measure = ReplacedPos()
    ask = services(tagger=tag)
    texts = [x.replace(1, new) for new in ("good film", "film good", "good", "movie", "good filmy")]
    asked = now(measure.of_texts(x, x, texts, ask))
    assert asked == [1.0, 1.0, 0.0, 1.0, 1.0]
    assert {spot.text[spot.start : spot.end] for spot in ask.parts["tagger"].asked} == {
        "film", "good", "movie", "good filmy"
    }  # fmt: skip
    assert now(measure.of_texts(x, None, [x.replace(1, "film good").replace(0, "good")], ask)) == [0.0]


@pytest.mark.parametrize(
    ("old", "new", "yes"),
    [("film", "good film", True), ("film", "film good", True), ("film", "films", False), ("", " a", False),
     ("film", "a filmy", False), ("film", "my film here", False), ("film", "film", False)],
)  # fmt: skip
def test_is_insertion(old: str, new: str, yes: bool) -> None:
    assert is_insertion(Edit(0, old, new)) is yes


def test_a_further_source_obeys_the_space() -> None:
    x = Text("the film")
    ask = services(masked_lm=fill, tagger=tag)
    space = now(build_space(x, table(film="movie"), (), frozenset({"rare", "the"}), range(2), ask, living=True))
    assert x.replace(1, "film very") not in space
    assert now(offered(space, MaskedWords(), x, [1], ask)) == [("very",)]  # Rare is a stopword
    assert now(offered(space, InsertedWords(before=False), x, [1], ask)) == [("film very", "film Rare")]
    assert x.replace(1, "film very") in space
    assert [edit.source for edit in space.edits(x.replace(1, "film very"))] == ["inserted"]


def test_merges_are_texts_of_the_space() -> None:
    x = Text("the good film")
    ask = services(masked_lm=fill, tagger=tag)
    space = now(build_space(x, table(), (), frozenset(), range(3), ask, living=True))
    texts = now(merges(space, MergedWords(), x, [0, 1, 2], ask))
    assert [[str(text) for text in each] for each in texts] == [
        ["very film", "film film"],
        ["the very", "the film"],
        [],
    ]
    assert all(text in space for each in texts for text in each)
    assert [(e.position, e.new, e.source) for e in space.edits(texts[0][0])] == [
        (0, "very", "merged"),
        (1, "", "merged"),
    ]
    assert x.replace(0, "") not in space


def test_a_word_that_constraints_hold_is_not_merged_away() -> None:
    import numpy as np

    vectors = Vectors("toy", ("good", "very", "film"), np.eye(3, dtype=np.float32))
    ask = services(masked_lm=fill, tagger=tag, vectors=vectors)
    cosine = (Constraint(WordCosine(), at_least=-1),)
    space = now(build_space(Text("good film"), table(), cosine, frozenset(), range(2), ask, living=True))
    assert now(merges(space, MergedWords(), space.text, [0, 1], ask)) == [[], []]  # nothing has no vector
