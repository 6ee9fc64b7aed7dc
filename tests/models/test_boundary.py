"""The normal of the nearest decision boundary, and the layers that an encoder's sentence vector passes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from mohs.engine import Service
from mohs.errors import BadInput
from mohs.models.bag import pocket_victim
from mohs.models.boundary import boundary_normals
from mohs.models.gradients import gradients_of
from mohs.models.hf import HfVictim
from mohs.models.tails import tail_of
from mohs.text.questions import Labelled, Sentence, SentenceVector, Slope
from mohs.training.learner import WordLearner
from mohs.training.recipe import recipe_for
from tests.models.conftest import small_model, tiny_tokenizer, transformers

SIZES = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}


@given(seed=st.integers(0, 10_000), classes=st.integers(2, 5), size=st.integers(1, 6))
@settings(max_examples=60)
def test_with_a_linear_head_it_is_the_nearest_difference_of_rows(seed: int, classes: int, size: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    weights, bias = torch.randn(classes, size, generator=generator), torch.randn(classes, generator=generator)
    points = torch.randn(7, size, generator=generator)
    found = boundary_normals(points, lambda x: x @ weights.T + bias)
    logits = points @ weights.T + bias
    for point, normal in zip(logits, found, strict=True):
        own = int(point.argmax())
        others = [number for number in range(classes) if number != own]
        way = {n: (point[own] - point[n]) / (weights[n] - weights[own]).norm() for n in others}
        nearest = min(others, key=lambda n: float(way[n]))
        expected = (weights[nearest] - weights[own]) / (weights[nearest] - weights[own]).norm()
        assert torch.allclose(normal, expected, atol=1e-4)


def test_with_a_curved_head_following_it_changes_the_class() -> None:
    torch.manual_seed(0)
    head = torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.Tanh(), torch.nn.Linear(16, 3))
    points = torch.randn(50, 4) * 2
    normals = boundary_normals(points, head)
    assert torch.allclose(normals.norm(dim=1), torch.ones(50), atol=1e-5)
    with torch.no_grad():
        before = head(points)
        after = head(points + 1e-3 * normals)
        own = before.argmax(1, keepdim=True)
        margins = [(x.gather(1, own)[:, 0] - x.scatter(1, own, -99.0).max(1).values) for x in (before, after)]
    assert int((margins[1] < margins[0]).sum()) >= 45  # it is the slope at the boundary, not at the point
    assert all(parameter.grad is None for parameter in head.parameters())


def test_a_constant_head_has_no_boundary() -> None:
    found = boundary_normals(torch.ones(2, 3), lambda x: torch.tensor([[1.0, 0.0]]).expand(len(x), 2) + 0 * x.sum())
    assert torch.equal(found, torch.zeros(2, 3))


@pytest.mark.parametrize("family", ["Bert", "Roberta", "DistilBert", "Electra", "Deberta", "Albert"])
def test_the_tail_gives_the_logits(family: str) -> None:
    torch.manual_seed(0)
    sizes: dict[str, Any] = {"vocab_size": 50, "num_labels": 3, "max_position_embeddings": 40}
    own = {"dim": 32, "n_layers": 2, "n_heads": 2, "hidden_dim": 64} if family == "DistilBert" else SIZES
    model = getattr(transformers, f"{family}ForSequenceClassification")(
        getattr(transformers, f"{family}Config")(**sizes, **own)
    ).eval()
    inputs = {"input_ids": torch.randint(3, 50, (2, 9))}
    tail = tail_of("hf:x", model, inputs)
    with torch.no_grad():
        state = model.base_model(**inputs).last_hidden_state[:, 0]
        assert torch.allclose(tail(state), model(**inputs).logits, atol=1e-5)


def test_a_model_that_reads_all_states_has_no_tail() -> None:
    config = transformers.XLNetConfig(vocab_size=50, d_model=32, n_layer=1, n_head=2, d_inner=32, num_labels=2)
    model = transformers.XLNetForSequenceClassification(config).eval()
    with pytest.raises(BadInput, match="hf:x decides by more than the first token's last state"):
        tail_of("hf:x", model, {"input_ids": torch.randint(3, 50, (2, 9))})


def answers(victim: Any, items: list[Any]) -> list[Any]:
    return list(Service(gradients_of(victim)).again(items))


def victims() -> list[Any]:
    tokenizer = tiny_tokenizer("wordpiece")
    encoder = HfVictim(small_model("bert", tokenizer), tokenizer, device="cpu")
    texts = [("a good film with a fine story",), ("a bad and terrible day",)] * 2
    word = [WordLearner(recipe_for(arch, {"vectors": "none"}), texts, ("no", "yes")) for arch in ("bow", "cnn", "lstm")]
    return [pocket_victim(), encoder, *(learner.victim() for learner in word)]


def test_victims_answer_both_kinds_of_questions_in_any_company() -> None:
    texts = [("a good film",), ("a bad and terrible day with a fine story",), ("",), ("good " * 20,)]
    for victim in victims():
        items: list[Any] = [SentenceVector(number % 2 == 0, fields) for number, fields in enumerate(texts)]
        mixed = answers(victim, [*items, *(Labelled(fields, 1) for fields in texts)])
        assert all(isinstance(answer, Slope) for answer in mixed[len(texts) :])
        for item, answer in zip(items, mixed, strict=False):
            assert isinstance(answer, Sentence)
            (alone,) = answers(victim, [item])
            assert np.allclose(answer.vector, alone.vector, atol=1e-5)
            assert (answer.normal is None) == (not item.normal)
            if answer.normal is not None:
                assert np.linalg.norm(answer.normal) == pytest.approx(1, abs=1e-4)
