"""Natural neighbourhoods against Algorithm 1 by brute force."""

from __future__ import annotations

from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from mohs.errors import BadInput
from mohs.space import MaskedWords, Services, natural
from mohs.space.natural import Neighbourhood, levels, parts, size_of
from mohs.text import Text
from mohs.text.questions import Scored
from tests.second_order.toys import DELTA, KAPPA, fill, neighbourhood, neighbours
from tests.toys import now, services

WORDS = tuple("abcdef")
NEAR = Neighbourhood(MaskedWords(k=KAPPA, gap=DELTA))
logits = st.lists(st.integers(0, 24), min_size=0, max_size=6, unique=True)
tables = st.dictionaries(
    st.sampled_from(["", *WORDS]),
    logits.map(lambda found: list(zip(WORDS, [value / 4 for value in found], strict=False))),
    max_size=7,
)
texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(tuple)


Parts = list[tuple[int, bool, list[Text]]]


async def walked(x: Text, k: int, places: list[int], ask: Services, *, most: int, breadth: int) -> Parts:
    return [part async for part in levels(x, k, NEAR, places, ask, most=most, breadth=breadth)]


def gathered(parts: Parts, k: int) -> dict[int, list[tuple[str, ...]]]:
    found: dict[int, list[tuple[str, ...]]] = {level: [] for level in range(1, k + 1)}
    for level, _, some in parts:
        found[level] += [tuple(text.words) for text in some]
    return found


@settings(max_examples=150, deadline=None)
@given(words=texts, table=tables, data=st.data())
def test_every_level_is_what_the_algorithm_says(words: tuple[str, ...], table: Any, data: st.DataObject) -> None:
    frozen = data.draw(st.integers(0, len(words) - 1))
    places = [place for place in range(len(words)) if place != frozen]
    parts = now(walked(Text(" ".join(words)), 3, places, services(masked_lm=fill(table)), most=10**9, breadth=1))
    found = gathered(parts, 3)
    for level, some in found.items():
        assert len(set(some)) == len(some)
        assert set(some) == neighbourhood(words, level, table, frozen, set())
    assert all(exact for _, exact, _ in parts)


@settings(max_examples=50, deadline=None)
@given(words=texts, table=tables, seed=st.integers(0, 99))
def test_beyond_the_most_a_level_is_sampled(words: tuple[str, ...], table: Any, seed: int) -> None:
    def drawn() -> Parts:
        places = list(range(1, len(words)))
        return now(walked(Text(" ".join(words)), 3, places, services(seed, masked_lm=fill(table)), most=2, breadth=2))

    parts = drawn()
    assert drawn() == parts
    for level, some in gathered(parts, 3).items():
        true = neighbourhood(words, level, table, 0, set())
        assert set(some) <= true
        if all(exact for number, exact, _ in parts if number == level):
            assert set(some) == true


def test_words_to_avoid_and_the_order_of_offers() -> None:
    table = {"": [("b", 5.0), ("c", 4.0), ("d", 3.0)], "a": [("c", 2.0)]}
    near = Neighbourhood(MaskedWords(k=KAPPA, gap=DELTA), avoid=frozenset({"c"}))
    (found,) = now(near.step([Text("a A")], [0, 1], services(masked_lm=fill(table))))
    assert [str(text) for text in found] == ["b A", "d A"]
    assert {tuple(text.words) for text in found} == neighbours(("a", "A"), table, 9, {"c"})


def test_a_floor_of_naturalness() -> None:
    table = {"": [("b", 5.0), ("c", 4.0)]}

    def lm(text: str) -> Scored:
        return Scored((0,), (1,), ({"a": -1.0, "b": -1.5, "c": -3.0}[text],))

    ask = services(masked_lm=fill(table), lm=lm)
    (found,) = now(Neighbourhood(floor=2.0).step([Text("a")], [0], ask))
    assert [str(text) for text in found] == ["b"]
    assert Neighbourhood(floor=2.0).needs == ("masked_lm", "lm")
    with pytest.raises(BadInput, match="floor"):
        Neighbourhood(floor=-1)


def test_the_size_is_near_the_truth_where_words_do_not_matter_to_each_other() -> None:
    table = {word: [("c", 2.0), ("d", 1.0), ("e", 0.5)] for word in ["", "a", "c", "d", "e"]}
    x = Text("a a a a a a")
    size = now(size_of(x, 2, NEAR, range(6), services(masked_lm=fill(table))))
    true = len(neighbourhood(tuple("aaaaaa"), 2, table, 9, set()))
    assert size == 18 * 18 / 2
    assert 0.8 < size / true < 1.25


def test_a_long_text_is_stepped_from_a_few_places_at_a_time() -> None:
    long = Text(" ".join(["a"] * 2000))
    taken = list(parts([long, long], range(1999), 640))
    assert [place for texts, places in taken for place in places if texts] == [*range(1999)] * 2
    assert max(len(texts) * len(places) for texts, places in taken) == 200
    short = [Text("a b c")] * 500
    assert [(len(texts), len(places)) for texts, places in parts(short, range(3), 640)] == [(213, 3), (213, 3), (74, 3)]
    assert list(parts([long], [], 640)) == [([long], [])]  # a step all the same, and it leads nowhere


def test_in_parts_as_in_one(monkeypatch: pytest.MonkeyPatch) -> None:
    table = {"a": [("b", 2.0), ("c", 1.0)], "b": [("a", 2.0)], "": [("c", 1.0)]}
    x, ask = Text("a b a c"), services(masked_lm=fill(table))
    whole = now(walked(x, 2, [0, 1, 3], ask, most=10**9, breadth=1))
    size = now(size_of(x, 2, NEAR, [0, 1, 3], ask))
    monkeypatch.setattr(natural, "_WORDS_AT_ONCE", 1)
    monkeypatch.setattr(natural, "_WORDS_TIMES_CHANGES", 4)
    pieces = now(walked(x, 2, [0, 1, 3], ask, most=10**9, breadth=1))
    assert len(pieces) > len(whole)
    assert gathered(pieces, 2) == gathered(whole, 2)
    assert now(size_of(x, 2, NEAR, [0, 1, 3], ask)) == size
