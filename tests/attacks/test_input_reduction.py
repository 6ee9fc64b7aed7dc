"""Input reduction: the shortest text with the same prediction."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

import pytest

import mohs
from mohs.attacks.input_reduction import InputReduction, RankedInputReduction, greedy
from mohs.attacks.random_words import RandomWords
from mohs.errors import BadInput
from mohs.records import Outcome, Record
from mohs.report.attack.table import lines
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


def test_one_word_with_the_same_label_is_a_success() -> None:
    record = attack(InputReduction())
    assert record.outcome is Outcome.SUCCESS
    assert record.measures == {"share of words changed": 0.8}
    assert [(edit.old, edit.new, edit.source) for edit in record.edits] == [
        (old, "", "delete") for old in ("a", "truly", "dull", "film")
    ]


# Down to b c the label stays, and neither word keeps it alone.
STUBBORN = {"a b c": 0.9, "b c": 0.8, "a c": 0.3, "a b": 0.3}


def stubborn(texts: list[str]) -> list[tuple[float, float]]:
    return [(1 - STUBBORN.get(text, 0.1), STUBBORN.get(text, 0.1)) for text in texts]


@pytest.mark.parametrize(
    ("goal", "outcome"),
    [
        ("untargeted", Outcome.FAILED),  # stands for its own goal, reduced:1
        ("reduced:1", Outcome.FAILED),
        ("reduced:2", Outcome.SUCCESS),
        ("reduced:3", Outcome.SKIPPED),  # three words are few enough as they are
    ],
)
@pytest.mark.parametrize("method", [InputReduction(), greedy(), replace(RankedInputReduction(), stopwords=frozenset())])
def test_the_goal_says_how_many_words_may_be_left(method: Any, goal: str, outcome: Outcome) -> None:
    record = attack(method, "a b c", stubborn, goal=goal)
    assert record.outcome is outcome
    assert record.perturbed == (None if outcome is Outcome.SKIPPED else ("b c",))


def test_what_is_misread_is_not_reduced() -> None:
    assert attack(InputReduction(), "a dull film").outcome is Outcome.SKIPPED


def test_of_a_pair_the_words_of_the_field_that_may_change_count() -> None:
    assert attack(InputReduction(), ("truly good", "film good dull")).outcome is Outcome.SUCCESS


def test_goals_that_do_not_fit_are_refused_with_both_names() -> None:
    for goal in ("targeted:0", "below:0.5"):
        with pytest.raises(BadInput, match=f"input-reduction:paper keeps the label, so it cannot have the goal {goal}"):
            attack(InputReduction(), goal=goal)
    with pytest.raises(BadInput, match="random:baseline changes the label, so it cannot have the goal reduced:3"):
        attack(RandomWords(), goal="reduced:3")


def test_there_is_no_accuracy_under_attack_to_mix_with_that_of_others(tmp_path: Path) -> None:
    examples = [("a b c", 1), ("a b", 0), ("b c", 1)]
    with mohs.attack(stubborn, examples, ["input-reduction", "random"], goal="untargeted", out=tmp_path / "run") as run:
        reduced, other = run.summary()
        assert run.goal == "untargeted, reduced:1 for input-reduction:paper"
        assert (run.goal_of("input-reduction:paper"), run.goal_of("random:baseline")) == ("reduced:1", "untargeted")
        shown = run.report(tmp_path / "page.html").read_text("utf-8")
    assert (reduced.goal, other.goal) == ("reduced:1", "untargeted")
    assert reduced.accuracy_under_attack is None
    assert reduced.to_json()["accuracy_under_attack"] is None
    assert other.accuracy_under_attack is not None
    assert reduced.words_left is not None
    assert (reduced.words_left.value, reduced.words_left.total) == (5 / 3, 3)  # b c, one of a b, b c
    assert other.words_left is None
    assert "accuracy under attack" not in {name for name, _, _ in lines(reduced)}
    assert "words left" not in {name for name, _, _ in lines(other)}
    assert "shortens texts and keeps their label (reduced:1)" in shown
    assert "under attack -" not in shown


def test_a_page_of_reductions_alone_has_no_chart_of_accuracy(tmp_path: Path) -> None:
    with mohs.attack(stubborn, [("a b c", 1)], ["input-reduction"], goal="reduced:2") as run:
        assert run.goal == "reduced:2"
        shown = run.report(tmp_path / "page.html").read_text("utf-8").replace("<wbr>", "")
    assert "input-reduction:paper reached the goal reduced:2 on 1 of 1 examples attacked" in shown
    assert "Accuracy before and under attack" not in shown


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
    # dull, film, truly, good in the order of what is left without them; a is a stopword
    assert record.perturbed == ("a good",)
    assert record.queries == 1 + 4 + 3  # dull alone was asked about already; a alone does not keep the label


def test_in_textattack_a_stopword_may_be_what_is_left() -> None:
    answers = {"the a c": 0.9, "the c": 0.9, "the a": 0.8, "a c": 0.7, "the": 0.6, "": 0.9}

    def victim(texts: list[str]) -> list[tuple[float, float]]:
        return [(1 - answers.get(text, 0.1), answers.get(text, 0.1)) for text in texts]

    record = attack(replace(RankedInputReduction(), stopwords=frozenset({"the"})), "the a c", victim)
    assert (record.outcome, record.perturbed) == (Outcome.SUCCESS, ("the",))
    # The last word stays although nothing at all would keep the label too.
    record = attack(replace(RankedInputReduction(), stopwords=frozenset()), "the a c", victim)
    assert record.perturbed == ("the",)


def test_at_least_one_word_of_the_hypothesis_stays() -> None:
    record = attack(InputReduction(), ("truly good", "film dull good"))
    assert record.perturbed is not None
    assert record.perturbed[0] == "truly good"
    assert len(record.perturbed[1].split()) == 1


@pytest.mark.parametrize("budget", range(1, 16))
def test_on_a_budget_the_shortest_so_far(budget: int) -> None:
    record = attack(greedy(), budget=budget)
    assert record.queries <= budget
    assert record.outcome is (Outcome.SUCCESS if budget >= 14 else Outcome.EXHAUSTED)
    assert (record.perturbed == ("good",)) == (budget >= 14)
