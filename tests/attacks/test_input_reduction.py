"""Input reduction: the shortest text with the same prediction."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from random import Random
from typing import Any

import pytest

import mohs
from mohs.attacks.input_reduction import InputReduction, RankedInputReduction, greedy
from mohs.records import Outcome, Record
from tests.toys import WordCount

WEIGHTS = {"good": 3.0, "truly": 1.0, "dull": -2.0}


def attack(method: Any, text: Any = "a truly good dull film", victim: Any = None, **options: Any) -> Record:
    with mohs.attack(victim or WordCount(WEIGHTS), [mohs.Example.of(text, 1)], [method], **options) as run:
        return next(run.records())


def test_least_important_first_until_one_word_is_left() -> None:
    victim = WordCount(WEIGHTS)
    record = attack(greedy(), victim=victim)
    # dull goes first (odds 2 -> 4), then a and film (no change, the text that sorts first), then truly; good stays.
    assert record.perturbed == ("good",)
    three = {text for (text,) in victim.asked if len(text.split()) == 3}
    assert three == {"truly good film", "a good film", "a truly film", "a truly good"}
    assert record.queries == 1 + 5 + 4 + 3 + 2


def test_the_verdict_says_failed_and_the_record_how_short() -> None:
    record = attack(InputReduction())
    assert record.outcome is Outcome.FAILED
    assert record.measures == {"share of words changed": 0.8}
    assert [(edit.old, edit.new, edit.source) for edit in record.edits] == [
        (old, "", "delete") for old in ("a", "truly", "dull", "film")
    ]


def test_a_beam_finds_what_greedy_reduction_misses() -> None:
    # Without a the victim is surest, but b c cannot be shortened; a c can.
    answers = {"a b c": 0.9, "b c": 0.9, "a c": 0.8, "a b": 0.7, "a": 0.6}

    def victim(texts: list[str]) -> list[tuple[float, float]]:
        return [(1 - answers.get(text, 0.1), answers.get(text, 0.1)) for text in texts]

    assert attack(greedy(), "a b c", victim).perturbed == ("b c",)
    assert attack(InputReduction(width=2), "a b c", victim).perturbed == ("a",)
    # Ranked once: the order is a, b, c; b c stays, and neither b nor c can follow.
    record = attack(replace(RankedInputReduction(), stopwords=frozenset()), "a b c", victim)
    assert (record.perturbed, record.queries) == (("b c",), 1 + 3 + 2)


@pytest.mark.parametrize("seed", range(10))
def test_a_wide_beam_finds_the_shortest_that_can_be_reached(seed: int) -> None:
    words = "v w x y z".split()

    def positive(text: str) -> float:
        return 0.9 if text == "v w x y z" else round(Random(f"{seed}/{text}").random(), 3)

    def victim(texts: list[str]) -> list[tuple[float, float]]:
        return [(1 - positive(text), positive(text)) for text in texts]

    reached, shortest = {tuple(words)}, tuple(words)
    for left in range(4, 0, -1):  # one word fewer at a time, and the prediction stays at every step
        smaller = {c for text in reached for c in combinations(text, left) if positive(" ".join(c)) > 0.5}
        if not smaller:
            break
        reached, shortest = smaller, min(smaller, key=lambda c: (-positive(" ".join(c)), c))
    assert attack(InputReduction(width=99), "v w x y z", victim).perturbed == (" ".join(shortest),)


def test_ranked_reduction_leaves_stopwords_and_does_not_rank_again() -> None:
    victim = WordCount(WEIGHTS)
    record = attack(RankedInputReduction(), victim=victim)
    # dull, film, truly in the order of what is left without them; a is a stopword, good the last that may go
    assert record.perturbed == ("a good",)
    assert record.queries == 1 + 4 + 2  # dull alone was asked about already


def test_at_least_one_word_of_the_hypothesis_stays() -> None:
    record = attack(InputReduction(), ("truly good", "film dull good"))
    assert record.perturbed is not None
    assert record.perturbed[0] == "truly good"
    assert len(record.perturbed[1].split()) == 1


@pytest.mark.parametrize("budget", range(1, 16))
def test_on_a_budget_the_shortest_so_far(budget: int) -> None:
    record = attack(greedy(), budget=budget)
    assert record.queries <= budget
    assert record.outcome is (Outcome.FAILED if budget == 15 else Outcome.EXHAUSTED)
    assert (record.perturbed == ("good",)) == (budget >= 14)
