"""Kuleshov's greedy attack."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import mohs
from mohs.attacks.kuleshov import Kuleshov, paper, textattack
from mohs.attacks.method import needs
from mohs.records import Outcome, Record
from mohs.space import LogProbDrop, Neighbours, SentenceSimilarity, WordsBeyond
from mohs.text.questions import Scored
from tests.toys import WordCount, table

SPACE = table(good="nice decent", truly="really", film="movie")
WEIGHTS = {"good": 3.0, "truly": 1.0, "nice": 1.5, "decent": 0.5, "really": -1.0, "film": 0.5, "movie": -2.0}


class Rare:
    """A language model to which every word costs one nat, and some words more."""

    name = fingerprint = "rare"
    in_flight = 1

    def __init__(self, **cost: float) -> None:
        self.cost = cost

    def plan(self, items: list[str]) -> list[list[str]]:
        return [items]

    def launch(self, batch: list[str]) -> list[str]:
        return batch

    def collect(self, ticket: list[str]) -> list[Scored]:
        return [
            Scored((0,) * len(t.split()), (0,) * len(t.split()), tuple(-self.cost.get(w, 1.0) for w in t.split()))
            for t in ticket
        ]


def attack(method: Any, text: str = "a truly good film", **options: Any) -> Record:
    with mohs.attack(WordCount(WEIGHTS), [(text, 1)], [method], **options) as run:
        return next(run.records())


def only(preset: Any, kind: type) -> Any:
    """A preset over the small space, with one of its constraints."""
    kept = tuple(c for c in preset().constraints if isinstance(c.measure, kind))
    assert len(kept) == 1
    return replace(preset(), source=SPACE, constraints=kept, stopwords=frozenset())


def test_half_of_the_words_at_most() -> None:
    record = attack(only(Kuleshov, WordsBeyond))
    # Odds 4.5: good -> decent takes 2.5, film -> movie as much and comes later, truly -> really 2.
    # Both of them leave -0.5: fooled with two of four words.
    assert (record.outcome, record.perturbed) == (Outcome.SUCCESS, ("a truly decent movie",))
    assert record.queries == 1 + 4 + 2
    record = attack(only(Kuleshov, WordsBeyond), "truly good film")  # one of three
    assert (record.outcome, len(record.edits), record.queries) == (Outcome.FAILED, 1, 5)
    record = attack(only(textattack, WordsBeyond), "truly good film")  # rounded up, two of three
    assert (record.outcome, record.perturbed) == (Outcome.SUCCESS, ("truly decent movie",))


def test_the_goal_of_the_paper() -> None:
    record = attack(only(Kuleshov, WordsBeyond), goal="below:0.7")
    assert record.outcome is Outcome.SUCCESS
    assert record.scores_after[1] < 0.7


def test_the_language_model_bounds_the_whole_text() -> None:
    method = only(paper, LogProbDrop)
    # Each of the two costs 1 nat, together 2, and just so; at 1.5 each movie may not follow decent, and really does.
    assert attack(method, lm=Rare(decent=2.0, movie=2.0)).perturbed == ("a truly decent movie",)
    assert attack(method, lm=Rare(decent=2.5, movie=2.5)).perturbed == ("a really decent film",)
    assert "lm" not in needs(Kuleshov())
    assert "lm" in needs(paper())
    assert "lm" in needs(textattack())


def test_the_bounds_of_the_presets() -> None:
    for preset, squared in ((Kuleshov, 0.2**2), (paper, 0.2**2), (textattack, 0.2)):
        (thought,) = (c for c in preset().constraints if isinstance(c.measure, SentenceSimilarity))
        assert thought.measure == SentenceSimilarity(angular=False)
        assert thought.at_least == pytest.approx(1 - squared / 2)  # of unit vectors
        assert preset().source == Neighbours(k=15, min_cosine=-1.0)
        assert only(preset, WordsBeyond).constraints[0].measure == WordsBeyond(share=0.5, up=preset is textattack)
