"""Interval bounds of verifiable networks, against every text of a space put to the victim."""

from __future__ import annotations

import hypothesis.strategies as st
import pytest
import torch
from hypothesis import given, settings

from mohs.bounds.networks import network_bound
from mohs.models.architectures import Classifier, Shape
from mohs.models.bag import pocket_victim
from mohs.models.neural import NeuralVictim
from mohs.models.vocabulary import Vocabulary
from mohs.space import Space
from mohs.text import Text
from tests.bounds.test_cnn_bound import KNOWN, drawn_space, margins, victim_of

NAMES = ("bow", "cnn", "lstm", "bilstm")
BUDGETS = (0, 1, 2, 3, 4, None)


def verifiable(name: str, seed: int = 0, classes: int = 2, most: int = 9, scale: float = 2.0) -> NeuralVictim:
    vocabulary = Vocabulary(KNOWN, most)
    shape = Shape(name, len(vocabulary), 3, 4, classes, 0.5, most, verifiable=True)
    torch.manual_seed(seed)
    model = Classifier(shape)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(scale)
    return NeuralVictim(name, shape, vocabulary, model, tuple("xyz"[:classes]), device="cpu")


def texts_within(space: Space, budget: int | None) -> list[Text]:
    return list(space.points(len(space.choices) if budget is None else budget))


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=80, deadline=None)
@given(seed=st.integers(0, 9), classes=st.integers(2, 3), scale=st.sampled_from([0.3, 2.0]), data=st.data())
def test_no_text_of_a_space_is_below_the_bound(
    name: str, seed: int, classes: int, scale: float, data: st.DataObject
) -> None:
    victim, space = verifiable(name, seed, classes, scale=scale), drawn_space(data)
    label = data.draw(st.integers(0, classes - 1))
    bound = network_bound(victim, space, label)
    assert bound is not None
    assert bound.method == "ibp"
    lowers = [bound.lower(budget) for budget in BUDGETS]
    assert lowers == sorted(lowers, reverse=True)  # a smaller budget is never looser
    for budget, lower in zip(BUDGETS, lowers, strict=True):
        true = min(margins(victim, texts_within(space, budget), label))
        assert lower <= true
        if budget == 0 or not space.choices:
            assert lower == pytest.approx(true, abs=1e-3)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=35, deadline=None)
@given(seed=st.integers(0, 9), feature=st.integers(0, 3), sign=st.sampled_from([-1, 1]), data=st.data())
def test_nor_where_one_feature_decides(name: str, seed: int, feature: int, sign: int, data: st.DataObject) -> None:
    """With many features every bound has room to spare, which hides mistakes: here a network has one."""
    victim = verifiable(name, seed)
    reader = victim.model.reader
    with torch.no_grad():
        victim.model.out.weight.zero_()
        victim.model.out.weight[0, 0] = sign
        reader.hidden.weight.zero_()
        reader.hidden.weight[0, feature] = 3.0
        reader.hidden.bias.fill_(4.0)  # above the kink
    victim = NeuralVictim(name, victim_shape(name), victim.vocabulary, victim.model, victim.labels, device="cpu")
    words = data.draw(st.lists(st.sampled_from(KNOWN), min_size=1, max_size=7))
    position = data.draw(st.integers(0, len(words) - 1))
    choices = tuple(data.draw(st.permutations(KNOWN))[:3])
    space = Space(Text(" ".join(words)), {position: choices})
    bound = network_bound(victim, space, 0)
    assert bound is not None
    true = min(margins(victim, texts_within(space, 1), 0))
    assert bound.lower(1) <= true
    if name == "bow":
        assert bound.lower(1) == pytest.approx(true, abs=1e-4)  # one word, one feature: nothing is lost
    both = Space(Text(" ".join(["a", *words, "b"])), {0: choices, position + 1: choices, len(words) + 1: choices})
    bound = network_bound(victim, both, 0)
    assert bound is not None
    for budget in (1, 2, 3):
        true = min(margins(victim, texts_within(both, budget), 0))
        assert bound.lower(budget) <= true
        if name == "bow":
            assert bound.lower(budget) == pytest.approx(true, abs=1e-4)  # the words add up


def victim_shape(name: str) -> Shape:
    return Shape(name, len(KNOWN) + 3, 3, 4, 2, 0.5, 9, verifiable=True)


def test_budgets_are_worth_something() -> None:
    """Where many words may change, a budget of one must give a better bound than none."""
    for name in NAMES:
        victim = verifiable(name, 3)
        text = Text("a b c d e f g")
        space = Space(text, dict.fromkeys(range(7), KNOWN[:4]))
        bound = network_bound(victim, space, 0)
        assert bound is not None
        lowers = [bound.lower(budget) for budget in (0, 1, 2, None)]
        assert lowers[0] > lowers[1] > lowers[2] > lowers[3], name


def test_who_has_no_such_bound() -> None:
    space = Space(Text("a b"), {1: ("c",)})
    assert network_bound(pocket_victim(), space, 0) is None
    assert network_bound(victim_of(0), space, 0) is None  # a CNN of the usual shape
    assert network_bound(verifiable("cnn"), Space(Text("a b"), {1: ("c d",)}), 0) is None
    half = verifiable("cnn")
    half.model.half()
    assert network_bound(half, space, 0) is None


def test_a_large_network_of_large_numbers_stays_sound() -> None:
    """32-bit rounding grows with the size of the numbers; the bound of a text alone is below what is computed."""
    for name in NAMES:
        for seed in range(5):
            victim = verifiable(name, seed, scale=30.0)
            text = Text("a b c d e f g a b")
            bound = network_bound(victim, Space(text, {1: ("b",), 2: ("C",)}), 0)  # choices that change nothing
            assert bound is not None
            (true,) = margins(victim, [text], 0)
            assert bound.lower(None) <= true
