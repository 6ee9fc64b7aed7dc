"""Training that makes a classifier harder to fool."""

from __future__ import annotations

import hashlib
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest
import torch
from torch.nn.functional import cross_entropy

from mohs.errors import BadInput
from mohs.text import Text
from mohs.training.augmentation import Augment, RandomWords, important
from mohs.training.hardening import Batch, hard_step, hardenings, importances
from mohs.training.hf_learner import HfLearner
from mohs.training.learner import Learner, WordLearner
from mohs.training.loop import Progress
from mohs.training.perturbation import FreeLB, Smart, divergence
from mohs.training.recipe import recipe_for
from tests.training.test_train import Stopped, tiny

TEXTS: list[tuple[str, ...]] = [
    ("a good film with a fine story",),
    ("a bad and terrible day",),
    ("the worst plot",),
]
LABELS = [1, 0, 0]


def words(arch: str = "bow") -> WordLearner:
    torch.manual_seed(0)
    return WordLearner(recipe_for(arch, {"dropout": 0.0, "min_count": 1}), TEXTS, ("bad", "good"))


def encoder(folder: Path) -> HfLearner:
    learner = HfLearner(recipe_for(f"hf:{folder}", {}), TEXTS, ("bad", "good"))
    learner.module.eval()  # no dropout
    return learner


def batch_of(learner: Learner) -> Batch:
    return Batch(learner.rows(TEXTS), LABELS, TEXTS)


def gradients(learner: Learner) -> list[Any]:
    return [p.grad.clone() for p in learner.module.parameters() if p.grad is not None]


def test_reading_from_the_vectors_is_reading_the_rows(bert_folder: Path) -> None:
    for learner in (words("cnn"), words("lstm"), encoder(bert_folder)):
        learner.module.eval()
        rows = learner.rows(TEXTS)
        embedded = learner.embed(rows)
        assert torch.allclose(embedded.read(embedded.vectors), learner.logits(rows), atol=1e-5)
        assert embedded.inside.sum(1).tolist() == [len(row) for row in rows]


def test_the_places_of_words(bert_folder: Path) -> None:
    pairs = [("A good, fine film.", "It's unbelievably bad!"), ("", "one"), ("so", "")]
    for learner in (words(), encoder(bert_folder)):
        for pair in pairs:
            if not all(pair) and isinstance(learner, WordLearner):
                continue
            row: Any = learner.rows([pair])[0]
            found = learner.places(row, pair)
            assert len(found) == len(Text(*pair))
            taken = [place for places in found for place in places]
            assert len(set(taken)) == len(taken)
            assert all(found)
            if isinstance(learner, HfLearner):
                for places, (field, start, end) in zip(found, Text(*pair).spans(), strict=True):
                    covered = [row.offsets[place] for place in places]
                    assert {row.sequence_ids[place] for place in places} == {field}
                    assert (covered[0][0], covered[-1][1]) == (start, end)


def test_importance_is_what_finite_differences_say(bert_folder: Path) -> None:
    for learner in (words("cnn"), encoder(bert_folder)):
        learner.module.double().eval()
        batch = batch_of(learner)
        embedded = learner.embed(batch.rows)
        embedded.vectors.retain_grad()
        loss = cross_entropy(embedded.read(embedded.vectors).double(), torch.tensor(LABELS))
        loss.backward()  # type: ignore[no-untyped-call]
        found = importances(learner, batch, embedded)
        step = 1e-3  # the encoder's logits have 32 bits
        for number, text in enumerate(TEXTS):
            for word, places in enumerate(learner.places(batch.rows[number], text)):
                losses = []
                for sign in (1, -1):
                    moved = embedded.vectors.detach().clone()
                    for place in places:
                        moved[number, place] *= 1 + sign * step
                    losses.append(float(cross_entropy(embedded.read(moved).double(), torch.tensor(LABELS)).detach()))
                assert found[number][word] == pytest.approx((losses[0] - losses[1]) / (2 * step), abs=2e-3)


def test_the_most_important_words_are_taken_before_the_stopwords_are_left_out() -> None:
    text = Text("the film was a good story")
    assert important(text, [9, 1, 8, 0, 7, 2], 0.5) == [4]  # the and was are stopwords, and nothing takes their place
    assert important(text, [0, 9, 8, 0, 7, 2], 0.5) == [1, 4]
    assert important(text, [0, 9, 8, 0, 7, 2], 0.01) == [1]


