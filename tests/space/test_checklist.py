"""Changes that should not matter."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mohs.space import checklist
from mohs.space.checklist import Contractions, Expansions, Names, Numbers, Places
from mohs.text import Text
from mohs.text.stopwords import ENGLISH
from tests.toys import now, services


def offered(source: Any, *fields: str, positions: list[int] | None = None) -> dict[int, list[str]]:
    text = Text(*fields)
    places = list(range(len(text))) if positions is None else positions
    found = now(source(text, places, services()))
    return {place: list(offer) for place, offer in zip(places, found, strict=True) if offer}


def test_contractions_are_written_out_in_their_case() -> None:
    assert offered(Expansions(), "Don't say it’s WON'T, John's") == {0: ["Do not"], 2: ["it is"], 3: ["WILL NOT"]}


def test_two_words_are_drawn_together() -> None:
    text = Text("I am sure. Do not go")
    assert offered(Contractions(), str(text)) == {0: ["I'm"], 1: [""], 3: ["Don't"], 4: [""]}
    assert str(text.replace_all({0: "I'm", 1: "", 3: "Don't", 4: ""})) == "I'm sure. Don't go"


def test_the_first_of_two_that_share_a_word_counts() -> None:
    assert offered(Contractions(), "it is not") == {0: ["it's"], 1: [""]}


def test_only_words_with_a_space_between_that_may_both_change() -> None:
    assert offered(Contractions(), "it, is") == {}
    assert offered(Contractions(), "it  is") == {}
    assert offered(Contractions(), "it", "is") == {}
    assert offered(Contractions(), "it is", positions=[0]) == {}
    assert offered(Contractions(), "is it fun not", positions=[0, 3]) == {}
    assert offered(Contractions(), "it is", positions=[1, 0]) == {0: ["it's"], 1: [""]}


def test_drawing_together_undoes_writing_out() -> None:
    for short, full in checklist._written_out().items():
        assert offered(Contractions(), full) == {0: [short], 1: [""]}
        assert offered(Expansions(), short) == {0: [full]}


def test_names_and_places_change_within_their_list() -> None:
    found = offered(Names(), "Emily met JOHN Smith, emily and Paris")
    assert sorted(found) == [0, 2, 3]
    assert "Sarah" in found[0]
    assert "Emily" not in found[0]
    assert "Robert" not in found[0]
    assert "ROBERT" in found[2]
    assert "JOHN" not in found[2]
    assert "Johnson" in found[3]
    assert "John" not in found[3]
    found = offered(Places(), "From Paris to Kenya")
    assert sorted(found) == [1, 3]
    assert "Berlin" in found[1]
    assert "Peru" not in found[1]
    assert "Peru" in found[3]
    assert "Berlin" not in found[3]


def test_the_lists_have_no_repeats_and_no_ordinary_words() -> None:
    words = [word for names in (*checklist._NAMES, *checklist._PLACES) for word in names.split()]
    assert len(words) == len(set(words)) > 200
    assert words == [word.title() for word in words]
    assert not {word.lower() for word in words} & ENGLISH
    for names in (*checklist._NAMES, *checklist._PLACES):
        assert names.split() == sorted(names.split())


@pytest.mark.parametrize(
    ("number", "others"),
    [
        ("1", [2]),
        ("3", [2, 4]),
        ("2", []),
        ("4", []),
        ("10", [9, 11, 8, 12, 7, 13]),
        ("100", [95, 105, 90, 110, 85, 115, 80, 120]),
        ("3d", []),
        ("²", []),
        ("٣", []),
    ],
)
def test_numbers(number: str, others: list[int]) -> None:
    assert Numbers().near(number) == others


@given(st.integers(0, 10**15 - 1), st.integers(2, 20))
def test_numbers_stay_in_range(number: int, k: int) -> None:
    found = Numbers(k=k).near(str(number))
    assert len(found) == len(set(found)) <= k
    assert all(other > 0 and 0 < abs(other - number) <= 0.2 * number + 1 for other in found)
    assert found or number in (2, 4)
