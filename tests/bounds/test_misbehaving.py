"""Victims that misbehave: none of them gets a false certificate, and the page says what is wrong."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import pytest

import mohs
from mohs.models.function import FunctionVictim
from tests.toys import Table, WordCount

WEIGHTS = {"good": 1.5, "fine": 0.5, "poor": -1.0, "bad": -2.0, "film": 0.3, "plot": -0.4, "great": 2.5}
OFFERED = {"good": "fine poor", "great": "fine bad", "film": "plot", "bad": "poor fine", "plot": "film"}
SOURCE = Table(tuple((word, tuple(others.split())) for word, others in OFFERED.items()))
WORDS = list(WEIGHTS)
Answer = Callable[[list[str]], list[list[float]]]


def texts(count: int = 24) -> list[str]:
    random = Random(7)
    return list(dict.fromkeys(" ".join(random.choices(WORDS, k=random.randint(2, 5))) for _ in range(count)))


def truth(text: str) -> list[float]:
    return list(WordCount(WEIGHTS).scores((text,)))


def holds(text: str, label: int, radius: int) -> bool:
    """The oracle: every text with at most that many substitutions, the long way round."""
    words = text.split()
    options = [[word, *OFFERED.get(word, "").split()] for word in words]
    near = (new for new in product(*options) if sum(map(str.__ne__, new, words)) <= radius)
    return all(truth(" ".join(new))[label] > 0.5 for new in near)


def right(given: list[str]) -> list[list[float]]:
    return [truth(text) for text in given]


def backwards() -> Answer:
    return lambda given: right(given)[::-1]


def sorted_and_not_put_back() -> Answer:
    return lambda given: right(sorted(given))


def shifted() -> Answer:
    return lambda given: right([*given[1:], given[0]])


def noisy(first: int, last: int) -> Callable[[], Answer]:
    """Calls from the first to the last one are answered at random."""

    def make() -> Answer:
        calls, random = iter(range(10**9)), Random(3)

        def answer(given: list[str]) -> list[list[float]]:
            if not first <= next(calls) < last:
                return right(given)
            return [truth(text)[:: random.choice((1, -1))] for text in given]

        return answer

    return make


def flips(share: float) -> Callable[[], Answer]:
    def make() -> Answer:
        random = Random(5)
        return lambda given: [truth(text)[:: -1 if random.random() < share else 1] for text in given]

    return make


def another_class_in_batches() -> Answer:
    return lambda given: [[*row, 0.0] for row in right(given)] if len(given) > 2 else right(given)


def sorts_what_it_gets() -> Answer:
    def answer(given: list[str]) -> list[list[float]]:
        rows = right(given)
        given.sort()
        return rows[::-1]

    return answer


def other_in_batches_of(least: int) -> Callable[[], Answer]:
    """Always sure of the first class in a large batch, as a forgotten mask may make it."""
    return lambda: lambda given: [[0.95, 0.05]] * len(given) if len(given) >= least else right(given)


def moved_in_batches() -> Answer:
    return lambda given: [[p + (0.5 - p) * 0.6 * (len(given) > 1) for p in row] for row in right(given)]


def remembers_the_last() -> Answer:
    last: list[list[float]] = [[0.5, 0.5]]

    def answer(given: list[str]) -> list[list[float]]:
        found = [last[0], *right(given)][: len(given)]
        last[0] = right(given)[-1]
        return found

    return answer


MISBEHAVING: dict[str, Callable[[], Answer]] = {
    "backwards": backwards,
    "sorted and not put back": sorted_and_not_put_back,
    "shifted by one": shifted,
    "noisy at first": noisy(0, 8),
    "noisy after seven calls": noisy(7, 10**9),
    "noisy after forty calls": noisy(40, 10**9),
    "noisy after sixty calls": noisy(60, 10**9),
    "noisy after two hundred calls": noisy(200, 10**9),
    "noisy for a while": noisy(50, 90),
    "5% flips": flips(0.05),
    "30% flips": flips(0.3),
    "another class in batches": another_class_in_batches,
    "sorts what it gets": sorts_what_it_gets,
    "other in batches of 2": other_in_batches_of(2),
    "other in batches of 5": other_in_batches_of(5),
    "other in batches of 40": other_in_batches_of(40),
    "moved in batches": moved_in_batches,
    "remembers the last": remembers_the_last,
}
SHOWN_AT_ONCE = ["backwards", "sorted and not put back", "shifted by one", "other in batches of 2", "moved in batches"]
GIVEN: dict[str, Any] = {"source": SOURCE, "stopwords": "none", "max_r": 2}


def rows() -> list[tuple[str, int]]:
    return [(text, int(truth(text)[1] > 0.5)) for text in texts()]


@pytest.mark.parametrize("kind", MISBEHAVING)
@pytest.mark.parametrize("at_once", [1, 64])
def test_no_false_certificate(kind: str, at_once: int) -> None:
    with mohs.radius(FunctionVictim(MISBEHAVING[kind]()), rows(), at_once=at_once, **GIVEN) as run:
        certified = [row["certificate"] for row in run.radii() if "certificate" in row]
    false = [c for c in certified if not holds(c["text"][0], c["label"], c["radius"])]
    assert false == []


def test_a_victim_that_behaves_is_certified_as_far_as_brute_force_says() -> None:
    with mohs.radius(FunctionVictim(right), rows(), **GIVEN) as run:
        found = {row["certificate"]["text"][0]: row["lower"] for row in run.radii() if "certificate" in row}
        assert run.view().notes == []
    for text, label in rows():
        true = max((r for r in (0, 1, 2) if holds(text, label, r)), default=0)
        places = sum(word in OFFERED for word in text.split())
        assert found.get(text, 0) == min(true, places)
    assert len(found) > 5


@pytest.mark.parametrize("kind", ["other in batches of 40", "noisy after sixty calls", "5% flips"])
def test_what_shows_only_later_is_flagged_too(kind: str) -> None:
    offered = Table(tuple((word, tuple(f"{word}{end}" for end in "abcdefghij")) for word in WORDS))
    examples = [(text, int(truth(text)[1] > 0.5)) for text in ("good great fine film", "bad poor plot bad")]
    model = FunctionVictim(MISBEHAVING[kind]())
    with mohs.radius(model, examples, source=offered, stopwords="none", max_r=2) as run:
        assert all(row["lower"] == 0 for row in run.radii())
        assert any("have no certificate because the victim" in note for note in run.view().notes)


def test_an_attack_that_was_misled_is_flagged() -> None:
    offered = Table(tuple((word, tuple(f"{word}{end}" for end in "abcdefghij")) for word in WORDS))
    examples = [("good great fine film good great", 1), ("good great great film good", 1)]
    model = FunctionVictim(MISBEHAVING["other in batches of 40"]())
    with mohs.attack(model, examples, [mohs.attacks.Greedy(offered, (), frozenset())]) as run:
        (summary,) = run.summary()
        assert (summary.success.hits, summary.apart) == (0, 2)
        assert any("2 of 2 final texts differently in a batch than alone" in note for note in run.view().notes)
    with mohs.attack(FunctionVictim(right), examples, [mohs.attacks.Greedy(offered, (), frozenset())]) as run:
        assert run.summary()[0].apart == 0


@pytest.mark.parametrize("kind", SHOWN_AT_ONCE)
def test_a_victim_that_answers_otherwise_in_batches_is_flagged(kind: str, tmp_path: Path) -> None:
    sentence = "The victim answers differently in batches than alone"
    model = FunctionVictim(MISBEHAVING[kind](), name="odd")
    with mohs.radius(model, rows(), **GIVEN) as run:
        assert {(row["lower"], row["stopped"]) for row in run.radii()} == {(0, "batches")}
        assert any(sentence in note for note in run.view().notes)
    with mohs.attack(model, rows()[:4], ["random"], out=tmp_path / "run") as run:
        assert any(sentence in note for note in run.view().notes)
        assert sentence in run.report().read_text("utf-8")
