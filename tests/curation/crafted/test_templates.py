"""Templates with slots."""

from __future__ import annotations

import re
from itertools import permutations, product
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mohs.curation.crafted.templates import Slots, Template, article
from mohs.errors import BadInput

SLOTS: Slots = {
    "job": ["nurse", "actor", "engineer"],
    "name": ["Ann", "Bob"],
    "trait": [["rich", "poor"], ["old", "young"]],
}


def filled(text: str, most: int = 1000, seed: int = 0) -> list[str]:
    template = Template((text,), "t")
    template.check(SLOTS)
    return [texts[0] for texts in template.filled(SLOTS, most, Random(seed))]


def test_all_ways_in_order() -> None:
    assert filled("{name}: {a:job}") == [
        "Ann: a nurse", "Ann: an actor", "Ann: an engineer", "Bob: a nurse", "Bob: an actor", "Bob: an engineer",
    ]  # fmt: skip


def test_another_value_of_the_same_slot_is_different() -> None:
    expected = {f"{one}, {two}, {one}" for one, two in permutations(SLOTS["job"], 2)}
    assert set(filled("{job}, {job2}, {job}")) == expected


def test_parts_of_a_value_belong_together() -> None:
    assert filled("{A:trait.1} man, not {trait.0}") == ["A poor man, not rich", "A young man, not old"]


def test_texts_of_a_pair_share_their_values() -> None:
    template = Template(("{name}", "{name2} and {name}"), "t")
    assert list(template.filled(SLOTS, 9, Random(0))) == [("Ann", "Bob and Ann"), ("Bob", "Ann and Bob")]


@given(st.integers(1, 40), st.integers(0, 5))
def test_a_draw_is_a_part_of_all_ways(most: int, seed: int) -> None:
    every = [f"{n} {a} {b}" for n, (a, b) in product(SLOTS["name"], permutations(SLOTS["job"], 2))]
    found = filled("{name} {job} {job2}", most, seed)
    assert len(found) == len(set(found)) == min(most, len(every))
    assert found == sorted(found, key=filled("{name} {job} {job2}").index)
    assert set(found) <= set(every)
    assert found == filled("{name} {job} {job2}", most, seed)


def test_the_seed_decides_the_draw() -> None:
    assert len({tuple(filled("{name} {job} {job2}", 4, seed)) for seed in range(10)}) > 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{jobs}", "t has the unknown slot 'jobs'; there are job, name, trait."),
        ("{ job }", "t has '{ job }'; write a slot as {name}, {name2}, {a:name} or {name.0}."),
        ("{job", "t has '{job'; write a slot"),
        ("job}", "t has '}'; write a slot"),
        ("{name} {name2} {name3}", "t needs 3 different values of 'name', which has 2; add more."),
        ("{trait}", "t has {trait}, which does not fit all values of the slot; name a part, as in {trait.0}"),
        ("{trait.2}", "t has {trait.2}, which does not fit"),
        ("{job.0}", "t has {job.0}, which does not fit"),
    ],
)
def test_what_can_never_be_filled(text: str, message: str) -> None:
    with pytest.raises(BadInput, match=re.escape(message)):
        Template((text,), "t").check(SLOTS)


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (
            "nurse unit user European Ukrainian one-eyed unanimous university uniform utopian Ugandan uranium useful",
            "a",
        ),
        ("actor hour heir honest honour umbrella unimportant unnamed unidentified ugly urgent utter 8-year-old", "an"),
    ],
)
def test_articles(words: str, found: str) -> None:
    assert {word: article(word) for word in words.split()} == dict.fromkeys(words.split(), found)