def test_a_replacement_is_drawn_in_proportion_to_one_minus_the_cosine() -> None:
    method = Augment(k=4)
    options, weights = method.candidates("good")
    assert options
    assert all(0 < weight < 0.5 for weight in weights)
    chance = Random(5)
    seen = Counter(method.replaced(Text("good"), [0], chance)[0] for _ in range(4000))
    for option, weight in zip(options, weights, strict=True):
        assert seen[option] / 4000 == pytest.approx(weight / sum(weights), abs=0.03)


def test_augmentation_learns_the_text_and_its_copy_alike() -> None:
    learner = words("cnn")
    batch = batch_of(learner)
    method = Augment()
    loss = hard_step(learner, batch, [method], 7)
    found = gradients(learner)
    learner.module.zero_grad()
    embedded = learner.embed(batch.rows)
    embedded.vectors.retain_grad()
    (0.5 * cross_entropy(embedded.read(embedded.vectors), torch.tensor(LABELS))).backward()  # type: ignore[no-untyped-call]
    copies = method.texts(learner, batch, importances(learner, batch, embedded), Random(7))
    assert copies != TEXTS
    learner.module.zero_grad()
    both = learner.rows([*TEXTS, *copies])
    whole = cross_entropy(learner.logits(both), torch.tensor(LABELS * 2))
    whole.backward()  # type: ignore[no-untyped-call]
    assert loss == pytest.approx(float(whole.detach()), abs=1e-5)
    for one, other in zip(found, gradients(learner), strict=True):
        assert torch.allclose(one, other, atol=1e-6)


def test_random_words_change_a_share_of_what_is_no_stopword() -> None:
    learner = words()
    for fields, new in zip(
        TEXTS, RandomWords(rate=0.5).texts(learner, batch_of(learner), None, Random(1)), strict=True
    ):
        edits = Text(*fields).edits(Text(*new))
        open_words = [word for word in Text(*fields).words if word not in ("a", "with", "and", "the")]
        assert len(edits) <= int(0.5 * len(open_words) + 0.5)


def test_freelb_is_the_mean_over_its_passes() -> None:
    learner = words("cnn")
    method = FreeLB(steps=2, step=0.3, start=0.5, radius=0.4)
    labels = torch.tensor(LABELS)
    embedded = learner.embed(learner.rows(TEXTS))
    loss = method.backward(embedded, labels, 1.0, 11)
    found = gradients(learner)
    learner.module.zero_grad()
    # once more, by hand: the changes of the three passes first, then one sum of losses
    vectors = learner.embed(learner.rows(TEXTS)).vectors
    inside = embedded.inside[..., None].float()
    torch.manual_seed(11)
    sizes = torch.tensor([len(row) * vectors.shape[2] for row in learner.rows(TEXTS)]).sqrt()[:, None, None]
    change = torch.empty_like(vectors).uniform_(-1, 1) * inside * 0.5 / sizes
    total: Any = 0.0
    for number in range(3):
        change = change.detach().requires_grad_()
        one = cross_entropy(embedded.read(vectors + change), labels)
        total = total + one / 3
        if number < 2:
            (slope,) = torch.autograd.grad(one, change, retain_graph=True)
            moved = []
            for row, towards in zip(change.detach(), slope, strict=True):
                new = row + 0.3 * towards / towards.norm()
                moved.append(new * min(1, 0.4 / float(new.norm())))
            change = torch.stack(moved)
    total.backward()
    assert loss == pytest.approx(float(total.detach()), abs=1e-5)
    assert all(float(row.norm()) <= 0.4 + 1e-5 for row in change.detach())
    for a, b in zip(found, gradients(learner), strict=True):
        assert torch.allclose(a, b, atol=1e-5)


