"""Each classifier against its definition written out with loops, and padding against none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from mohs.models.architectures import ARCHITECTURES, FILTERS, Classifier, Shape

NAMES = list(ARCHITECTURES)


def classifier(name: str, seed: int = 0) -> Classifier:
    torch.manual_seed(seed)
    hidden = 8
    shape = Shape(name, words=20, dim=6, hidden=hidden, classes=3, dropout=0.5, max_words=16)
    model = Classifier(shape).eval()
    with torch.no_grad():  # away from the small numbers of a fresh model, so that mistakes show
        for parameter in model.parameters():
            parameter.mul_(2)
    return model


def weights(model: Classifier) -> dict[str, Any]:
    return {name: tensor.double().numpy() for name, tensor in model.state_dict().items()}


def linear(w: dict[str, Any], name: str, x: Any) -> Any:
    return x @ w[f"{name}.weight"].T + w[f"{name}.bias"]


def norm(w: dict[str, Any], name: str, x: Any) -> Any:
    x = (x - x.mean()) / np.sqrt(x.var() + 1e-5)
    return x * w[f"{name}.weight"] + w[f"{name}.bias"]


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def bag(w: dict[str, Any], words: Any) -> Any:
    return np.maximum(linear(w, "reader.hidden", sum(words) / len(words)), 0)


def convolutions(w: dict[str, Any], words: Any) -> Any:
    found: list[float] = []
    for number, size in enumerate(FILTERS):
        kernels, biases = w[f"reader.filters.{number}.weight"], w[f"reader.filters.{number}.bias"]
        for kernel, bias in zip(kernels, biases, strict=True):
            heights = [
                bias + sum(kernel[:, place] @ words[at + place] for place in range(size))
                for at in range(len(words) - size + 1)
            ]
            found.append(max(0, *heights))
    return np.array(found)


def states(w: dict[str, Any], words: Any, ending: str) -> list[Any]:
    hidden = cell = np.zeros(w[f"reader.lstm.weight_hh_l0{ending}"].shape[1])
    found = []
    for word in words:
        total = w[f"reader.lstm.weight_ih_l0{ending}"] @ word + w[f"reader.lstm.weight_hh_l0{ending}"] @ hidden
        total = total + w[f"reader.lstm.bias_ih_l0{ending}"] + w[f"reader.lstm.bias_hh_l0{ending}"]
        enter, forget, new, leave = np.split(total, 4)
        cell = sigmoid(forget) * cell + sigmoid(enter) * np.tanh(new)
        hidden = sigmoid(leave) * np.tanh(cell)
        found.append(hidden)
    return found


def forwards(w: dict[str, Any], words: Any) -> Any:
    return np.max(states(w, words, ""), axis=0)


def both_ways(w: dict[str, Any], words: Any) -> Any:
    return np.concatenate([np.max(states(w, words, ""), axis=0), np.max(states(w, words[::-1], "_reverse"), axis=0)])


def attention(w: dict[str, Any], words: Any) -> Any:
    stream = [linear(w, "reader.enter", word) + w["reader.positions.weight"][p] for p, word in enumerate(words)]
    for block in ("reader.blocks.0", "reader.blocks.1"):
        parts = [np.split(linear(w, f"{block}.triple", norm(w, f"{block}.before", x)), 3) for x in stream]
        looked = []
        for query, _, _ in parts:
            heads = []
            for head in range(4):
                at = slice(2 * head, 2 * head + 2)
                marks = np.exp([query[at] @ key[at] / np.sqrt(2) for _, key, _ in parts])
                heads.append(sum(m * value[at] for m, (_, _, value) in zip(marks / marks.sum(), parts, strict=True)))
            looked.append(np.concatenate(heads))
        stream = [x + linear(w, f"{block}.mix", y) for x, y in zip(stream, looked, strict=True)]
        for place, x in enumerate(stream):
            wide = np.maximum(linear(w, f"{block}.wide", norm(w, f"{block}.between", x)), 0)
            stream[place] = x + linear(w, f"{block}.narrow", wide)
    return np.mean([norm(w, "reader.leave", x) for x in stream], axis=0)


ORACLES = {"bow": bag, "cnn": convolutions, "lstm": forwards, "bilstm": both_ways, "transformer": attention}


@pytest.mark.parametrize("name", NAMES)
def test_definition(name: str) -> None:
    model = classifier(name)
    w = weights(model)
    for length in (ARCHITECTURES[name].least, 6, 16):
        row = torch.randint(0, 20, (length,), generator=torch.Generator().manual_seed(length))
        wanted = linear(w, "out", ORACLES[name](w, w["embedding.weight"][row.numpy()]))
        assert model(row[None])[0].detach().numpy() == pytest.approx(wanted, abs=1e-5)
    assert abs(wanted).max() > 0.1


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=25)
@given(data=st.data())
def test_padding_does_not_count(name: str, data: st.DataObject) -> None:
    model = classifier(name)
    lengths = data.draw(st.lists(st.integers(ARCHITECTURES[name].least, 16), min_size=1, max_size=5))
    chance = torch.Generator().manual_seed(data.draw(st.integers(0, 99)))
    table = torch.randint(0, 20, (len(lengths), max(lengths)), generator=chance)  # what lies beyond a row is anything
    together = model(table, torch.tensor(lengths))
    for number, length in enumerate(lengths):
        alone = model(table[number : number + 1, :length])
        assert together[number].tolist() == pytest.approx(alone[0].tolist(), abs=2e-6)


@pytest.mark.parametrize("name", NAMES)
def test_padding_has_no_slope(name: str) -> None:
    model = classifier(name)
    embedded = torch.randn(2, 9, 6, generator=torch.Generator().manual_seed(1)).requires_grad_()
    (slope,) = torch.autograd.grad(model.read(embedded, torch.tensor([9, 6]))[:, 0].sum(), embedded)
    assert not slope[1, 6:].any()
    assert slope[0].any()
    short = embedded[1:, :6].detach().requires_grad_()
    (alone,) = torch.autograd.grad(model.read(short)[:, 0].sum(), short)
    assert slope[1, :6].flatten().tolist() == pytest.approx(alone[0].flatten().tolist(), abs=2e-6)


def test_what_reads_order() -> None:
    one, other = torch.tensor([[3, 4, 5, 6, 7, 8]]), torch.tensor([[8, 7, 6, 5, 4, 3]])
    for name in NAMES:
        model = classifier(name)
        same = torch.allclose(model(one), model(other), atol=1e-4)
        assert same == (name == "bow"), name


def test_dropout_is_for_training_only() -> None:
    row = torch.arange(3, 12)[None]
    for name in NAMES:
        model = classifier(name)
        assert model(row).tolist() == model(row).tolist()
        model.train()
        assert model(row).tolist() != model(row).tolist()
