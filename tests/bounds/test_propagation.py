"""Interval bounds for training: written out text by text, and against every choice."""

from __future__ import annotations

from itertools import product
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
import torch
from hypothesis import given, settings

from mohs.bounds.networks import network_bound
from mohs.bounds.propagation import logits_and_leads
from mohs.models.architectures import Classifier
from mohs.space import Space
from mohs.text import Text
from tests.bounds.test_cnn_bound import KNOWN
from tests.bounds.test_networks import NAMES, verifiable

Pair = tuple[Any, Any]  # a lower and an upper bound


def network(name: str, seed: int, classes: int = 3) -> Classifier:
    return verifiable(name, seed, classes).model


def linear(pair: Pair, weight: Any, bias: Any) -> Pair:
    up, down = np.maximum(weight, 0), np.minimum(weight, 0)
    return up @ pair[0] + down @ pair[1] + bias, up @ pair[1] + down @ pair[0] + bias


def both(function: Any, pair: Pair) -> Pair:
    return function(pair[0]), function(pair[1])


def relu(pair: Pair) -> Pair:
    return both(lambda x: np.maximum(x, 0), pair)


def times(one: Pair, other: Pair) -> Pair:
    corners = [a * b for a in one for b in other]
    return np.min(corners, 0), np.max(corners, 0)


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def states(w: dict[str, Any], words: list[Pair], end: str) -> list[Pair]:
    size = w[f"reader.lstm.weight_hh_l0{end}"].shape[1]
    hidden = cell = (np.zeros(size), np.zeros(size))
    found = []
    for word in words:
        a = linear(word, w[f"reader.lstm.weight_ih_l0{end}"], w[f"reader.lstm.bias_ih_l0{end}"])
        b = linear(hidden, w[f"reader.lstm.weight_hh_l0{end}"], w[f"reader.lstm.bias_hh_l0{end}"])
        enter, forget, new, leave = zip(np.split(a[0] + b[0], 4), np.split(a[1] + b[1], 4), strict=True)
        kept, fresh = times(both(sigmoid, forget), cell), times(both(sigmoid, enter), both(np.tanh, new))
        cell = kept[0] + fresh[0], kept[1] + fresh[1]
        hidden = times(both(sigmoid, leave), both(np.tanh, cell))
        found.append(hidden)
    return found


def by_hand(model: Classifier, choices: list[list[int]], label: int, share: float) -> Any:
    """The leads of one text, with loops and without torch."""
    w = {name: tensor.double().numpy() for name, tensor in model.state_dict().items()}
    name = model.reader.__class__.__name__
    words: list[Pair] = []
    for others in choices:
        each = [w["reader.word.weight"] @ w["embedding.weight"][o] + w["reader.word.bias"] for o in others]
        low, high = np.min(each, 0), np.max(each, 0)
        words.append(relu((each[0] - share * (each[0] - low), each[0] + share * (high - each[0]))))
    if name == "VerifiableConvolutions":
        none = (np.zeros(4), np.zeros(4))
        wide = [none, *words, none]
        words = [
            relu(
                linear(
                    (
                        np.concatenate([p[0] for p in wide[at : at + 3]]),
                        np.concatenate([p[1] for p in wide[at : at + 3]]),
                    ),
                    w["reader.filters.weight"],
                    w["reader.filters.bias"],
                )
            )
            for at in range(len(words))
        ]
    if name == "VerifiableRecurrence":
        sides = [states(w, words, "")]
        if len(model.reader.ways) == 2:
            sides.append(states(w, words[::-1], "_reverse"))
        words = [
            (np.concatenate([p[0] for p in ps]), np.concatenate([p[1] for p in ps]))
            for ps in zip(*(s if n == 0 else s[::-1] for n, s in enumerate(sides)), strict=True)
        ]
    mean = np.mean([p[0] for p in words], 0), np.mean([p[1] for p in words], 0)
    features = relu(linear(mean, w["reader.hidden.weight"], w["reader.hidden.bias"]))
    slopes = w["out.weight"] - w["out.weight"][label]
    return linear(features, slopes, w["out.bias"] - w["out.bias"][label])[1]


def drawn(data: st.DataObject, rows: int) -> tuple[torch.Tensor, list[list[list[int]]]]:
    """Choices of some texts of different lengths: as a padded table, and as lists."""
    lengths = data.draw(st.lists(st.integers(1, 5), min_size=rows, max_size=rows))
    word = st.integers(1, len(KNOWN) + 2)
    texts = [[data.draw(st.lists(word, min_size=1, max_size=3)) for _ in range(length)] for length in lengths]
    table = torch.full((rows, max(lengths), 3), data.draw(st.integers(0, 5)))  # what lies beyond a row is anything
    for row, text in enumerate(texts):
        for place, others in enumerate(text):
            table[row, place] = torch.tensor((others + others[:1] * 3)[:3])
    return table, texts


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 9), share=st.sampled_from([0.0, 0.4, 1.0]), data=st.data())
def test_the_definition_text_by_text(name: str, seed: int, share: float, data: st.DataObject) -> None:
    model = network(name, seed)
    table, texts = drawn(data, data.draw(st.integers(1, 4)))
    labels = torch.tensor(data.draw(st.lists(st.integers(0, 2), min_size=len(texts), max_size=len(texts))))
    lengths = torch.tensor([len(text) for text in texts])
    logits, leads = logits_and_leads(model, table, lengths, labels, share)
    own = model(table[:, :, 0], lengths)
    assert torch.allclose(logits, own, atol=1e-5)
    for text, label, found in zip(texts, labels.tolist(), leads, strict=True):
        assert found.tolist() == pytest.approx(by_hand(model, text, label, share).tolist(), abs=1e-4)
    if not share:
        assert torch.allclose(leads, logits - logits.gather(1, labels[:, None]), atol=1e-4)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 9), data=st.data())
def test_no_choice_leads_by_more(name: str, seed: int, data: st.DataObject) -> None:
    model = network(name, seed)
    table, texts = drawn(data, 1)
    label = torch.tensor([data.draw(st.integers(0, 2))])
    _, leads = logits_and_leads(model, table, None, label)
    rows = torch.tensor(list(product(*texts[0])))
    logits = model(rows)
    assert bool((logits - logits[:, label] <= leads + 1e-4).all())


def test_the_certificate_is_never_looser_than_what_is_trained() -> None:
    for name in NAMES:
        for seed in range(6):
            victim = verifiable(name, seed)
            text, choices = Text("a b c d e"), {1: ("c", "f"), 3: ("g", "a")}
            bound = network_bound(victim, Space(text, choices), 0)
            assert bound is not None
            index = victim.vocabulary.index
            table = torch.tensor(
                [[[index[w], *(index[o] for o in (choices.get(p) or (w, w)))] for p, w in enumerate(text.words)]]
            )
            _, leads = logits_and_leads(victim.model, table, None, torch.tensor([0]))
            assert bound.lower(None) >= -float(leads[0, 1].detach()) - 1e-4


def test_dropout_drops_the_same_everywhere() -> None:
    model = network("cnn", 1).train()
    table = torch.randint(1, 9, (50, 4, 1)).expand(-1, -1, 3)
    logits, leads = logits_and_leads(model, table, None, torch.zeros(50, dtype=torch.long))
    assert torch.allclose(leads, logits - logits[:, :1], atol=1e-4)  # without choices both are one network
    assert not torch.allclose(logits, model.eval()(table[:, :, 0]), atol=1e-2)
