"""The genetic attack on victims and spaces small enough to follow by hand."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from random import Random
from typing import Any, ClassVar

import pytest

import mohs
from mohs.attacks.genetic import Genetic, genetic_adjusted, genetic_paper, genetic_textattack
from mohs.attacks.method import Ask, needs
from mohs.attacks.population import Member
from mohs.records import Outcome, Record
from mohs.space import Constraint, Family, GrammarErrors, Neighbours, SentenceSimilarity, Services, WordsBeyond
from mohs.text import Text
from mohs.text.questions import Scored
from tests.toys import WordCount, Wordlike, table

WEIGHTS = {"good": 3.0, "truly": 1.0, "nice": 1.5, "decent": 0.5, "really": -1.0}
SPACE = table(good="nice decent", truly="really", film="movie")
PLAIN = Genetic(source=SPACE, constraints=(), stopwords=frozenset({"a"}))


def attack(text: str, method: Any = PLAIN, weights: dict[str, float] = WEIGHTS, **options: Any) -> Any:
    victim = WordCount(weights)
    with mohs.attack(victim, [(text, 1)], [method], **options) as run:
        return next(run.records()), victim


@pytest.mark.parametrize("seed", range(5))
def test_two_generations_by_hand(seed: int) -> None:
    record, victim = attack("a truly good film", seed=seed)
    # 60 draws find every word: decent (1.5), nice (2.5), really (2), movie (4, no help). Their children and the best
    # swaps of these are really decent (-0.5, fools), really nice, and each of the two with movie, which never helps.
    assert record.outcome is Outcome.SUCCESS
    assert record.perturbed == ("a really decent film",)
    assert {text for (text,) in victim.asked if text.startswith("a ")} == {
        "a truly good film",
        "a truly decent film",
        "a truly nice film",
        "a really good film",
        "a truly good movie",
        "a really decent film",
        "a really nice film",
        "a really decent movie",
        "a really good movie",
        "a truly decent movie",
    }
    assert record.queries == 10


def test_a_generation_that_fools_is_the_last() -> None:
    record, _ = attack("a truly good film", weights={**WEIGHTS, "decent": -2.0, "nice": -1.5})
    assert record.perturbed == ("a truly decent film",)  # the strongest of the two that fool
    assert record.queries == 5


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("method", [PLAIN, replace(PLAIN, favour_weak=True, persist=True)], ids=["paper", "textattack"])
def test_the_best_of_all_is_found_where_words_add_up(method: Genetic, seed: int) -> None:
    weights = {"good": 3.0, "fine": 2.0, "nice": 1.0, "film": 2.0, "plot": 1.0, "tale": 0.5, "cast": 9.0, "crew": 8.0}
    method = replace(method, source=table(good="fine nice", film="plot tale", cast="crew"))
    record, victim = attack("good film cast", method, weights, seed=seed)
    texts = [" ".join(words) for words in product(("good", "fine", "nice"), ("film", "plot", "tale"), ("cast", "crew"))]
    assert record.outcome is Outcome.FAILED
    assert record.perturbed == (min(texts, key=lambda text: victim.scores((text,))[1]),)
    assert record.queries <= len(texts)


def test_a_word_is_drawn_by_its_number_of_neighbours_though_the_nearest_alone_are_tried() -> None:
    method = replace(PLAIN, population=1, nearest=1, source=table(good="nice decent fine", truly="really"))
    examples = [mohs.Example.of("a truly good film", 1, id=str(i)) for i in range(400)]
    victim = WordCount({"good": 3.0, "nice": 2.0, "truly": 2.0, "really": 1.0})
    with mohs.attack(victim, examples, [method]) as run:
        found = Counter(record.perturbed for record in run.records())
    assert set(found) == {("a truly nice film",), ("a really good film",)}
    assert abs(found["a truly nice film",] - 300) < 35


def test_parents_are_drawn_by_their_scores() -> None:
    members = [Member(Text("weak"), 0.0, False), Member(Text("strong"), 0.3, False)] * 1000
    ask = Ask({}, Random(0), None)  # type: ignore[arg-type]
    for method, odds in ((PLAIN, math.e), (replace(PLAIN, favour_weak=True), 1 / math.e)):
        drawn = method._parents(members, ask)
        assert len(drawn) == len(members) - 1
        found = Counter(str(text) for pair in drawn for text in pair)
        assert found["strong"] / found["weak"] == pytest.approx(odds, rel=0.12)


@dataclass(frozen=True)
class Unspoken:
    """A constraint that forbids one text."""

    text: str
    name: ClassVar[str] = "unspoken"
    family: ClassVar[Family] = Family.SUSPICION
    needs: ClassVar[tuple[str, ...]] = ()
    stepwise: ClassVar[bool] = False

    async def of_texts(
        self, original: Text, current: Text | None, candidates: Sequence[Text], ask: Services
    ) -> list[float]:
        return [float(str(candidate) == self.text) for candidate in candidates]


def test_a_changed_word_is_not_changed_again() -> None:
    scores = {"good film": 0.9, "fine film": 0.7, "okay film": 0.8, "fine movie": 0.6, "okay movie": 0.1}
    asked: list[str] = []

    def victim(texts: list[str]) -> list[tuple[float, float]]:
        asked.extend(texts)
        return [(1 - scores.get(text, 0.9), scores.get(text, 0.9)) for text in texts]

    forbidden = Constraint(Unspoken("good movie"), at_most=0)
    method = Genetic(source=table(good="fine okay", film="movie"), constraints=(forbidden,), stopwords=frozenset())
    with mohs.attack(victim, [("good film", 1)], [method]) as run:
        record = next(run.records())
    # okay movie fools, but the way leads over fine -> okay or over good movie, which no crossover may make.
    assert record.perturbed == ("fine movie",)
    assert "good movie" not in asked
    assert "okay movie" not in asked


def test_at_most_a_fifth_of_the_words_change_on_the_whole_way() -> None:
    capped = replace(PLAIN, constraints=Genetic.constraints)
    record, victim = attack("it is truly good it is a film it is", capped)  # ten words
    assert [edit.new for edit in record.edits] == ["really", "decent"]
    record, victim = attack("it is truly good a film it is a", capped)  # nine
    assert [edit.new for edit in record.edits] == ["decent"]
    original = Text("it is truly good a film it is a")
    asked = [Text(*fields) for fields in victim.asked if len(Text(*fields)) == 9]
    assert max(len(original.edits(text)) for text in asked) == 1
    assert {str(text) for text in asked} > {"it is really good a film it is a", "it is truly nice a film it is a"}


class Likes(Wordlike):
    """Finds words the likelier the shorter they are."""

    def answer(self, item: Any) -> Any:
        return Scored((0,), (1,), (-float(len(item)),))


def test_the_language_model_leaves_four() -> None:
    words = "nice fine okay brill splendid"
    weights = {"good": 9.0, "nice": 8.0, "fine": 7.0, "okay": 6.0, "brill": 5.0, "splendid": -9.0}
    method = replace(genetic_paper(), source=table(good=words), stopwords=frozenset({"film", "a"}))
    record, victim = attack("a good film a film a", method, weights, lm=Likes())
    assert record.perturbed == ("a brill film a film a",)  # splendid fools, and is the fifth to the language model
    assert all("splendid" not in text for (text,) in victim.asked)
    free = replace(Genetic(), source=table(good=words), stopwords=frozenset({"film", "a"}))
    assert attack("a good film a film a", free, weights)[0].perturbed == ("a splendid film a film a",)


def test_persistence_draws_until_something_helps() -> None:
    space = table(good="nice", film="movie picture flick", truly="indeed")
    method = replace(PLAIN, source=space, population=1)
    for seed in range(10):
        record, _ = attack("a truly good film", replace(method, persist=True), {"good": 9.0, "nice": 8.0}, seed=seed)
        assert record.perturbed == ("a truly nice film",)
    plain = [attack("a truly good film", method, {"good": 9.0, "nice": 8.0}, seed=seed)[0] for seed in range(10)]
    assert any(record.perturbed == ("a truly good film",) for record in plain)


@pytest.mark.parametrize("budget", [1, 2, 3, 5, 8, 13, 40])
def test_the_budget_is_kept_and_the_best_so_far_given_back(budget: int) -> None:
    record, victim = attack("a truly good film", budget=budget)
    assert record.queries <= budget
    searched = dict.fromkeys(fields for fields in victim.asked if fields[0].startswith("a "))
    assert record.scores_after[1] == min(victim.scores(fields)[1] for fields in searched)


def test_without_swaps_nothing_is_asked() -> None:
    record: Record = attack("truly unknown words", replace(PLAIN, source=table(other="word")))[0]
    assert (record.outcome, record.edits, record.queries) == (Outcome.FAILED, (), 1)


def test_presets() -> None:
    assert needs(Genetic()) == ("vectors",)
    assert needs(genetic_paper()) == ("vectors", "lm")
    textattack = genetic_textattack()
    assert (textattack.favour_weak, textattack.persist) == (True, True)
    assert textattack.constraints[0] == Constraint(WordsBeyond(0.2, up=True), at_most=0)
    assert {Genetic(), genetic_paper(), textattack} == {textattack, genetic_paper(), Genetic()}
    assert (Genetic().population, Genetic().generations, Genetic().nearest, Genetic().temperature) == (60, 20, 8, 0.3)


def test_adjusted_is_textattacks_search_under_stricter_constraints() -> None:
    method, usual = genetic_adjusted(), genetic_textattack()
    assert replace(usual, source=method.source, constraints=method.constraints, nearest=50) == method
    assert method.source == Neighbours(k=50, min_cosine=0.9)
    near, grammar = method.constraints
    assert (near.measure, near.at_least, near.short) == (
        SentenceSimilarity(angular=False, window=15, previous=True), 0.98, 0,
    )  # fmt: skip
    assert (grammar.measure, grammar.at_most) == (GrammarErrors(), 0)


class _Articles:
    """A grammar checker that objects to an before a consonant."""

    name = fingerprint = "articles"
    in_flight = 1

    def plan(self, items: list[str]) -> list[list[str]]:
        return [items]

    def launch(self, batch: list[str]) -> list[str]:
        return batch

    def collect(self, ticket: list[str]) -> list[tuple[str, ...]]:
        return [("article",) * text.count("an good") for text in ticket]


def test_adjusted_lets_no_new_grammar_error_through() -> None:
    weights = {"good": 3.0, "a": 4.0, "an": -9.0, "fine": -9.0}
    source, grammar = table(a="an", good="fine"), genetic_adjusted().constraints[1]
    for constraints, texts in (
        ((grammar,), ["this is a fine film"]),
        ((), ["this is a fine film", "this is an good film"]),
    ):
        method = replace(genetic_adjusted(), source=source, constraints=constraints, stopwords=frozenset())
        record, victim = attack("this is a good film", method, weights, grammar=_Articles())
        assert record.outcome is Outcome.SUCCESS
        assert (
            sorted({text for (text,) in victim.asked if text.startswith("this is a")} - {"this is a good film"})
            == texts
        )
