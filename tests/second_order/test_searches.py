"""SO-Enum, SO-Beam and Random against brute force."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from mohs.engine import BudgetSpent
from mohs.errors import BadInput
from mohs.second_order.patches import Patch
from mohs.second_order.searches import METHODS, SecondOrder, find_method, promise
from mohs.space import MaskedWords
from mohs.space.natural import Neighbourhood
from mohs.text import Text
from tests.second_order.toys import DELTA, KAPPA, ask_of, chances, neighbourhood
from tests.space.test_natural import tables
from tests.toys import now

NEAR = Neighbourhood(MaskedWords(k=KAPPA, gap=DELTA))
ENUM = SecondOrder(k=2, near=NEAR)
texts = st.lists(st.sampled_from("abcde"), min_size=1, max_size=3).map(lambda words: ("p", *words))
PATCH = Patch(0, "p", "q", 0.5)


def tips(words: tuple[str, ...], victim: Any, min_gap: float = 0.0) -> bool:
    plain, patched = victim((" ".join(words),)), victim((" ".join(("q", *words[1:])),))
    best = [max(range(len(scores)), key=lambda label: scores[label]) for scores in (plain, patched)]
    return best[0] != best[1] and max(abs(a - b) for a, b in zip(plain, patched, strict=True)) >= min_gap


def brute(words: tuple[str, ...], k: int, table: Any, victim: Any) -> tuple[int, int] | None:
    """The fewest changed words of a vulnerable example and, for those, the fewest steps."""
    return min(
        (
            (sum(a != b for a, b in zip(words, each, strict=True)), step)
            for step in range(k + 1)
            for each in neighbourhood(words, step, table, 0, {"p", "q"})
            if tips(each, victim)
        ),
        default=None,
    )


@settings(max_examples=200, deadline=None)
@given(words=texts, table=tables, salt=st.text("xyz", max_size=3), classes=st.integers(2, 4), k=st.integers(1, 4))
def test_enumeration_finds_the_nearest(words: tuple[str, ...], table: Any, salt: str, classes: int, k: int) -> None:
    victim = chances(classes, salt)
    x = Text(" ".join(words))
    places = range(len(words))
    found = now(replace(ENUM, k=k)(x, PATCH, places, ask_of(table, victim)))
    truth = brute(words, k, table, victim)
    assert (found and (len(x.changes(found.text)), found.steps)) == truth
    if found is not None:
        assert tips(tuple(found.text.words), victim)
    beam = now(replace(ENUM, k=k, width=10**9)(x, PATCH, places, ask_of(table, victim)))
    assert beam == found
    for seed in range(5):
        walk = now(replace(ENUM, k=k, walk=True)(x, PATCH, places, ask_of(table, victim, seed)))
        if walk is not None:
            assert found is not None
            assert len(x.changes(walk.text)) >= len(x.changes(found.text))
            assert tuple(walk.text.words) in neighbourhood(words, walk.steps, table, 0, {"p", "q"})
            assert tips(tuple(walk.text.words), victim)


def test_fewer_words_in_more_steps() -> None:
    table = {"p": [("a", 2.0), ("d", 1.5)], "a": [("c", 1.0)]}  # c is offered after a alone, and d may come back

    def victim(fields: tuple[str, ...]) -> tuple[float, ...]:
        return (0.1, 0.9) if fields[0] in ("q a c", "q d c") else (0.9, 0.1)

    for k, text, steps in ((2, "p a c", 2), (3, "p d c", 3), (5, "p d c", 3)):
        found = now(SecondOrder(k=k, near=NEAR)(Text("p d d"), PATCH, range(3), ask_of(table, victim)))
        assert found is not None
        assert (str(found.text), found.steps) == (text, steps)
    # The way to one changed word may lead over three: a, c, g, and then c and a are taken back.
    longer = {"p": [("a", 2.0), ("d", 1.5)], "a": [("c", 2.0), ("d", 1.5)], "c": [("g", 1.0)]}
    tipping = lambda fields: (0.1, 0.9) if fields[0] in ("q a c d", "q d d g") else (0.9, 0.1)  # noqa: E731
    for k, text in ((4, "p a c d"), (5, "p d d g")):
        found = now(SecondOrder(k=k, near=NEAR)(Text("p d d d"), PATCH, range(4), ask_of(longer, tipping)))
        assert found is not None
        assert (str(found.text), found.steps) == (text, 2 if k == 4 else 5)
    first = SecondOrder(k=3, near=NEAR, nearest=False)
    found = now(first(Text("p d d"), PATCH, range(3), ask_of(table, victim)))
    assert found is not None
    assert str(found.text) == "p a c"


def test_a_narrow_beam_goes_on_from_the_most_promising() -> None:
    table = {"p": [("a", 2.0), ("b", 1.0)], "a": [("c", 1.0)], "b": [("c", 1.0)]}
    answers = {
        "p e e": (0.9, 0.1), "q e e": (0.9, 0.1),
        "p a e": (0.9, 0.1), "q a e": (0.8, 0.2),
        "p b e": (0.6, 0.4), "q b e": (0.9, 0.1),
        "p a c": (0.9, 0.1), "q a c": (0.1, 0.9),
        "p b c": (0.6, 0.4), "q b c": (0.6, 0.4),
    }  # fmt: skip
    seen: list[str] = []

    def victim(fields: tuple[str, ...]) -> tuple[float, ...]:
        seen.append(fields[0])
        return answers.get(fields[0], (0.9, 0.1))

    method = SecondOrder(k=2, width=1, near=NEAR)
    assert now(method(Text("p e e"), PATCH, range(3), ask_of(table, victim))) is None
    assert "p b c" in seen  # from p b e, where the two are nearest to disagreeing
    assert "p a c" not in seen
    found = now(replace(method, width=2)(Text("p e e"), PATCH, range(3), ask_of(table, victim)))
    assert found is not None
    assert str(found.text) == "p a c"


@given(plain=st.floats(0.01, 0.99), patched=st.floats(0.01, 0.99))
def test_with_two_classes_the_promise_is_the_loss_of_equation_4(plain: float, patched: float) -> None:
    low, high = sorted((plain, patched))
    loss = -math.log(1 - low) - math.log(high)
    assert promise((1 - plain, plain), (1 - patched, patched)) == pytest.approx(-loss, abs=1e-5)


@given(one=st.lists(st.floats(0.001, 1), min_size=2, max_size=5), data=st.data())
def test_with_more_classes_it_is_the_best_two(one: list[float], data: st.DataObject) -> None:
    other = data.draw(st.lists(st.floats(0.001, 1), min_size=len(one), max_size=len(one)))
    pairs = [math.log(a) + math.log(b) for i, a in enumerate(one) for j, b in enumerate(other) if i != j]
    assert promise(tuple(one), tuple(other)) == pytest.approx(max(pairs), abs=1e-5)


def test_what_the_released_code_asks_more() -> None:
    victim = {"p a": (0.51, 0.49), "q a": (0.49, 0.51)}
    answer = lambda fields: victim.get(fields[0], (0.9, 0.1))  # noqa: E731
    assert now(ENUM(Text("p a"), PATCH, range(2), ask_of({}, answer))) is not None
    released = replace(ENUM, min_gap=0.03)
    assert now(released(Text("p a"), PATCH, range(2), ask_of({}, answer))) is None


def test_of_several_the_released_code_takes_the_most_promising() -> None:
    table = {"p": [("a", 2.0), ("d", 1.0)], "a": [("c", 1.0)], "c": [("n", 1.0)]}
    answers = {
        "p d c m": (0.6, 0.4), "q d c m": (0.4, 0.6),  # three steps and one changed word
        "p a c n": (0.99, 0.01), "q a c n": (0.01, 0.99),  # three steps and three
    }  # fmt: skip
    for method, text in ((ENUM, "p d c m"), (find_method("so-enum:released"), "p a c n")):
        ask = ask_of(table, lambda fields: answers.get(fields[0], (0.9, 0.1)))
        found = now(replace(method, k=3, near=NEAR)(Text("p d g m"), PATCH, range(4), ask))
        assert found is not None
        assert (str(found.text), found.steps) == (text, 3)


def test_a_budget_ends_the_search() -> None:
    table = {"p": [("a", 2.0), ("b", 1.0)]}
    with pytest.raises(BudgetSpent):
        now(ENUM(Text("p e"), PATCH, range(2), ask_of(table, lambda fields: (0.9, 0.1), budget=3)))


def test_methods_by_name() -> None:
    assert find_method("so-enum") is METHODS["so-enum"]["paper"]
    assert find_method("so-beam:released").budget == 100_000
    assert find_method("so-beam").needs_scores
    assert not find_method("so-enum").needs_scores
    with pytest.raises(BadInput, match="so-enum, so-beam, random"):
        find_method("so-tree")
    with pytest.raises(BadInput, match="no preset 'theirs'"):
        find_method("so-enum:theirs")
    with pytest.raises(BadInput, match="k"):
        SecondOrder(k=-1)


def test_a_rejected_text_is_not_tipped() -> None:
    method = SecondOrder(refusal=2)
    assert method.tipped((0.9, 0.1, 0.0), (0.1, 0.9, 0.0))
    assert not method.tipped((0.9, 0.1, 0.0), (0.0, 0.0, 1.0))
    assert not method.tipped((0.0, 0.0, 1.0), (0.1, 0.9, 0.0))
    assert "refusal" not in repr(method)  # it is the victim's, and no part of a run's identity
