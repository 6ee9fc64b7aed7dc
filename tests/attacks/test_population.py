"""What population searches share, and that they do no worse than random substitution."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import cache
from random import Random
from typing import Any, ClassVar

import pytest

import mohs
from mohs.attacks import RandomWords, Untargeted
from mohs.attacks.faster_genetic import FasterGenetic
from mohs.attacks.genetic import Genetic
from mohs.attacks.iga import IGA
from mohs.attacks.method import Ask
from mohs.attacks.population import MIXTURE_RETRIES, Member, Scout, sized, strongest
from mohs.attacks.sememe_pso import SememePSO
from mohs.engine import BudgetSpent, Meter
from mohs.records import Outcome
from mohs.space import Constraint, Neighbours, PositionsAgain, Space, WordsBeyond, WordsChanged
from mohs.text import Text
from mohs.text.dataset import Dataset
from tests.toys import WordCount, asked_with_texts, bundled, now

X = Text("a truly good film")
WEIGHTS = {"good": 3.0, "truly": 1.0, "nice": 1.5, "decent": 0.5, "really": -1.0}
CHOICES = {1: ("really",), 2: ("nice", "decent"), 3: ("movie",)}


def scout(
    budget: int | None = None, constraints: tuple[Constraint, ...] = (), seed: int = 0, **options: Any
) -> tuple[Scout, WordCount]:
    victim = WordCount(WEIGHTS)

    def answer(fields: tuple[str, ...]) -> tuple[float, ...]:
        victim.asked.append(fields)
        return victim.scores(fields)

    meter: Meter[Any, Any] = Meter(asked_with_texts(answer), budget)
    space = Space(X, CHOICES, constraints)
    return Scout(X, Untargeted(1), space, Ask({}, Random(seed), meter), space.positions, **options), victim


def words(members: list[Member]) -> list[str]:
    return [str(member.text) for member in members]


def test_a_text_that_reaches_the_goal_comes_before_any_score_and_equals_come_by_text() -> None:
    a, b = Text("a"), Text("b")
    assert strongest([Member(a, 0.9, False), Member(b, 0.4, True)]).text == b
    assert strongest([Member(b, 0.5, False), Member(a, 0.5, False)]).text == a
    assert Member(b, 0.4, True).beats(Member(a, 0.9, False))
    assert not Member(b, 0.5, False).beats(Member(a, 0.5, False))


def test_the_best_swap_at_a_place_is_taken_only_if_it_helps() -> None:
    one, victim = scout()
    found = now(one.best_swaps([X, X, X], [2, 1, 3]))
    # 4 -> decent 1.5 beats nice 2.5; really 2; movie changes nothing.
    assert words(found) == ["a truly decent film", "a really good film", str(X)]
    assert len(victim.asked) == 5
    assert one.best.text == Text("a truly decent film")
    now(one.best_swaps([X], [2]))
    assert len(victim.asked) == 5  # nothing is asked twice


def test_only_the_nearest_count() -> None:
    one, victim = scout(nearest=1)
    assert words(now(one.best_swaps([X], [2]))) == ["a truly nice film"]
    assert ("a truly decent film",) not in victim.asked


def test_the_original_word_returns_only_where_it_may() -> None:
    changed = Text("a really good film").replace(1, "really")
    assert words(now(scout()[0].best_swaps([changed], [1]))) == ["a really good film"]
    worse = X.replace(2, "best")  # weighs nothing, so the original would be asked and not taken
    back, victim = scout(back=True)
    now(back.best_swaps([worse], [2]))
    assert X.fields in victim.asked
    forward, victim = scout()
    now(forward.best_swaps([worse], [2]))
    assert X.fields not in victim.asked


def test_a_few_tries_draw_what_was_not_asked_before() -> None:
    drawn: Counter[tuple[str, ...]] = Counter()
    for seed in range(200):
        one, victim = scout(seed=seed, tries=1)
        now(one.best_swaps([X], [2]))
        assert len(victim.asked) == 2
        drawn[victim.asked[1]] += 1
        now(one.best_swaps([X], [2]))  # the other one's turn
        assert len(victim.asked) == 3
        assert one.best.text == Text("a truly decent film")
    assert min(drawn.values()) > 70


def test_when_the_budget_ends_what_it_allows_is_asked_and_the_best_is_kept() -> None:
    one, victim = scout(budget=3)
    with pytest.raises(BudgetSpent):
        now(one.best_swaps([X, X], [1, 2]))
    assert victim.asked == [X.fields, ("a really good film",), ("a truly nice film",)]
    assert one.best.text == Text("a really good film")


def test_places_are_drawn_by_weight_and_again_only_with_persistence() -> None:
    one, _ = scout()
    texts = [X] * 400
    found = Counter(words(now(one.perturbed(texts, [{2: 3, 1: 1}] * 400))))
    assert abs(found["a truly decent film"] - 300) < 35
    assert abs(found["a really good film"] - 100) < 35
    found = Counter(words(now(one.perturbed(texts, [{3: 1, 1: 1}] * 400))))
    assert abs(found[str(X)] - 200) < 40  # movie does not help
    assert words(now(one.perturbed(texts, [{3: 1, 1: 1}] * 400, persist=True))) == ["a really good film"] * 400
    assert words(now(one.perturbed([X], [{}], persist=True))) == [str(X)]
    assert words(now(one.perturbed([X], [{3: 1}], persist=True))) == [str(X)]


def test_mixtures() -> None:
    one, _ = scout()
    other = X.replace_all({1: "really", 2: "nice", 3: "movie"})
    assert str(one.mixed(X, other, (True, False, True))) == "a really good movie"
    assert one.unchanged(one.mixed(X, other, (True, False, True))) == [2]
    coins = Counter(one.coins() for _ in range(800))
    assert len(coins) == 8
    assert min(coins.values()) > 60
    cuts = Counter(one.cut() for _ in range(800))  # before a or truly: all from the other; then fewer
    assert set(cuts) == {(True, True, True), (False, True, True), (False, False, True)}
    assert abs(cuts[True, True, True] - 400) < 60
    assert {one.either() for _ in range(20)} == {(True,) * 3, (False,) * 3}


def test_a_mixture_that_breaks_a_constraint_is_drawn_again_and_at_last_not_made() -> None:
    one, _ = scout(constraints=(Constraint(WordsChanged(), at_most=1), Constraint(PositionsAgain(), at_most=0)))
    parents = [(X.replace(1, "really"), X.replace(2, "nice"))] * 50
    masks = now(one.masks(parents, lambda _: one.coins(), one.either))
    mixed = Counter(str(one.mixed(*pair, mask)) for pair, mask in zip(parents, masks, strict=True))
    # Never both; the measure of steps is not asked, or no word of the other could come in.
    assert set(mixed) == {str(X), "a really good film", "a truly nice film"}
    drawn: list[int] = []

    def both(number: int) -> tuple[bool, ...]:
        drawn.append(number)
        return (False, True, False)

    stay = (False, False, False)
    assert now(one.masks(parents[:1], both, lambda: stay)) == [stay]
    assert len(drawn) == 1 + MIXTURE_RETRIES


@pytest.mark.parametrize(
    ("budget", "expected"),
    [
        (None, (60, None)),
        (10_800, (60, None)),  # 60 members x 20 generations x (8 swaps + the child)
        (10_799, (60, None)),  # 1 + 59: the best costs nothing
        (5_400, (31, None)),
        (400, (3, None)),
        (360, (3, None)),
        (359, (2, 17)),
        (180, (2, 8)),
        (100, (2, 4)),
        (60, (2, 2)),
        (20, (2, 1)),
        (1, (2, 1)),
    ],
)
def test_a_small_budget_shrinks_the_population_first_then_the_tries(budget: int | None, expected: Any) -> None:
    assert sized(scout(budget)[0].ask, 60, 20, 8) == expected


def test_a_search_is_run_again_if_it_may_while_it_asks_something_new() -> None:
    for again, fresh, runs in ((False, [9, 9], 1), (True, [5, 1, 0, 9], 3), (True, [0, 9], 1)):
        one, _ = scout()
        ran: list[int] = []

        async def search(one: Scout = one, ran: list[int] = ran, fresh: list[int] = fresh) -> None:
            await one.members([Text(f"good good {len(ran)} {n}") for n in range(fresh[len(ran)])])
            ran.append(1)

        now(one.run(search, again=again))
        assert len(ran) == runs
    one, _ = scout()
    ran = []

    async def fools() -> None:
        ran.append(len(await one.members([Text("really")])))

    assert now(one.run(fools, again=True)) == Text("really")
    assert ran == [1]


@dataclass(frozen=True)
class StillIGA(IGA):
    """Without synonyms of synonyms, so that its space is that of the others."""

    living: ClassVar[bool] = False


REVIEWS = list(Dataset("pocket", n=60))
FREE = RandomWords(walks=100, constraints=())  # goes on until the budget is spent
CHECKED = RandomWords(walks=100)
CAPPED = RandomWords(walks=100, source=Neighbours(k=8), constraints=(Constraint(WordsBeyond(0.2), at_most=0),))


@cache
def successes(attack: Any, budget: int, seed: int) -> int:
    with mohs.attack("pocket", REVIEWS, [attack], budget=budget, seed=seed, **bundled()) as run:
        return sum(record.outcome is Outcome.SUCCESS for record in run.records())


SEARCHES = {
    "genetic": Genetic(nearest=50),
    "faster-genetic": FasterGenetic(),
    "iga": StillIGA(),
    "pso": SememePSO(),
    "genetic:textattack": Genetic(nearest=50, favour_weak=True, persist=True),
    "iga:textattack": StillIGA(favour_weak=True, persist=True),
    "pso:textattack": SememePSO(inverted=True, by_gain=True),
}


@pytest.mark.parametrize("attack", SEARCHES.values(), ids=SEARCHES)
@pytest.mark.parametrize(
    ("baseline", "budget", "seed"),
    [(FREE, 20, 0), (FREE, 300, 0), (CHECKED, 40, 0), (CAPPED, 40, 1), (CAPPED, 80, 0), (CAPPED, 160, 0)],
    ids=lambda value: "" if isinstance(value, RandomWords) else str(value),
)
def test_never_fewer_successes_than_random_substitution(attack: Any, baseline: Any, budget: int, seed: int) -> None:
    """On equal space, constraints and budget."""
    equal = replace(attack, source=baseline.source, constraints=baseline.constraints, stopwords=baseline.stopwords)
    assert successes(equal, budget, seed) >= successes(baseline, budget, seed)
