"""Validity against cosines: buckets and cells by hand, rank correlation against scipy, and what is compared."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
import pytest
from scipy.stats import spearmanr

from mohs.report.rates import Rate
from mohs.studies.design import read_design
from mohs.studies.item import Item
from mohs.studies.likeness import compared, likeness, replaced
from mohs.studies.relating import relations
from mohs.studies.relations import buckets, cells, rank_correlation

FRAGMENTS, WORDS, MEANING = (read_design(name) for name in ("fragments", "words", "meaning"))


def item(*texts: str, **facts: object) -> Item:
    return Item("i", "meaning", texts, "attack", facts=facts)


def test_buckets_by_hand() -> None:
    numbers = {"a": 0.15, "b": 0.199999, "c": 0.2, "d": 1.0, "e": -0.01, "f": None, "g": math.nan, "h": 0.2}
    verdicts = {name: name != "b" for name in "abcdefg"} | {"h": None}
    found = buckets(numbers, verdicts)
    assert [(one.left, one.count, one.valid) for one in found] == [
        (-0.05, 1, 1),
        (0.15, 2, 1),  # [0.15, 0.20)
        (0.2, 1, 1),  # h has no verdict
        (1.0, 1, 1),
    ]
    assert (found[1].low, found[1].high) == Rate(1, 2, "").interval
    assert found[1].share == 0.5
    assert buckets({}, {}) == ()


def test_cells_need_ten_items() -> None:
    similarity = {f"x{n}": 0.95 for n in range(10)} | {f"y{n}": 0.89 for n in range(9)} | {"z": 0.95}
    cosine: dict[str, float | None] = {**dict.fromkeys(similarity, 0.3), "z": None}
    verdicts = {name: int(name[1:] or 0) < 4 for name in similarity}
    found = cells(similarity, cosine, verdicts)
    assert [(one.left, one.bottom, one.count, one.valid) for one in found] == [(0.8, 0.3, 9, 4), (0.9, 0.3, 10, 4)]
    assert found[0].share is None
    assert found[0].low is None
    assert found[1].share == 0.4
    assert (found[1].low, found[1].high) == Rate(4, 10, "").interval


def test_cells_and_buckets_by_brute_force() -> None:
    random = np.random.default_rng(0)
    numbers = {f"i{n}": float(round(random.uniform(-0.3, 1), 3)) for n in range(2000)}
    others = {name: float(round(random.uniform(0.5, 1), 3)) for name in numbers}
    verdicts = {name: bool(random.random() < 0.3) for name in numbers}
    for one in buckets(numbers, verdicts):
        inside = [name for name, number in numbers.items() if one.left - 1e-9 <= number < one.left + 0.05 - 1e-9]
        assert (one.count, one.valid) == (len(inside), sum(verdicts[name] for name in inside))
    found = cells(numbers, others, verdicts)
    assert sum(one.count for one in found) == 2000
    for cell in found:
        inside = [
            name
            for name in numbers
            if cell.left - 1e-9 <= numbers[name] < cell.left + 0.1 - 1e-9
            and cell.bottom - 1e-9 <= others[name] < cell.bottom + 0.1 - 1e-9
        ]
        assert (cell.count, cell.valid) == (len(inside), sum(verdicts[name] for name in inside))


def test_rank_correlation_is_scipys() -> None:
    random = np.random.default_rng(1)
    x = random.integers(0, 12, 80) / 10  # with ties
    y = x + random.normal(0, 0.5, 80)
    found = rank_correlation({f"i{n}": float(v) for n, v in enumerate(x)}, {f"i{n}": float(v) for n, v in enumerate(y)})
    assert found.value == pytest.approx(float(spearmanr(x, y).statistic))
    assert found.items == 80
    assert found.value is not None
    half = 1.959964 * math.sqrt((1 + found.value**2 / 2) / 77)
    assert found.interval == pytest.approx([math.tanh(math.atanh(found.value) + sign * half) for sign in (-1, 1)])


def test_rank_correlation_without_enough_to_tell() -> None:
    assert rank_correlation({"a": 1.0}, {"a": 1.0}).value is None
    assert rank_correlation({"a": 1.0, "b": 1.0}, {"a": 1.0, "b": 2.0}).value is None
    few = rank_correlation({"a": 1.0, "b": 2.0, "c": 3.0}, {"a": 1.0, "b": 2.0, "c": 1.5})
    assert few.value == pytest.approx(0.5)
    assert few.interval is None
    assert rank_correlation({"a": None, "b": math.nan, "c": 1.0}, {"a": 1.0, "b": 1.0, "c": 1.0}).items == 1


def test_what_is_compared() -> None:
    facts = {
        "original": ["the film was good"],
        "final": ["the movie was bad"],
        "old": "good",
        "new": "bad",
        "position": 3,
    }
    assert replaced(FRAGMENTS, item("was good", "was bad", **facts)) == [("good", "bad")]
    assert compared(FRAGMENTS, item("was good", "was bad", **facts)) == ("the film was good", "the film was bad")
    assert replaced(MEANING, item(**facts)) == [("film", "movie"), ("good", "bad")]
    assert compared(MEANING, item(**facts)) == ("the film was good", "the movie was bad")
    assert replaced(WORDS, item("good", "bad")) == [("good", "bad")]
    assert compared(WORDS, item("good", "bad")) is None  # two words are no text
    assert replaced(MEANING, item("one two", "one two three")) == []  # a word came in
    assert compared(MEANING, item("one text")) is None


class Vectors:
    """Cosines that are written down."""

    known: ClassVar = {("film", "movie"): 0.9, ("good", "bad"): 0.2}

    def cosines(self, word: str, others: list[str]) -> np.ndarray:
        return np.array([self.known.get((word, other), math.nan) for other in others])


class Encoder:
    """The vector of a text is how often it has two letters, made as long as 1."""

    def again(self, questions: list[tuple[str]]) -> list[np.ndarray]:
        found = [np.array([text.count("a"), text.count("b")], float) for (text,) in questions]
        return [one / (np.linalg.norm(one) or 1) for one in found]


def test_a_text_has_the_least_cosine_of_its_words() -> None:
    rows = [
        Item("both", "meaning", ("Film good", "Movie bad"), "attack"),
        Item("one", "meaning", ("film x", "movie x"), "attack"),
        Item("unknown", "meaning", ("film y", "movie z"), "attack"),
        Item("none", "meaning", ("same", "same"), "attack"),
    ]
    found = likeness(MEANING, rows, Vectors(), None)  # type: ignore[arg-type]
    assert found.word == {"both": 0.2, "one": 0.9, "unknown": None, "none": None}
    assert found.text == {}


def test_the_encoders_cosine() -> None:
    rows = [
        Item("half", "meaning", ("a", "ab"), "attack"),
        Item("equal", "meaning", ("ab", "ab"), "attack"),
        Item("nothing", "meaning", ("a", "-"), "attack"),
    ]
    heard: list[tuple[int, int]] = []
    found = likeness(MEANING, rows, None, Encoder(), lambda _, done, total: heard.append((done, total)))  # type: ignore[arg-type]
    assert found.text["half"] == pytest.approx(math.cos(math.pi / 4), abs=1e-6)
    assert found.text["equal"] == 1.0
    assert found.text["nothing"] is None
    assert heard == [(3, 3)]  # each text is encoded once
    told = relations(found, {"half": True, "equal": None, "nothing": False}, {"half": 1.0}, False, 11)
    assert [(one.left, one.count) for one in told.text] == [(0.7, 1)]
    assert told.text_unknown == 1
    assert told.word_unknown == 2
