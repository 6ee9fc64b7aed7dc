"""Frequency-guided word substitutions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from mohs.defences import Fgws
from mohs.defences.frequency import Frequencies
from mohs.detecting.roc import area_of
from mohs.errors import BadInput
from mohs.models.function import FunctionVictim
from mohs.models.victim import Fields, Scores, answers_of
from mohs.text.vectors import Vectors

COUNTS = {"good": 50, "bad": 50, "film": 40, "fine": 9, "swell": 2, "dire": 1, "flick": 1}
PLACES = {
    "good": (0, 0),
    "fine": (0, 1),
    "swell": (0, 2),
    "bad": (9, 0),
    "dire": (9, 1),
    "film": (5, 5),
    "flick": (5, 6),
}
BOOKS = {"vectors": Vectors("toy", tuple(PLACES), np.array(list(PLACES.values()), np.float32))}
SAYS = {"good": 2.0, "fine": 1.0, "bad": -2.0, "swell": -3.0, "dire": 3.0}  # rare words read wrong: what attacks use


class Synonyms:
    """WordNet with one entry."""

    name = "toy"
    fingerprint = "toy-1"

    def synonyms(self, word: str) -> list[str]:
        return ["Film", "movie"] if word == "flick" else []


def scores(texts: list[str]) -> list[Scores]:
    found: list[Scores] = []
    for text in texts:
        logit = sum(SAYS.get(word.lower().strip("."), 0.0) for word in text.split())
        positive = 1 / (1 + np.exp(-logit))
        found.append((1 - positive, positive))
    return found


VICTIM = FunctionVictim(scores, labels=("no", "yes"), name="toy", fingerprint="toy")


def guard(**settings: Any) -> Frequencies:
    return Frequencies(VICTIM, Fgws(**{"k": 2, "delta": 70, "books": BOOKS, **settings}), COUNTS)


def suspicions(texts: Sequence[Fields], **settings: Any) -> list[float]:
    found = answers_of(VICTIM, list(texts))
    answers = np.array([found[text] for text in texts])
    return [round(value, 4) for value in guard(**settings).suspicions(texts, answers).tolist()]


def test_rare_words_are_exchanged_for_their_most_frequent_neighbour() -> None:
    found = guard().without_rare([("A swell film.",), ("A Dire FLICK.",), ("A good film.",), ("swell", "unknown dire")])
    assert found == [("A good film.",), ("A Bad FILM.",), ("A good film.",), ("good", "unknown bad")]


def test_only_words_below_the_percentile_are_rare() -> None:
    """The counts are 1, 1, 2, 9, 40, 50, 50, so the median is 9 and the 70th percentile lies at 40 or a little more."""
    assert guard(delta=50).without_rare([("fine swell",)]) == [("fine good",)]
    assert guard(delta=70).without_rare([("fine swell",)]) == [("good good",)]
    assert guard(delta=1).without_rare([("fine swell dire",)]) == [("fine swell dire",)]
    assert guard(delta=1).without_rare([("flick unknown",)]) == [("flick unknown",)]


def test_a_neighbour_must_be_more_frequent() -> None:
    alone = {**COUNTS, "good": 1, "fine": 1}
    rare = Frequencies(VICTIM, Fgws(k=2, delta=70, books=BOOKS), alone)
    assert rare.without_rare([("swell",)]) == [("swell",)]


def test_wordnet_and_both() -> None:
    books = {"wordnet": Synonyms()}
    assert guard(words="wordnet", books=books).without_rare([("Flick swell",)]) == [("Film swell",)]
    assert guard(words="both", books={**BOOKS, **books}).without_rare([("flick swell",)]) == [("film good",)]


def test_golden_drops() -> None:
    texts: list[Fields] = [("a swell film",), ("a dire film",), ("good swell",), ("good dire",), ("bad film",)]
    assert suspicions(texts) == [0.8334, 0.8334, 0.7131, 0.4933, 0.0]
    # 1. "swell" is read as no with sigmoid(3) = 0.9526; "good" gives sigmoid(-2) = 0.1192.
    # 3. "good swell" is no with sigmoid(1) = 0.7311; "good good" gives sigmoid(-4) = 0.0180.


def test_a_rise_is_no_suspicion() -> None:
    assert suspicions([("fine",)]) == [0.0]  # "good" is read as yes even more


def test_inserted_rare_synonyms_are_found() -> None:
    random = np.random.default_rng(0)
    low: list[Fields] = []
    high: list[Fields] = []
    for _ in range(60):
        words = random.choice(["good", "bad", "film", "fine", "a", "the"], 6).tolist()
        low.append((" ".join(words),))
        swapped = [{"good": "swell", "bad": "dire"}.get(word, word) for word in words]
        high.append((" ".join(swapped),))
    say = answers_of(VICTIM, [*dict.fromkeys(low + high)])
    attacked = [place for place in range(60) if np.argmax(say[low[place]]) != np.argmax(say[high[place]])]
    assert len(attacked) >= 20
    names = [str(number) for number in range(60)]
    found = area_of(
        suspicions([high[place] for place in attacked]), suspicions(low), [names[p] for p in attacked], names
    )
    assert found.value is not None
    assert found.value > 0.9


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"delta": 0}, "delta=0; give a percentile above 0"),
        ({"delta": 101}, "delta=101"),
        ({"k": 0}, "k=0"),
        ({"words": "guesses"}, "neighbours, wordnet, both, not from 'guesses'"),
    ],
)
def test_settings_that_make_no_sense(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        Fgws(**settings)


def test_a_victim_with_labels_only() -> None:
    def answer(texts: list[str]) -> list[int]:
        return [0 for _ in texts]

    hard = FunctionVictim(answer, labels=("no", "yes"), name="hard", fingerprint="hard", output="labels")
    with pytest.raises(BadInput, match="fgws measures how far a score falls, but hard gives labels only"):
        Fgws().check(hard)
