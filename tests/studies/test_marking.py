"""What is marked in two texts that differ."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mohs.studies.marking import Piece, pieces


def marked(one: str, other: str, highlight: str = "characters") -> tuple[str, str]:
    """Both texts, with what is marked in brackets."""
    first, second = pieces((one, other), highlight)
    return _bracketed(first), _bracketed(second)


def _bracketed(of: tuple[Piece, ...]) -> str:
    return "".join(f"[{piece.code or piece.text}]" if piece.marked else piece.text for piece in of)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("the same", "the same", ("the same", "the same")),
        ("a good film", "a great film", ("a [good] film", "a [great] film")),
        ("the film", "the fi1m", ("the film".replace("l", "[l]"), "the fi[1]m")),
        ("unbelievable", "unbXlXevable", ("unb[eli]evable", "unb[XlX]evable")),
        ("colour", "color", ("colo[u]r", "color")),
        ("one two", "one new two", ("one two", "one [new ]two")),
        ("cafe\u0301", "cafe", ("caf[e\u0301]", "caf[e]")),
        ("paypal", "p\u0430ypal", ("p[a]ypal", "p[\u0430]ypal")),
        ("word", "wo\u200brd", ("word", "wo[U+200B]rd")),
        ("", "", ("", "")),
    ],
)
def test_characters_that_differ(one: str, other: str, expected: tuple[str, str]) -> None:
    assert marked(one, other) == expected


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("a good film", "a goods film", ("a [good] film", "a [goods] film")),
        ("one two three", "one 2 3", ("one [two three]", "one [2 3]")),
        ("It's fine.", "It's fine!", ("It's fine[.]", "It's fine[!]")),
        ("two  spaces", "two spaces", ("two [ ]spaces", "two spaces")),
    ],
)
def test_words_that_differ(one: str, other: str, expected: tuple[str, str]) -> None:
    assert marked(one, other, "words") == expected


def test_nothing_is_marked_without_a_pair() -> None:
    for texts, highlight in ((("a", "b"), "none"), (("a",), "characters"), (("a", "b", "c"), "words")):
        assert [[(p.text, p.marked) for p in of] for of in pieces(texts, highlight)] == [
            [(text, False)] for text in texts
        ]


def test_long_texts_are_compared_by_words() -> None:
    long = "word " * 5000
    assert marked(long + "good", long + "goods") == (long + "[good]", long + "[goods]")


@given(st.text(max_size=40), st.text(max_size=40), st.sampled_from(["characters", "words"]))
def test_the_pieces_are_the_texts_and_the_rest_is_equal(one: str, other: str, highlight: str) -> None:
    first, second = pieces((one, other), highlight)
    assert ("".join(p.text for p in first), "".join(p.text for p in second)) == (one, other)
    plain = ["".join("".join(p.text for p in of if not p.marked).split()) for of in (first, second)]
    if highlight == "words":
        assert plain[0] == plain[1], "what is not marked is the same in both"
    assert any(p.marked for of in (first, second) for p in of) == (one != other)
