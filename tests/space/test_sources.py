from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mohs.engine import run
from mohs.space import (
    AddLetter,
    ChangeLetter,
    DropLetter,
    Homoglyphs,
    Keyboard,
    Listed,
    MaskedWords,
    Neighbours,
    OneOf,
    Sememes,
    Source,
    SplitWord,
    SwapLetters,
    Synonyms,
    Union,
    UnmaskedWords,
    parse_source,
)
from mohs.space.sources import in_order, offers
from mohs.space.space import build_space
from mohs.tasks.described import describe
from mohs.text import Text
from mohs.text.nearest import Nearest
from mohs.text.questions import Blank, Filled, Guess, Piece, Pieces, Spelling, Spot, Tag
from mohs.text.sememes import Sememes as SememeBook
from mohs.text.vectors import Vectors
from tests.toys import now, services, table

VECTORS = Vectors(
    "toy",
    ("good", "fine", "bad", "odd", "ok"),
    np.array([[1, 0], [0.6, 0.8], [-1, 0], [0, 2], [0.8, 0.6]], np.float32),
)


def offered(source: Source, text: str, **parts: Any) -> list[dict[str, str]]:
    x, ask = Text(text), services(**parts)
    return [now(in_order(found, ask)) for found in now(source(x, range(len(x)), ask))]


def test_neighbours_by_cosine_and_by_distance() -> None:
    found = offered(Neighbours(k=3, min_cosine=-1), "Good new", vectors=VECTORS)
    assert [list(offer) for offer in found] == [["Ok", "Fine", "Odd"], []]
    assert set(found[0].values()) == {"neighbours"}
    assert list(offered(Neighbours(k=9, min_cosine=0.7), "good", vectors=VECTORS)[0]) == ["ok"]
    near = Neighbours(k=9, min_cosine=-1, max_distance=0.8001)
    assert list(offered(near, "good", vectors=VECTORS)[0]) == ["ok", "fine"]
    assert list(offered(Neighbours(k=9, min_cosine=0.7, max_distance=4), "good", vectors=VECTORS)[0]) == ["ok"]
    assert list(offered(Neighbours(k=1, min_cosine=-1), "GOOD", vectors=VECTORS)[0]) == ["OK"]


class Book:
    """A WordNet of two words."""

    def synonyms(self, word: str, pos: str | None) -> list[str]:
        rows = {("film", "n"): ["movie", "picture"], ("film", "v"): ["shoot", "movie"]}
        return [w for (entry, kind), ws in rows.items() if entry == word and pos in (None, kind) for w in ws]


def tag(spot: Spot) -> Tag:
    before = spot.text[: spot.start].split()
    if before and before[-1] == "to":
        return Tag("VERB", "VB")
    return Tag("DET", "DT") if spot.text[spot.start : spot.end] == "a" else Tag("NOUN", "NN")


def test_synonyms_of_any_or_the_same_part_of_speech() -> None:
    anything = offered(Synonyms(), "to Film a film", wordnet=Book())
    assert [list(offer) for offer in anything] == [[], ["Movie", "Picture", "Shoot"], [], ["movie", "picture", "shoot"]]
    same = offered(Synonyms(same_pos=True), "to Film a film", wordnet=Book(), tagger=tag)
    assert [list(offer) for offer in same] == [[], ["Shoot", "Movie"], [], ["movie", "picture"]]
    assert Synonyms().needs == ("wordnet",)
    assert Synonyms(same_pos=True).needs == ("wordnet", "tagger")


def guesses(*pairs: tuple[str, float]) -> tuple[Guess, ...]:
    return tuple(Guess(text.removeprefix("##"), logit, not text.startswith("##")) for text, logit in pairs)


WORDS = tuple("abcdefghij")
HALF = 5  # the first five share their sememes, so do the others


def sememes_of_ten(seed: int) -> dict[str, Any]:
    """Ten words in two groups of equal sememes, with random vectors; one has none."""
    random = np.random.default_rng(seed)
    groups = (WORDS[:HALF], WORDS[HALF:])
    book = {word: {"noun": tuple(w for w in own if w != word)} for own in groups for word in own}
    vectors = Vectors("toy", WORDS, random.normal(size=(len(WORDS), 3)).astype(np.float32))
    return {"sememes": SememeBook("toy", book), "vectors": vectors, "tagger": lambda spot: Tag("NOUN", "NN")}