def test_smart_is_the_loss_and_the_divergence() -> None:
    learner = words("cnn")
    method = Smart(weight=2.0)
    labels = torch.tensor(LABELS)
    embedded = learner.embed(learner.rows(TEXTS))
    loss = method.backward(embedded, labels, 1.0, 3)
    found = gradients(learner)
    learner.module.zero_grad()
    vectors = learner.embed(learner.rows(TEXTS)).vectors
    inside = embedded.inside[..., None].float()
    torch.manual_seed(3)
    noise = (torch.randn_like(vectors) * 1e-5 * inside).requires_grad_()
    clean = embedded.read(vectors)
    (slope,) = torch.autograd.grad(divergence(embedded.read(vectors.detach() + noise), clean.detach()), noise)
    moved = (noise + 1e-3 * slope).detach()
    change = moved / (moved.abs().max(2, keepdim=True).values + 1e-6) * inside
    whole = cross_entropy(clean, labels) + 2 * divergence(embedded.read(vectors + change), clean)
    whole.backward()  # type: ignore[no-untyped-call]
    assert loss == pytest.approx(float(whole.detach()), abs=1e-5)
    for a, b in zip(found, gradients(learner), strict=True):
        assert torch.allclose(a, b, atol=1e-5)


def test_the_divergence_is_symmetric() -> None:
    p, q = torch.tensor([[0.2, 0.8]]), torch.tensor([[0.6, 0.4]])
    expected = float((p * (p / q).log()).sum() + (q * (q / p).log()).sum())
    assert float(divergence(p.log(), q.log())) == pytest.approx(expected)
    assert float(divergence(q.log(), p.log())) == pytest.approx(expected)


@pytest.mark.parametrize("method", ["augment", "random", "freelb", "smart"])
def test_a_stopped_training_ends_with_the_same_weights(tmp_path: Path, method: str) -> None:
    def stop(at: Progress) -> None:
        if at.step == 7:
            raise Stopped

    options: dict[str, Any] = {"harden": (method,), "epochs": 2, "save_every": 3}
    whole = tiny("cnn", tmp_path / "whole", **options)
    with pytest.raises(Stopped):
        tiny("cnn", tmp_path / "m", progress=stop, **options)
    again = tiny("cnn", tmp_path / "m", **options)
    assert again.fingerprint == whole.fingerprint
    assert tiny("cnn", tmp_path / "plain", epochs=2, save_every=3).fingerprint != whole.fingerprint
    card = (tmp_path / "m" / "README.md").read_text()
    assert {"augment": "Augment(", "random": "RandomWords(", "freelb": "FreeLB(", "smart": "Smart("}[method] in card
    with pytest.raises(BadInput, match="harden"):
        tiny("cnn", tmp_path / "m", **{**options, "harden": ()})


def test_an_encoder_is_augmented_for_twelve_epochs() -> None:
    assert recipe_for("hf:x", {"harden": "augment:rate=0.2"}).epochs == 12
    assert recipe_for("hf:x", {"harden": "augment", "epochs": 2}).epochs == 2
    assert recipe_for("hf:x", {"harden": "freelb"}).epochs == 3


def test_hardening_an_encoder(bert_folder: Path, tmp_path: Path) -> None:
    learner = encoder(bert_folder)
    before = hashlib.sha256(str(learner.module.state_dict()).encode()).hexdigest()
    for methods in (["augment"], ["augment", "freelb"], ["smart", "random"]):
        learner.module.zero_grad()
        assert hard_step(learner, batch_of(learner), hardenings(methods), 1) > 0
        assert all(bool(torch.isfinite(slope).all()) for slope in gradients(learner))
    assert hashlib.sha256(str(learner.module.state_dict()).encode()).hexdigest() == before


def test_an_encoder_without_input_embeddings(bert_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    learner = encoder(bert_folder)
    monkeypatch.setattr(type(learner.module), "get_input_embeddings", lambda self: None)
    with pytest.raises(BadInput, match="has no input embeddings, which hardening needs"):
        learner.embed(learner.rows(TEXTS))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["magic"], "Unknown hardening method 'magic'; use augment, random, freelb, smart"),
        (["augment:speed=3"], "has the part 'speed=3'; augment takes NAME=VALUE with rate, words, k, cosine, vectors."),
        (["augment:rate=x"], "has rate=x, which does not fit"),
        (["augment:rate=0"], "rate=0.0 must be a share"),
        (["augment:words=tea"], "not from 'tea'"),
        (["freelb:steps=0"], "steps and step must be above 0"),
        (["smart:noise=0"], "noise, step and steps must be above 0"),
        (["freelb", "smart"], "takes one method that perturbs embeddings, not FreeLB and Smart together"),
    ],
)
def test_what_is_wrong_is_said(given: list[str], message: str) -> None:
    with pytest.raises(BadInput) as error:
        hardenings(given)
    assert message in str(error.value)
