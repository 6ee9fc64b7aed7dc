"""Texts as numbers of words."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mohs.models.vocabulary import FIRST_WORD, PADDING, SEPARATOR, UNKNOWN, Vocabulary, known_words, readable
from mohs.text import Text
from mohs.text.text import words_of

WORDS = ("good", "bad", "film", "don't")
small = Vocabulary(WORDS, 6)
fields = st.lists(st.sampled_from([*WORDS, "Good", "odd", "...", "👍"])).map(" ".join)
texts = st.one_of(st.tuples(fields), st.tuples(fields, fields))


def test_numbers() -> None:
    good, bad, film, dont = range(FIRST_WORD, FIRST_WORD + 4)
    assert small.row(("Good, BAD film!",)) == (good, bad, film)
    assert small.row(("nobody don't",)) == (UNKNOWN, dont)
    assert small.row(("",)) == (PADDING,)
    assert small.row(("good", "bad")) == (good, SEPARATOR, bad)
    assert small.row(("", "")) == (SEPARATOR,)
    assert small.row(("good bad", "")) == (good, bad, SEPARATOR)
    assert Vocabulary(WORDS, 6, 5).row(("good",)) == (good, PADDING, PADDING, PADDING, PADDING)
    assert len(small) == 7


def test_the_window() -> None:
    good, bad, film, dont = range(FIRST_WORD, FIRST_WORD + 4)
    assert small.row(("good " * 9,)) == (good,) * 6
    assert small.row(("good " * 9, "bad film")) == (good, good, good, SEPARATOR, bad, film)
    assert small.row(("film", "good " * 9)) == (film, SEPARATOR, good, good, good, good)
    assert small.row(("film " * 9, "don't " * 9)) == (film, film, SEPARATOR, dont, dont, dont)
    assert small.visible(("good film",)) is None
    assert small.visible(("good good, good good good good bad",)) == (30,)
    assert small.visible(("good " * 9, " bad film ")) == (14, 10)


@given(texts)
def test_a_row_is_the_words_and_nothing_else(text: tuple[str, ...]) -> None:
    wide = Vocabulary(WORDS, 10_000)
    separators = len(text) - 1
    numbers = [wide.index.get(word, UNKNOWN) for word in words_of(text)]
    row = wide.row(text)
    assert [number for number in row if number not in (SEPARATOR, PADDING)] == numbers
    assert row.count(SEPARATOR) == separators
    assert len(row) == max(1, len(numbers) + separators)


@given(texts, st.integers(5, 12))
def test_spans_lead_to_the_words_of_the_row(text: tuple[str, ...], most: int) -> None:
    vocabulary = Vocabulary(WORDS, most)
    row = vocabulary.row(text)
    places, spans = vocabulary.spans(text)
    read = [vocabulary.index.get(text[field][start:end].lower(), UNKNOWN) for field, start, end in spans]
    assert [row[place] for place in places] == read
    assert len(row) <= most
    assert [place for place, number in enumerate(row) if number not in (SEPARATOR, PADDING)] == places
    limits = vocabulary.visible(text)
    seen = [s for s in Text(*text).spans() if limits is None or s[2] <= limits[s[0]]]
    assert seen == spans


def test_known_words() -> None:
    data = [("the good film",), ("the Good one", "the end")]
    assert known_words(data, 1, ()) == ("the", "good", "end", "film", "one")
    assert known_words(data, 2, ()) == ("the", "good")
    assert known_words(data, 2, {"film", "absent"}) == ("the", "good", "film")
    assert known_words(data, 9, ()) == ()


def test_readable() -> None:
    assert readable(["film", "Film", "two words", ",", "don't", "", "well-made", "-x"]) == [
        "film",
        "don't",
        "well-made",
    ]


def test_digest() -> None:
    assert small.digest == Vocabulary(WORDS, 9).digest
    assert small.digest != Vocabulary(WORDS[::-1], 6).digest
