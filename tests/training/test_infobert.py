"""InfoBERT: its step against plain autograd, its robust tokens and bounds by hand, and what it leaves behind."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from torch.nn.functional import cross_entropy

from mohs.errors import BadInput
from mohs.training.hardening import hardenings
from mohs.training.hf_learner import HfLearner
from mohs.training.infobert import Critic, InfoBERT, robust_tokens, spread
from mohs.training.learner import CRITIC, WordLearner
from mohs.training.loop import Progress
from mohs.training.recipe import recipe_for
from mohs.training.train import train
from tests.training.test_train import Stopped, examples

TEXTS: list[tuple[str, ...]] = [("a good film with a fine story",), ("a bad and terrible day",), ("the worst plot",)]
LABELS = torch.tensor([1, 0, 0])


def encoder(folder: Path) -> HfLearner:
    torch.manual_seed(0)
    learner = HfLearner(recipe_for(f"hf:{folder}", {}), TEXTS, ("bad", "good"))
    learner.module.eval()  # no dropout
    return learner


def test_a_step_is_what_autograd_says(bert_folder: Path) -> None:
    learner = encoder(bert_folder)
    method = InfoBERT(steps=2, step=0.3, start=0.5, alpha=0.7, beta=0.2)
    method.attach(learner, TEXTS[0], 4)
    rows = learner.rows(TEXTS)
    loss = method.backward(learner.embed(rows), LABELS, 0.5, 21)
    found = {name: p.grad.clone() for name, p in learner.module.named_parameters() if p.grad is not None}
    assert any(name.startswith(CRITIC) for name in found)
    learner.module.zero_grad()
    # Once more, by hand, as one loss: the perturbation of each pass is a constant.
    table: Any = learner.module.get_input_embeddings()
    inputs: dict[str, Any] = learner._inputs(rows)
    vectors = table(inputs.pop("input_ids"))
    lengths = inputs["attention_mask"].sum(1)
    inside = inputs["attention_mask"].bool()
    torch.manual_seed(21)
    change = torch.empty_like(vectors).uniform_(-1, 1) * inside[..., None]
    change = change * 0.5 / (lengths * vectors.shape[2]).sqrt()[:, None, None]
    critic: Any = getattr(learner.module, CRITIC)
    total: Any = 0.0
    for number in range(2):
        change = change.detach().requires_grad_()
        answer = learner.module(inputs_embeds=vectors + change, output_hidden_states=True, **inputs)
        first, last = answer.hidden_states[0], answer.hidden_states[-1]
        chance = torch.Generator().manual_seed(21 + number)
        tokens = first[inside]
        others = tokens[torch.randint(len(tokens), (len(tokens),), generator=chance)]
        plain = cross_entropy(answer.logits, LABELS) + 0.2 * ((tokens - others) ** 2).sum(1).mean() / 2
        (slope,) = torch.autograd.grad(plain, change, retain_graph=True)
        pairs = []
        for text, length in enumerate(lengths.tolist()):
            order = slope[text, :length].norm(dim=1).argsort().tolist()
            pairs += [(text, place) for place in order[math.ceil(length * 0.5) : math.ceil(length * 0.9)]]
        drawn = [pairs[n] for n in torch.randperm(len(pairs), generator=chance).tolist()]
        assert len(drawn) <= 32
        local = torch.stack([first[text, place] for text, place in drawn])
        sentence = torch.stack([last[text, 0] for text, _ in drawn])
        own = torch.stack([critic.layers(torch.cat([x, y])) for x, y in zip(local, sentence, strict=True)])
        cross = torch.stack([torch.stack([critic.layers(torch.cat([x, y]))[0] for x in local]) for y in sentence])
        told = own.mean() - (cross.logsumexp(1).mean() - math.log(len(drawn)))
        total = total + (plain - 0.7 * told) / 2
        moved = [row + 0.3 * way / way.norm() for row, way in zip(change.detach(), slope, strict=True)]
        change = torch.stack(moved)
    (0.5 * total).backward()
    assert loss == pytest.approx(float(total.detach()), abs=1e-4)
    for name, parameter in learner.module.named_parameters():
        if parameter.grad is not None:
            assert torch.allclose(found[name], parameter.grad, atol=1e-4), name


def test_robust_tokens_are_in_the_middle_of_the_order() -> None:
    slope = torch.zeros(2, 10, 3)
    slope[0, :, 0] = torch.tensor([5.0, 1, 9, 2, 8, 3, 7, 4, 6, 0])
    slope[1, :2, 1] = torch.tensor([3.0, -1.0])
    inside = torch.arange(10)[None] < torch.tensor([10, 1])[:, None]
    found = robust_tokens(slope, inside, 0.5, 0.9)
    assert [place for text, place in found if text == 0] == [0, 8, 6, 4]  # norms 5 to 8 of 0 to 9
    assert [place for text, place in found if text == 1] == [0]


def test_the_spread_of_equal_tokens_is_zero() -> None:
    assert float(spread(torch.ones(5, 3), torch.Generator().manual_seed(0))) == 0
    tokens = torch.tensor([[0.0], [2.0]])
    mean = sum(float(spread(tokens, torch.Generator().manual_seed(seed))) for seed in range(400)) / 400
    assert mean == pytest.approx(1.0, abs=0.1)  # half of the squared distance 4, in half of the draws


def test_a_critic_that_says_the_same_of_all_pairs_tells_nothing() -> None:
    critic = Critic(3, 4)
    with torch.no_grad():
        for parameter in critic.parameters():
            parameter.zero_()
    assert float(critic(torch.randn(6, 3), torch.randn(6, 4)).detach()) == pytest.approx(0, abs=1e-6)


def tuned(bert_folder: Path, out: Path, **options: Any) -> Any:
    settings = {"epochs": 2, "batch": 16, "lr": 1e-3, "device": "cpu", "save_every": 2, "harden": ("infobert",)}
    return train(f"hf:{bert_folder}", examples(48), out, **{**settings, **options})


def test_a_stopped_training_ends_with_the_same_weights_and_no_critic(bert_folder: Path, tmp_path: Path) -> None:
    def stop(at: Progress) -> None:
        if at.step == 4:
            raise Stopped

    whole = tuned(bert_folder, tmp_path / "whole")
    with pytest.raises(Stopped):
        tuned(bert_folder, tmp_path / "m", progress=stop)
    again = tuned(bert_folder, tmp_path / "m")
    assert again.fingerprint == whole.fingerprint
    plain = tuned(bert_folder, tmp_path / "plain", harden=())
    assert plain.fingerprint != whole.fingerprint
    names = [set(load_file(tmp_path / name / "model.safetensors")) for name in ("m", "plain")]
    assert names[0] == names[1]
    cards = [(tmp_path / name / "README.md").read_text() for name in ("m", "plain")]
    numbers = [next(line for line in card.splitlines() if "numbers in the model" in line) for card in cards]
    assert numbers[0] == numbers[1]


def test_it_combines_with_augmentation(bert_folder: Path, tmp_path: Path) -> None:
    done = tuned(bert_folder, tmp_path / "m", harden=("augment", "infobert"), epochs=1)
    assert done.metrics["history"]


def test_a_word_model_is_refused_before_a_folder_is_made_or_an_attack_runs(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="infobert needs the hidden states of an encoder"):
        train("bow", examples(48), tmp_path / "m", device="cpu", vectors="none", harden=("naive", "infobert"))
    assert not (tmp_path / "m").exists()


def test_a_model_without_hidden_states_is_refused(bert_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    word = WordLearner(recipe_for("cnn", {"vectors": "none"}), TEXTS * 2, ("bad", "good"))
    with pytest.raises(BadInput, match="infobert needs the hidden states of an encoder; give --arch hf:PATH_OR_ID"):
        InfoBERT().attach(word, TEXTS[0], 0)
    learner = encoder(bert_folder)
    forward = learner.module.forward

    def silent(**given: Any) -> Any:
        found = forward(**given)
        found.hidden_states = None
        return found

    monkeypatch.setattr(learner.module, "forward", silent)
    with pytest.raises(BadInput, match="infobert needs hidden states, which BertForSequenceClassification does not"):
        InfoBERT().attach(learner, TEXTS[0], 0)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("infobert:steps=0", "steps and step must be above 0, start, alpha and beta at least 0"),
        ("infobert:low=0.9,high=0.5", "low=0.9 and high=0.5 must be shares, the first the smaller"),
    ],
)
def test_what_is_wrong_is_said(given: str, message: str) -> None:
    with pytest.raises(BadInput) as error:
        hardenings([given])
    assert message in str(error.value)
