"""Which pair of synonyms a text gets."""

from __future__ import annotations

from dataclasses import replace

import hypothesis.strategies as st
from hypothesis import given

from mohs.second_order.patches import PatchBook, partners_of, words_in
from mohs.space import Listed
from mohs.text import Text
from mohs.text.questions import Blank, Filled
from mohs.text.thesaurus import Thesaurus
from tests.toys import now, services, table

SCORES = {"film": (0.5, 0.5), "movie": (0.1, 0.9), "picture": (0.4, 0.6), "good": (0.0, 1.0), "fine": (0.2, 0.8)}
BOOK = PatchBook({"film": ("movie", "picture"), "movie": ("film",), "good": ("fine",)}, SCORES)


def test_the_largest_gap_first() -> None:
    found = BOOK.choices(Text("A good Film"), range(3))
    assert [(patch.position, patch.old, patch.new, patch.gap) for patch in found] == [
        (2, "Film", "movie", 0.4),
        (1, "good", "fine", 0.2),
        (2, "Film", "picture", 0.1),
    ]
    assert str(found[0].applied(Text("A fine Film"))) == "A fine Movie"
    assert found[0].words == {"film", "movie"}


def test_one_occurrence_and_none_of_the_other() -> None:
    assert not BOOK.choices(Text("film film"), range(2))
    assert not BOOK.choices(Text("Film FILM"), range(2))
    assert [patch.new for patch in BOOK.choices(Text("a film, a movie"), range(4))] == ["picture"]
    assert not BOOK.choices(Text("a good film"), [0])  # where nothing may change


words = st.lists(st.sampled_from([*SCORES, "a"]), max_size=6)


@given(words)
def test_choices_are_all_pairs_that_fit(found: list[str]) -> None:
    pairs = {(a, b) for a, others in BOOK.partners.items() for b in others}
    fit = {(a, b) for a, b in pairs if found.count(a) == 1 and b not in found}
    choices = BOOK.choices(Text(" ".join(found)), range(len(found)))
    assert {(patch.old, patch.new) for patch in choices} == fit
    gaps = [patch.gap for patch in choices]
    assert gaps == sorted(gaps, reverse=True)


def test_pairs_with_a_barred_word_are_passed_over() -> None:
    book = replace(BOOK, barred=frozenset({"movie", "good"}))
    assert [(patch.old, patch.new) for patch in book.choices(Text("A good Film"), range(3))] == [("Film", "picture")]
    assert not book.choices(Text("a movie"), range(2))


def test_plausibility_as_released() -> None:
    def fill(blank: Blank) -> Filled:
        (word,) = blank.words
        chance = {"movie": -9.0, "picture": -2.0, "odd": float("nan")}.get(word, -1.0)
        return Filled((), 0.0, (chance,))

    ask = services(masked_lm=fill)
    x = Text("a odd film")
    assert now(BOOK.choose(x, range(3), ask)) is not None
    chosen = now(BOOK.choose(x, range(3), ask, 1.5))  # movie costs 8 over two words that can be weighed
    assert chosen is not None
    assert chosen.new == "picture"
    assert now(BOOK.choose(x, range(3), ask, 0.4)) is None
    long = Text("a odd film " + "word " * 18)
    chosen = now(BOOK.choose(long, range(3), ask, 0.4))  # more than twenty words are not looked at
    assert chosen is not None
    assert chosen.new == "movie"


def test_partners_in_either_direction() -> None:
    book = Thesaurus("t", {"film": ("movie", "motion picture"), "show": ("film",), "Play": ("show", "show")})
    source = Listed("t.json", "hash", book)
    found = now(partners_of(["film", "movie", "show", "nothing"], source, services()))
    assert found == {"film": ("movie", "show"), "movie": ("film",), "show": ("film", "play")}
    assert list(words_in(found)) == ["film", "movie", "play", "show"]
    assert now(partners_of(["film"], table(film="movie"), services())) == {"film": ("movie",)}
