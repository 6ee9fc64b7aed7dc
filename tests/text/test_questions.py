"""Tokens to words, against the plain definition."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mohs.text import Text
from mohs.text.questions import Slope

Spans = list[tuple[int, int, int]]


def slope(spans: Spans) -> Slope:
    rows = np.zeros((len(spans), 2), np.float32)
    return Slope(0.0, tuple(spans), rows, rows)


def plainly(tokens: Spans, words: Spans) -> list[list[int]]:
    """A token belongs to a word if they share a character."""
    places = [{(field, at) for at in range(start, end)} for field, start, end in tokens]
    return [
        [row for row, place in enumerate(places) if place & {(field, at) for at in range(start, end)}]
        for field, start, end in words
    ]


def test_several_tokens_a_word() -> None:
    text = Text("An unlikely, don't-miss film")
    tokens = [(0, 0, 2), (0, 3, 5), (0, 5, 11), (0, 11, 12), (0, 13, 16), (0, 16, 17), (0, 17, 18), (0, 18, 19)]
    tokens += [(0, 19, 23), (0, 24, 28)]
    assert text.words == ("An", "unlikely", "don't-miss", "film")
    assert slope(tokens).by_word(text.spans()) == [[0], [1, 2], [4, 5, 6, 7, 8], [9]]


def test_beyond_the_window() -> None:
    text = Text("one two three four")
    tokens = [(0, 0, 3), (0, 4, 7), (0, 8, 10)]  # the window ends inside the third word
    assert slope(tokens).by_word(text.spans()) == [[0], [1], [2], []]
    assert slope([]).by_word(text.spans()) == [[], [], [], []]


def test_two_fields() -> None:
    text = Text("a man plays", "he sings")
    tokens = [(0, 0, 1), (0, 2, 5), (1, 0, 2), (1, 3, 5), (1, 5, 8)]  # the first field was cut
    assert slope(tokens).by_word(text.spans()) == [[0], [1], [], [2], [3, 4]]


def test_a_first_field_without_words() -> None:
    assert slope([(0, 0, 3), (1, 0, 1)]).by_word(Text("...", "a").spans()) == [[1]]
    assert slope([(0, 0, 1), (1, 0, 3)]).by_word(Text("a", "...").spans()) == [[0]]


def test_spaces_in_front_belong_to_the_token() -> None:
    assert slope([(0, 0, 3), (0, 3, 7)]).by_word(Text("one two").spans()) == [[0], [1]]


def test_a_token_over_two_words() -> None:
    text = Text("the U.S. economy")
    assert text.words == ("the", "U", "S", "economy")
    assert slope([(0, 0, 3), (0, 3, 7), (0, 7, 8), (0, 8, 16)]).by_word(text.spans()) == [[0], [1], [1], [3]]


def test_words_replaced_by_nothing_have_no_tokens() -> None:
    text = Text("one two three").replace(1, "")
    assert text.fields == ("one three",)
    assert slope([(0, 0, 3), (0, 3, 4), (0, 4, 9)]).by_word(text.spans()) == [[0], [], [2]]


@given(data=st.data())
def test_by_word_is_overlap(data: st.DataObject) -> None:
    words: Spans = []
    tokens: Spans = []
    for field in range(data.draw(st.integers(1, 3))):
        for spans in (words, tokens):
            cuts = sorted(data.draw(st.lists(st.integers(0, 12), max_size=8)))
            spans += [(field, start, end) for start, end in zip(cuts[::2], cuts[1::2], strict=False)]
    mixed = data.draw(st.permutations(words))
    assert slope(tokens).by_word(mixed) == plainly(tokens, mixed)
