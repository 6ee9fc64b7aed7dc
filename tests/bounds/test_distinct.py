"""Sizes and shares count texts, not combinations of substitutions: against brute force."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import product
from random import Random
from typing import Any, ClassVar

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from scipy.stats import chisquare

import mohs
from mohs.bounds import Points, Share
from mohs.bounds.distinct import Distinct
from mohs.errors import BadInput
from mohs.models.function import FunctionVictim
from mohs.space import Listed, Space
from mohs.text import Text
from mohs.text.thesaurus import Thesaurus
from tests.toys import Instant, now

PIECES = ("a", "b", "c", "a b", "b a", "", "a  b", "a, b", "b,", " a", "don't")
GAPS = (" ", ", ", " (", "  ", ". ")


@st.composite
def odd_spaces(draw: st.DrawFn) -> Space:
    """Spaces with substitutes of several words or none; some stand there twice, some are the word itself."""
    words = draw(st.lists(st.sampled_from("abc"), min_size=1, max_size=4))
    gaps = draw(st.lists(st.sampled_from(GAPS), min_size=len(words) - 1, max_size=len(words) - 1))
    string = draw(st.sampled_from(("", "( ", "  "))) + words[0]
    string += "".join(gap + word for gap, word in zip(gaps, words[1:], strict=True))
    text = Text(string + draw(st.sampled_from(("", ".", " "))), *draw(st.sampled_from(((), ("b c",)))))
    own = st.lists(st.sampled_from(PIECES), min_size=1, max_size=3).map(tuple)
    return Space(text, draw(st.dictionaries(st.sampled_from(range(len(text))), own)))


def combinations_of(space: Space) -> list[tuple[tuple[int, ...], Any]]:
    """Every combination, as the number of the word at each position (0: the original), with its text."""
    places = sorted(space.choices)
    found = []
    for numbers in product(*(range(len(space.choices[place]) + 1) for place in places)):
        edits = {place: space.choices[place][n - 1] for place, n in zip(places, numbers, strict=True) if n}
        found.append((numbers, space.text.replace_all(edits).fields))
    return found


def ordered(space: Space) -> Space:
    return Space(space.text, {place: space.choices[place] for place in sorted(space.choices)})


def texts_within(space: Space, r: int) -> set[Any]:
    return {text for numbers, text in combinations_of(space) if sum(map(bool, numbers)) <= r}


@settings(max_examples=80, deadline=None)
@given(odd_spaces())
def test_every_text_has_one_first_combination_with_the_fewest_changes(space: Space) -> None:
    space = ordered(space)
    found = combinations_of(space)
    least: dict[Any, Any] = {}
    for numbers, text in found:
        least[text] = min(least.get(text, (9,)), (sum(map(bool, numbers)), numbers))
    distinct = Distinct(space)
    places = np.array([[i if n else -1 for i, n in enumerate(numbers)] for numbers, _ in found], np.int32)
    picks = np.array([[n - 1 for n in numbers] for numbers, _ in found], np.int32)
    first = distinct.first(places.reshape(len(found), -1), picks.reshape(len(found), -1))
    assert first.tolist() == [least[text][1] == numbers for numbers, text in found]
    if distinct.plain:
        assert len(least) == len(found)


def test_single_words_are_known_to_differ() -> None:
    text = Text("well-made films - I don't know, 3 of them")
    assert Distinct(Space(text, {0: ("good", "don't"), 3: ("won't", "l'été"), 5: ("4",)})).plain
    for odd in ("", "two words", "U.S.", "it!", "films", "-"):  # the last but one is the word itself
        assert not Distinct(Space(text, {1: ("movies", odd)})).plain
    assert not Distinct(Space(text, {1: ("movies", "movies")})).plain


@settings(max_examples=40, deadline=None)
@given(odd_spaces(), st.integers(0, 5))
def test_a_counted_share_is_one_of_texts(space: Space, r: int) -> None:
    space = ordered(space)
    victim = Instant(lambda fields: (0.9, 0.1) if len(fields[0]) % 3 else (0.1, 0.9))
    found = now(Share(str(r))(Points(space, victim, victim), 0, 5, "seed"))
    texts = texts_within(space, r)
    held = sum(len(fields[0]) % 3 > 0 for fields in texts)
    assert (found.method, found.size, found.n, found.hold) == ("counted", len(texts), len(texts), held)
    assert len(victim.asked) == len(texts)


def test_two_substitutions_that_give_one_text_are_one() -> None:
    def predict(texts: list[str]) -> list[list[float]]:
        return [[0.1, 0.9] if text == "a x b" else [0.9, 0.1] for text in texts]

    source = Offered((("a", ("a x",)), ("b", ("x b",))))
    (row,) = mohs.radius(predict, [("a b", 0)], source=source, stopwords="none", share=1, max_r=0).radii()
    assert (row["share"]["value"], row["share"]["size"]) == (0.5, 2)  # a b, a x b


def test_levels_are_told_in_texts_and_certificates_still_hold(tmp_path: Any) -> None:
    model = FunctionVictim(lambda texts: [[0.9, 0.1] for _ in texts])
    source = Offered((("a", ("a x", "y")), ("b", ("x b",))))
    given: dict[str, Any] = {"source": source, "stopwords": "none", "max_r": 2}
    with mohs.radius(model, [("a b", 0)], out=tmp_path / "run", **given) as run:
        (row,) = run.radii()
        (record,) = run.records()
    # With one change "a x b" (twice) and "y b"; with two "a x x b" and "y x b".
    assert row["sizes"] == [2, 2]
    assert record.queries == 1 + 4
    assert [level["size"] for level in row["certificate"]["levels"]] == [3, 2], "combinations, which are all checked"
    ((_, checked),) = mohs.verify(tmp_path / "run", model)
    assert (checked.sound, checked.whole) == (True, True)


def test_case_variants_and_the_word_itself_are_no_other_texts() -> None:
    asked: list[str] = []

    def predict(texts: list[str]) -> list[list[float]]:
        asked.extend(texts)
        return [[0.9, 0.1] for _ in texts]

    book = Thesaurus("own", {"good": ("fine", "Fine", "GOOD", "good", "fine"), "film": ("Film", "movie")})
    source = Listed("own", "own", book)
    (row,) = mohs.radius(predict, [("GOOD Film", 0)], source=source, stopwords="none", share=2, max_r=2).radii()
    texts = {text for text in asked if text.split()[0] in ("GOOD", "FINE")}
    assert texts == {"GOOD Film", "FINE Film", "GOOD Movie", "FINE Movie"}
    assert (row["sizes"], row["share"]["n"]) == ([2, 1], 4)


def test_large_spaces_are_drawn_uniformly_over_texts() -> None:
    """Deleting one of five equal words gives one text, and yet every text must be drawn alike."""
    space = Space(Text("a a a a b"), {**dict.fromkeys(range(4), ("", "a a")), 4: ("c", "b b")})
    texts = texts_within(space, 3)
    seen: Counter[Any] = Counter()

    def victim(fields: Any) -> tuple[float, float]:
        seen[fields] += 1
        return (0.9, 0.1)

    edits = sum(sum(map(bool, numbers)) <= 3 for numbers, _ in combinations_of(space))
    share = Share("3", n=edits - 1)  # one less than would be counted
    for seed in range(20):
        found = now(share(Points(space, Instant(victim), Instant(victim)), 0, 5, f"{seed}"))
        assert found.n == edits - 1
        assert found.size == pytest.approx(len(texts), rel=0.5)
    assert set(seen) == texts
    assert 3 * len(texts) < edits
    assert chisquare(list(seen.values())).pvalue > 0.01
    draws: Counter[Any] = Counter()
    sampler = space.sampler(3)
    random = Random(0)
    for _ in range(seen.total()):
        draws[space.text.replace_all(sampler(random)).fields] += 1
    assert chisquare([draws[text] for text in texts]).pvalue < 1e-6, (
        "combinations drawn alike are not texts drawn alike"
    )


def test_a_space_with_hardly_any_different_texts_is_refused_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mohs.bounds.share._MOST_ROUNDS", 20)
    space = Space(Text(" ".join("a" * 12)), dict.fromkeys(range(12), ("",)))
    victim = Instant(lambda fields: (0.9, 0.1))
    with pytest.raises(BadInput, match="different texts, so the share cannot be estimated; use a source of single"):
        now(Share("6", n=40)(Points(space, victim, victim), 0, 12, "seed"))


@dataclass(frozen=True)
class Offered:
    """A source that offers whatever it is told."""

    rows: tuple[tuple[str, tuple[str, ...]], ...]
    needs: ClassVar[tuple[str, ...]] = ()

    async def __call__(self, text: Text, positions: Any, ask: Any) -> list[dict[str, str]]:
        return [dict.fromkeys(dict(self.rows)[text.words[position]], "offered") for position in positions]
