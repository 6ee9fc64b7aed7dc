"""Changes that should not matter."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mohs.errors import BadInput
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
    assert offered(Contractions(), "it is so", positions=[1, 0]) == {0: ["it's"], 1: [""]}


def test_a_contraction_does_not_end_a_clause() -> None:
    assert offered(Contractions(), "I know what it is. Do you know who he is, or what they are") == {}
    assert offered(Contractions(), "what it is like") == {1: ["it's"], 2: [""]}


def test_cannot_is_one_word() -> None:
    assert offered(Expansions(), "I can't. CAN'T") == {1: ["cannot"], 2: ["CANNOT"]}
    assert offered(Contractions(), "Cannot go, can not go, we cannot") == {0: ["Can't"]}


def test_have_is_not_drawn_to_its_subject() -> None:
    for text in (
        "I have a dog",
        "you have to go",
        "what they have seen",
        "could have been",
        "let us go",
        "so here is it",
    ):
        assert offered(Contractions(), text) == {}
    assert offered(Expansions(), "I've they've could've let's") == {
        0: ["I have"],
        1: ["they have"],
        2: ["could have"],
        3: ["let us"],
    }


def test_drawing_together_undoes_writing_out() -> None:
    for full, short in checklist._drawn_together().items():
        halves = {0: [short]} if full == "cannot" else {0: [short], 1: [""]}
        assert offered(Contractions(), f"{full} so") == halves
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


def test_texts_without_capitals_have_names_too() -> None:
    found = offered(Names(), "robert de niro and emily in paris")
    assert sorted(found) == [0, 4]
    assert "james" in found[0]
    assert "sarah" in found[4]
    assert list(offered(Places(), "robert de niro and emily in paris")) == [6]
    assert offered(Names(), "The film of robert and emily") == {}


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


def test_parts_of_a_longer_figure_are_left_alone() -> None:
    for text in ("1,000 cards", "at 10:30", "on 9/11", "3.5 stars", "the #36;10 million prize", "it #39;s", "no.5"):
        assert offered(Numbers(), text) == {}
    assert sorted(offered(Numbers(), "$25, (30) or 50%. 7")) == [0, 1, 3, 4]


def test_settings_that_switch_numbers_off_are_refused() -> None:
    for settings in ({"k": 0}, {"share": -0.1}):
        with pytest.raises(BadInput, match="does not fit"):
            Numbers(**settings)
    assert Numbers(k=1).near("10") == [7]


@given(st.integers(0, 10**15 - 1), st.integers(1, 20))
def test_numbers_stay_in_range(number: int, k: int) -> None:
    found = Numbers(k=k).near(str(number))
    assert len(found) == len(set(found)) <= k
    assert all(other > 0 and 0 < abs(other - number) <= 0.2 * number + 1 for other in found)
    assert found or number in (2, 4)
