"""Sources that misspell: what they add to the variants of mohs.text.characters."""

from __future__ import annotations

from typing import Any

import pytest

from mohs.space import AddLetter, ChangeLetter, DropLetter, Homoglyphs, Keyboard, SplitWord, SwapLetters
from mohs.text import Text
from tests.toys import now, services

KINDS = {
    "swap": SwapLetters,
    "delete": DropLetter,
    "insert": AddLetter,
    "substitute": ChangeLetter,
    "homoglyph": Homoglyphs,
    "keyboard": Keyboard,
    "split": SplitWord,
}


@pytest.mark.parametrize(("name", "kind"), KINDS.items(), ids=KINDS)
def test_the_length_of_a_word_is_counted_in_letters_with_their_accents(name: str, kind: Any) -> None:
    text = Text("nai\u0308ve cafe\u0301 cafes")  # six, five and five code points; five, four and five letters
    naive, cafe, cafes = now(kind(min_length=5)(text, (0, 1, 2), services()))
    assert naive
    assert cafe == {}
    assert set(cafes.values()) == {name}