@pytest.mark.parametrize("seed", range(5))
def test_symmetric_sememes_add_the_words_that_have_a_word_among_their_nearest(seed: int) -> None:
    parts = sememes_of_ten(seed)

    def lists(source: Source) -> dict[str, list[str]]:
        return dict(zip(WORDS, map(list, offered(source, " ".join(WORDS), **parts)), strict=True))

    cut, both, every = lists(Sememes(k=2)), lists(Sememes(k=2, symmetric=True)), lists(Sememes())
    assert every == lists(Sememes(symmetric=True)), "without a cut nothing is to be added"
    for one in WORDS:
        assert both[one][:2] == cut[one], "the nearest stay first"
        assert set(both[one]) == {other for other in every[one] if other in cut[one] or one in cut[other]}
        assert all(one in both[other] for other in both[one])
    assert any(len(both[one]) > 2 for one in WORDS)


def test_runs_of_earlier_versions_know_sememes_by_the_same_name() -> None:
    assert describe(Sememes(k=5)) == "Sememes(k=5)"
    assert describe(Sememes(k=5, symmetric=True)) == "Sememes(k=5, symmetric=True)"
    assert parse_source("sememes:k=5,symmetric=yes") == Sememes(k=5, symmetric=True)


def test_masked_words() -> None:
    def fill(blank: Blank) -> Filled:
        best = guesses(("fine", 9.0), ("good", 8.5), ("##ly", 8.0), (".", 7.5), ("nice", 6.0), ("rare", 5.0))
        return Filled(best[: blank.k], math.log(sum(math.exp(g.logit) for g in best)))

    ask = {"masked_lm": fill}
    assert list(offered(MaskedWords(), "Good", **ask)[0]) == ["Fine", "Nice", "Rare"]
    assert list(offered(MaskedWords(), "gOOd", **ask)[0]) == [
        "fine",
        "nice",
        "rare",
    ]  # in any case it is the word itself
    assert list(offered(MaskedWords(k=4), "good", **ask)[0]) == ["fine"]
    assert list(offered(MaskedWords(gap=3), "good", **ask)[0]) == ["fine"]  # 6.0 is not more than 9 - 3
    assert list(offered(MaskedWords(gap=3.5), "good", **ask)[0]) == ["fine", "nice"]
    assert list(offered(MaskedWords(min_probability=0.02), "bad", **ask)[0]) == ["fine", "good", "nice"]


def test_each_word_is_masked_in_its_place() -> None:
    ask = services(masked_lm=lambda blank: Filled((), 0.0))
    x = Text("a film", "so good!")
    now(MaskedWords(k=5)(x, [1, 3], ask))
    assert ask.parts["masked_lm"].asked == [Blank(x.fields, 0, 2, 6, 5), Blank(x.fields, 1, 3, 7, 5)]


def test_unmasked_words_of_one_and_of_several_pieces() -> None:
    def answer(item: Any) -> Any:
        if isinstance(item, Spelling):
            return {"rely": 1.0, "reer": 3.0, "dely": 0.5, "deer": 0.5}["".join(item.pieces)]
        assert isinstance(item, Pieces)
        if item.fields[0][item.start : item.end] == "film":
            return (Piece("film", guesses(("movie", 5.0), ("##s", 4.0), ("film", 3.0), (",", 2.0), ("show", 1.0))),)
        return (
            Piece("un", guesses(("re", 2.0), ("de", 1.0), ("x", 0.0))),
            Piece("like", guesses(("##ly", 2.0), ("##er", 1.0), ("##z", 0.0))),
        )

    found = offered(UnmaskedWords(width=2), "film unlike", masked_lm=answer)
    assert list(found[0]) == ["movie", "show"]
    assert list(found[1]) == ["deer", "dely", "rely", "reer"]  # of equals, in the order of the pieces
    capped = offered(UnmaskedWords(width=2, products=2), "unlike", masked_lm=answer)
    assert list(capped[0]) == ["rely", "reer"]

    def unranked(item: Any) -> Any:
        assert isinstance(item, Pieces), "the order is not asked for"
        return answer(item)

    assert list(offered(UnmaskedWords(width=2, ranked=False), "unlike", masked_lm=unranked)[0]) == [
        "rely",
        "reer",
        "dely",
        "deer",
    ]
    assert list(offered(UnmaskedWords(min_logit=4.5), "film", masked_lm=answer)[0]) == ["movie"]


