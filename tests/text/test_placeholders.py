"""Words that stand for something else, and words that only look like them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mohs.text import Text
from mohs.text.placeholders import marks, placeholders, without_placeholders

MARKED = ["@USER", "@user123", "(@me)", "[NAME]", "[MASK]", "[PERSON 1]", "[PERSON_1]", "<user>", "<URL>", "</s>"]
MARKED += [
    "<br />",
    "<br/>",
    '<a href="x y.html">',
    "http://a.org/b-c?d=1",
    "https://x.org",
    "www.x.org",
    "URL",
    "HTTPURL",
]
PLAIN = [
    "user",
    "url",
    "Url",
    "USER",
    "name",
    "name@host",
    "[sic]",
    "[I]",
    "a < b and c > d",
    "x <y and z> w",
    "<3 it",
    "http",
]


@pytest.mark.parametrize("string", MARKED)
def test_every_word_of_a_placeholder_counts(string: str) -> None:
    text = Text(string)
    assert len(text)
    assert placeholders(text) == set(range(len(text)))


@pytest.mark.parametrize("string", PLAIN)
def test_plain_words_do_not_count(string: str) -> None:
    text = Text(string)
    assert len(text)
    assert placeholders(text) == frozenset()


def test_positions_are_those_of_the_whole_pair() -> None:
    pair = Text("so good, @USER", "see URL now")
    assert placeholders(pair) == {2, 4}
    assert without_placeholders(pair, [1, 2, 3, 4]) == (1, 3)


words = st.sampled_from(["good", "film", "user", "url", "don\u2019t", "été"])
parts = st.lists(
    st.one_of(words.map(lambda w: (w, False)), st.sampled_from(MARKED).map(lambda m: (m, True))), max_size=8
)


@given(parts)
def test_placeholders_among_words(parts: list[tuple[str, bool]]) -> None:
    text = Text(" ".join(part for part, _ in parts))
    expected = [marked for part, marked in parts for _ in range(len(Text(part)))]
    assert [position in placeholders(text) for position in range(len(text))] == expected


@given(st.text(st.sampled_from("aB1 @<>[]/:.=\"'_-wURL\n"), max_size=40), st.text(max_size=10))
def test_any_text_can_be_looked_through(one: str, other: str) -> None:
    text = Text(one, other)
    assert placeholders(text) <= set(range(len(text)))


def test_marks_are_counted_as_they_are_written() -> None:
    found = marks("@USER see http://a.org/b. [NAME] and [NAME], <br /> user URL")
    assert found == {"@USER": 1, "http://a.org/b": 1, "[NAME]": 2, "<br />": 1}
    assert marks("a good film") == {}
