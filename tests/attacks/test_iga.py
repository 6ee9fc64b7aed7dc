"""The improved genetic attack: its first generation, words that change again, and the single cut."""

from __future__ import annotations

import math
from dataclasses import replace
from random import Random
from typing import Any

import pytest

import mohs
from mohs.attacks import Untargeted
from mohs.attacks.iga import IGA, iga_textattack
from mohs.attacks.method import Ask
from mohs.attacks.population import Member, Scout
from mohs.engine import Meter
from mohs.records import Outcome
from mohs.space import Space
from mohs.text import Text
from tests.toys import WordCount, asked_with_texts, now, table

PLAIN = IGA(source=table(good="nice decent", truly="really", film="movie"), constraints=(), stopwords=frozenset({"a"}))
WEIGHTS = {"good": 3.0, "truly": 1.0, "nice": 1.5, "decent": 0.5, "really": -1.0}


def attack(text: str, method: Any = PLAIN, weights: dict[str, float] = WEIGHTS, **options: Any) -> Any:
    victim = WordCount(weights)
    with mohs.attack(victim, [(text, 1)], [method], **options) as run:
        return next(run.records()), victim


def scout_of(x: Text, choices: dict[int, tuple[str, ...]], random: Random) -> Scout:
    meter: Meter[Any, Any] = Meter(asked_with_texts(WordCount({}).scores))
    return Scout(x, Untargeted(1), Space(x, choices), Ask({}, random, meter), tuple(choices))


def test_the_first_generation_is_the_best_swap_of_every_word() -> None:
    record, victim = attack("a truly good film", replace(PLAIN, generations=0))
    assert record.perturbed == ("a truly decent film",)
    assert record.queries == 1 + 4
    assert {text for (text,) in victim.asked if text.startswith("a ")} == {
        "a truly good film",
        "a really good film",
        "a truly nice film",
        "a truly decent film",
        "a truly good movie",
    }
    record, _ = attack("a truly good film", replace(PLAIN, generations=0), {**WEIGHTS, "decent": -2.0})
    assert record.outcome is Outcome.SUCCESS


@pytest.mark.parametrize("seed", range(3))
def test_words_are_replaced_again_by_neighbours_of_the_word_as_it_stands(seed: int) -> None:
    chain = table(good="nice", nice="fair", fair="poor", poor="bad")
    weights = {"good": 4.0, "nice": 3.0, "fair": 2.0, "poor": 1.0, "bad": -1.0}
    method = replace(PLAIN, source=chain)
    record, _ = attack("a good film", method, weights, seed=seed)
    assert (record.outcome, record.perturbed) == (Outcome.SUCCESS, ("a bad film",))
    assert record.queries == 5
    for times, word in ((1, "nice"), (2, "fair"), (3, "poor")):
        record, _ = attack("a good film", replace(method, replacements=times), weights, seed=seed)
        assert (record.outcome, record.perturbed) == (Outcome.FAILED, (f"a {word} film",))


def test_a_child_inherits_how_often_its_words_may_change() -> None:
    """With one replacement a word, no text with twice replaced words is ever asked, whatever is cut and joined."""
    chain = table(good="nice", nice="fair", film="movie", movie="flick", truly="really", really="quite")
    weights = {"good": 4.0, "nice": 3.0, "fair": 2.0, "film": 2.0, "movie": 1.0, "truly": 2.0, "really": 1.0}
    record, victim = attack("truly good film", replace(PLAIN, source=chain, replacements=1), weights)
    assert record.perturbed == ("really nice movie",)
    assert not {"fair", "flick", "quite"} & {word for (text,) in victim.asked for word in text.split()}


def test_parents_are_cut_once_and_joined() -> None:
    """Where nothing may change any more, children are the first part of one parent and the rest of another."""
    x, one, other = Text("a b c d"), Text("A b C d"), Text("a B c D")
    scout = scout_of(x, {0: ("A",), 1: ("B",), 2: ("C",), 3: ("D",)}, Random(0))
    spent = (0, 0, 0, 0)
    found = now(PLAIN._children([(Member(one, 0.1, False), spent), (Member(other, 0.2, False), spent)] * 200, scout))
    expected = {
        " ".join((*first.words[:cut], *second.words[cut:]))
        for cut in range(4)
        for first in (one, other)
        for second in (one, other)
    }
    assert {str(member.text) for member, _ in found} == expected
    assert len(found) == 399
    assert {left for _, left in found} == {spent}


def test_the_best_sixty_go_on() -> None:
    method = replace(PLAIN, population=1, source=table(good="nice", truly="really"), generations=20)
    record, victim = attack("a truly good film", method, {"good": 3.0, "nice": 1.0, "truly": 3.0, "really": 2.0})
    assert record.perturbed == ("a really nice film",)  # from nice, which goes on, and its child
    asked = [text for (text,) in victim.asked]
    assert asked.index("a truly nice film") < asked.index("a really nice film")


def test_at_most_a_fifth_of_the_words_change() -> None:
    capped = replace(PLAIN, constraints=IGA.constraints)
    record, _ = attack("a truly good film a", capped)
    assert record.perturbed == ("a truly decent film a",)
    record, _ = attack("a truly good film a a", capped)  # 20% of six, rounded up, is two
    assert record.perturbed == ("a really decent film a a",)


@pytest.mark.parametrize("budget", [1, 2, 3, 6, 12, 40])
def test_the_budget_is_kept(budget: int) -> None:
    record, _ = attack("a truly good film", weights={**WEIGHTS, "really": 0.5}, budget=budget)
    assert record.queries <= budget


def test_presets() -> None:
    paper, textattack = IGA(), iga_textattack()
    assert (paper.population, paper.generations, paper.replacements) == (60, 20, 5)
    assert (textattack.favour_weak, textattack.persist) == (True, True)
    assert IGA.living


def test_textattack_draws_until_something_helps() -> None:
    space = table(good="nice", nice="fair", film="movie picture", truly="indeed sure")
    weights = {"good": 4.0, "nice": 3.0, "fair": 2.0}
    method = replace(PLAIN, source=space, population=1, generations=1)
    found = [
        [attack("truly good film", replace(method, persist=persist), weights, seed=s)[0].perturbed for s in range(12)]
        for persist in (False, True)
    ]
    assert set(found[0]) == {("truly nice film",), ("truly fair film",)}
    assert set(found[1]) == {("truly fair film",)}


def test_textattack_draws_by_what_is_left_and_weak_parents_first() -> None:
    drawn: list[Any] = []

    class Noted(Random):
        def choices(self, population: Any, weights: Any = None, **options: Any) -> Any:
            drawn.append((population, weights))
            return super().choices(population, weights, **options)

    x = Text("a b")
    for method, parents, places in ((PLAIN, [1, 1], [1, 1]), (iga_textattack(), [math.exp(-1), 1], [5, 2])):
        drawn.clear()
        scout = scout_of(x, {0: ("c",), 1: ("d",)}, Noted(0))
        now(method._children([(Member(x, 0.3, False), (5, 2)), (Member(x, 0.0, False), (5, 2))], scout))
        assert drawn[0][1] == pytest.approx(parents)
        assert drawn[1] == ([0, 1], places)
