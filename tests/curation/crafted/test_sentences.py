"""Sentences from tokens, and sentences of a text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mohs.curation.crafted.sentences import like_case, said, sentence, sentences_of
from tests.curation.crafted.parses import parse_of


def test_tokens_that_touched_touch_again() -> None:
    tokens = parse_of("Marie/NNP/poss/2 's/POS/case/0 cat/NN/ROOT/2 ,/,/punct/2 Tom/NNP/appos/2")
    assert said(tokens) == "Marie's cat, Tom"
    assert said([tokens[2], "of", tokens[0]]) == "cat of Marie"
    assert said([]) == ""


def test_a_sentence_has_a_capital_and_a_full_stop() -> None:
    assert sentence(" the end? ") == "The end."
    assert sentence("Zurich, the city,") == "Zurich, the city."


@pytest.mark.parametrize(
    ("word", "model", "found"),
    [
        ("paris", "London", "Paris"),
        ("uk", "USA", "UK"),
        ("paris", "city", "paris"),
        ("you", "I", "You"),
        ("a", "I", "A"),
    ],
)
def test_case(word: str, model: str, found: str) -> None:
    assert like_case(word, model) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("Mr. Smith met Dr. J. Brown. He left.", ["Mr. Smith met Dr. J. Brown.", "He left."]),
        ("It fell to $5 since Aug. 5. It rose.", ["It fell to $5 since Aug. 5.", "It rose."]),
        ("The U.S. Army has 3.5 units.", ["The U.S. Army has 3.5 units."]),
        ('He said "Go." Then he left.', ['He said "Go."', "Then he left."]),
        ("it ends. but not here", ["it ends. but not here"]),
        ("", []),
    ],
)
def test_sentences(text: str, found: list[str]) -> None:
    assert sentences_of(text) == found


@given(st.text(alphabet="Aab.!? \"')", max_size=40))
def test_no_letter_is_lost(text: str) -> None:
    assert "".join(sentences_of(text)).replace(" ", "") == text.replace(" ", "")