def test_products_are_weighed_when_their_word_is_come_to() -> None:
    weighed: list[str] = []

    def answer(item: Any) -> Any:
        if isinstance(item, Spelling):
            weighed.append("".join(item.pieces))
            return float(len(weighed))
        first = item.fields[0][item.start]
        return Piece(first, guesses((f"{first}z", 2.0), (f"{first}y", 1.0))), Piece("x", guesses(("##x", 1.0)))

    ask = services(masked_lm=answer)
    x = Text("ax bx")
    space = now(build_space(x, UnmaskedWords(width=2), (), frozenset({"byx"}), [0, 1], ask))
    assert (space.choices, weighed) == ({0: ("azx", "ayx"), 1: ("bzx",)}, [])
    assert now(space.words(x, [1], ask)) == [("bzx",)]
    assert weighed == ["bzx", "byx"]
    assert now(space.words(x, [0], ask)) == [("azx", "ayx")]
    assert "azx" in weighed
    union = now(Union((UnmaskedWords(width=2), UnmaskedWords(width=2)))(x, [0], ask))
    assert list(union[0]) == ["azx", "ayx"]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (SwapLetters(), ["ogod", "godo"]),
        (SwapLetters(inner=True), []),
        (DropLetter(), ["ood", "god", "goo"]),
        (DropLetter(inner=True), ["god"]),
        (DropLetter(min_length=5), []),
        (SplitWord(), ["g ood", "go od", "goo d"]),
        (ChangeLetter(letters="x"), ["xood", "gxod", "goxd", "goox"]),
        (AddLetter(letters="o"), ["ogood", "goood", "goodo"]),
    ],
)
def test_letters(source: Source, expected: list[str]) -> None:
    (found,) = offered(source, "good")
    assert sorted(found) == sorted(expected)


@pytest.mark.parametrize("source", [Homoglyphs(), Keyboard(), Keyboard(inner=True)])
def test_letters_that_slip(source: Source) -> None:
    (found,) = offered(source, "Good")
    assert found
    for other in found:
        assert len(other) == 4
        assert sum(a != b for a, b in zip(other, "Good", strict=True)) == 1


def test_a_union_keeps_order_and_the_first_source() -> None:
    union = Union((table(good="fine nice"), Neighbours(k=2, min_cosine=-1)))
    (found,) = offered(union, "good", vectors=VECTORS)
    assert found == {"fine": "table", "nice": "table", "ok": "neighbours"}
    assert union.needs == ("vectors",)


def test_one_of_takes_one_by_the_seed() -> None:
    x = Text("good good film")
    source = OneOf(table(good="fine nice ok great"))
    found = now(source(x, [0, 1, 2], services(seed=1)))
    assert [len(offer) for offer in found] == [1, 1, 0]
    assert found == now(source(x, [0, 1, 2], services(seed=1)))
    seen = {next(iter(now(source(x, [0], services(seed=seed)))[0])) for seed in range(40)}
    assert seen == {"fine", "nice", "ok", "great"}


def test_a_thesaurus_of_the_users_own(tmp_path: Any) -> None:
    file = tmp_path / "mine.json"
    file.write_text('{"good": ["fine", "nice", "fine"], "film": []}', "utf-8")
    found = offered(Listed.read(str(file)), "Good film GOOD")
    assert [list(offer) for offer in found] == [["Fine", "Nice"], [], ["FINE", "NICE"]]


@given(
    st.sampled_from(["good", "Good", "GOOD", "gOOd", "G", "o'Neil", "1st"]),
    st.lists(st.sampled_from(["fine", "Paris", "good", "Good", "GOOD", "eBay", "g", "1st"])),
)
def test_candidates_keep_the_case_pattern_and_never_repeat(old: str, new: list[str]) -> None:
    found = list(offers(old, new, "here"))
    assert old not in found
    assert len(set(found)) == len(found)
    expected = [w.upper() if old == "GOOD" else w[0].upper() + w[1:] if old[0].isupper() else w for w in new]
    assert found == list(dict.fromkeys(w for w in expected if w != old))


def test_the_words_of_many_texts_are_searched_for_together(monkeypatch: pytest.MonkeyPatch) -> None:
    words = tuple("abcdefgh")
    vectors = Vectors("toy", words, np.random.default_rng(1).normal(size=(8, 3)).astype(np.float32))
    asked: list[int] = []
    search = Nearest.__call__

    def noted(self: Nearest, rows: Any, k: int) -> Any:
        asked.append(len(rows))
        return search(self, rows, k)

    monkeypatch.setattr(Nearest, "__call__", noted)
    for source in (Neighbours(k=3, min_cosine=-1), Neighbours(k=3, min_cosine=-1, max_distance=100)):
        ask = services(vectors=vectors)
        texts = [Text("a b"), Text("b c"), Text("d"), Text("e unknown")]
        together = [source(text, range(len(text)), ask) for text in texts]
        found = {ended.key: ended.result for ended in run(enumerate(together), [])}
        assert asked == [5]
        assert [found[n] for n in range(4)] == [now(source(text, range(len(text)), ask)) for text in texts]
        asked.clear()
