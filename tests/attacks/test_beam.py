"""Beam search, with brute force as the oracle and the random baseline as the one to beat."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from random import Random
from typing import Any

import pytest

import mohs
from mohs.attacks import RandomWords
from mohs.attacks.beam import Beam
from mohs.attacks.greedy import Greedy
from mohs.records import Outcome, Record
from mohs.space import Constraint, WordsChanged
from mohs.text import Text
from mohs.text.dataset import Dataset
from tests.toys import WordCount, bundled, table

SPACE = table(a="p q", b="r", c="s t", d="u")
PLAIN = Beam(source=SPACE, constraints=(), stopwords=frozenset())
REVIEWS = list(Dataset("pocket", n=60))


def one(victim: Any, text: str, method: Any, **options: Any) -> Record:
    with mohs.attack(victim, [(text, 1)], [method], **options) as run:
        return next(run.records())


def answering(answers: dict[str, float], asked: list[str]) -> Any:
    """A victim that gives each text its own probability of 1; 0.9 if it is not listed."""

    def victim(texts: list[str]) -> list[tuple[float, float]]:
        asked.extend(texts)
        return [(1 - answers.get(text, 0.9), answers.get(text, 0.9)) for text in texts]

    return victim


def test_a_beam_keeps_what_greedy_search_throws_away() -> None:
    # p b is the best first step and leads nowhere; a r is second, and q r is reached only from a r or q b.
    answers = {"p b": 0.6, "a r": 0.7, "q b": 0.8, "p r": 0.6, "q r": 0.2}
    found = {}
    for width in (1, 2):
        asked: list[str] = []
        record = one(answering(answers, asked), "a b", replace(PLAIN, width=width))
        found[width] = (record.outcome, record.perturbed, record.queries, asked[asked.index("p b") :])
    # one: original, three first steps, p r; both: q r as well
    assert found[1][:3] == (Outcome.FAILED, ("p b",), 5)
    assert found[2][:3] == (Outcome.SUCCESS, ("q r",), 6)
    assert "q r" not in found[1][3]


def test_it_goes_on_where_no_step_helps_and_gives_back_the_best() -> None:
    # Every single step makes it worse, both together fool the victim.
    record = one(answering({"a b": 0.8, "p r": 0.1}, []), "a b", replace(PLAIN, width=3))
    assert (record.outcome, record.perturbed) == (Outcome.SUCCESS, ("p r",))
    record = one(answering({"a b": 0.8, "p b": 0.7}, []), "a b", replace(PLAIN, width=1))
    assert (record.outcome, record.perturbed) == (Outcome.FAILED, ("p b",))


def test_the_strongest_winner_of_the_first_step_with_one_is_taken() -> None:
    record = one(answering({"p b": 0.4, "a r": 0.3, "q b": 0.3, "p r": 0.0}, []), "a b", PLAIN)
    assert record.perturbed == ("a r",)  # as strong as q b, and before it
    assert record.queries == 4


def random_victim(seed: int, share: float) -> Any:
    """Probabilities drawn anew for each text, under one half for a share of them."""

    def victim(texts: list[str]) -> list[tuple[float, float]]:
        chances = [Random(f"{seed}/{text}").random() for text in texts]
        sure = [0.5 * c / share if c < share else 0.5 + 0.5 * (c - share) / (1 - share) for c in chances]
        return [(1 - p, p) if text != "a b c d" else (0.0, 1.0) for text, p in zip(texts, sure, strict=True)]

    return victim


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("most", [1, 2, 4])
def test_without_a_width_it_finds_what_brute_force_finds(seed: int, most: int) -> None:
    from mohs.space import Space

    victim = random_victim(seed, 0.06)
    space = Space(Text("a b c d"), {0: ("p", "q"), 1: ("r",), 2: ("s", "t"), 3: ("u",)})
    texts = [(sum(w != o for w, o in zip(t.words, "abcd", strict=True)), str(t)) for t in space.points(most)]
    fooled = sorted((changed, victim([t])[0][1], t) for changed, t in texts if victim([t])[0][1] < 0.5)
    method = replace(PLAIN, width=None, constraints=(Constraint(WordsChanged(), at_most=most),))
    record = one(victim, "a b c d", method)
    if fooled:
        assert (record.outcome, record.perturbed) == (Outcome.SUCCESS, (fooled[0][2],))
        assert len(record.edits) == fooled[0][0]
    else:
        assert record.outcome is Outcome.FAILED
        assert record.queries == len(texts)  # every text of the space, each once


def test_brute_force_is_met_both_ways() -> None:
    """The seeds above hold spaces with a way through and spaces without."""
    found = {one(random_victim(seed, 0.06), "a b c d", replace(PLAIN, width=None)).outcome for seed in range(12)}
    assert found == {Outcome.SUCCESS, Outcome.FAILED}


def test_a_beam_of_one_is_greedy_search() -> None:
    for budget in (None, 40):
        found = []
        for method in (Beam(width=1), Greedy()):
            with mohs.attack("pocket", REVIEWS[:8], [method], budget=budget, **bundled()) as run:
                found.append([(r.outcome, r.perturbed, r.queries) for r in run.records()])
        assert found[0] == found[1]


def test_on_a_budget_under_one_step_it_climbs() -> None:
    # Seven candidates, so six do not pay for a step: the last choice of each position in turn, kept if it helps.
    weights = {"a": 1.0, "b": 1.0, "c": 1.0, "d": 1.0, "q": 0.5, "r": 2.0, "t": -0.5, "u": -2.0}
    victim = WordCount(weights)
    record = one(victim, "a b c d", PLAIN, budget=6)
    # q b c d helps, q r c d does not, q b t d helps, q b t u fools
    assert (record.outcome, record.perturbed, record.queries) == (Outcome.SUCCESS, ("q b t u",), 5)
    assert ("q r c d",) in victim.asked


def test_what_gained_most_is_tried_first_when_the_budget_ends() -> None:
    weights = {"a": 2.0, "b": 2.0, "c": 2.0, "d": 2.0, "q": 1.5, "s": 0.5, "r": -1.0, "u": 1.0, "t": 2.0, "p": 2.0}
    victim = WordCount(weights)
    record = one(victim, "a b c d", replace(PLAIN, width=1), budget=9)
    # The original and six first steps; the best is a r c d. A second step would need five, and two are left:
    # c -> s had gained most of the rest, then d -> u.
    after = dict.fromkeys(text for (text,) in victim.asked if "r" in text.split())
    assert list(after) == ["a r c d", "a r s d", "a r s u"]
    assert (record.outcome, record.perturbed) == (Outcome.EXHAUSTED, ("a r s u",))


@cache
def successes(method: Any, budget: int | None, seed: int = 0) -> int:
    with mohs.attack("pocket", REVIEWS, [method], budget=budget, seed=seed, **bundled()) as run:
        records = list(run.records())
    assert [record.error for record in records if record.error] == []
    return sum(record.outcome is Outcome.SUCCESS for record in records)


@pytest.mark.parametrize("budget", [3, 10, 40, 200])
def test_it_never_has_fewer_successes_than_random_search(budget: int | None) -> None:
    assert (Beam().source, Beam().constraints, Beam().stopwords) == (
        RandomWords().source,
        RandomWords().constraints,
        RandomWords().stopwords,
    )
    assert successes(Beam(), budget) >= max(successes(RandomWords(), budget, seed) for seed in range(2)) > 0
