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
from tests.bounds.test_cnn_bound import KNOWN, WORDS, drawn_space, margins, victim_of

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
