"""Training the transformer's bounds: the schedule, the loss, going on after a kill, learning, and certificates."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.nn.functional import cross_entropy

import mohs
from mohs.bounds.transformer_margins import best_margins, least_margins
from mohs.errors import BadInput
from mohs.models.load import load_victim
from mohs.models.verifiable_transformer import VerifiableAttention
from mohs.training.hardening import Batch, hardenings
from mohs.training.learner import WordLearner
from mohs.training.lirpa import LeastMargins, Lirpa
from mohs.training.loop import Progress
from mohs.training.recipe import recipe_for
from tests.training.test_train import BAD, GOOD, Stopped, examples, hashed, tiny

BOOK = {word: [o for o in group if o != word] for group in (GOOD, BAD) for word in group} | {"film": ["story", "dull"]}
SMALL: dict[str, Any] = {"layers": 1, "heads": 2, "min_count": 1, "max_words": 16}


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("book") / "words.json"
    path.write_text(json.dumps(BOOK))
    return str(path)


def hardened(out: Path, book: str, **options: Any) -> Any:
    return tiny("transformer", out, **{**SMALL, "harden": (f"lirpa:budget=2,words={book}",), **options})


def learner_of(book: str, **options: Any) -> tuple[WordLearner, LeastMargins, Batch]:
    data = examples(10)
    torch.manual_seed(0)
    given = {**SMALL, "harden": "lirpa", "vectors": "none", "dim": 6, "hidden": 8, "dropout": 0.0, **options}
    texts = [example.text.fields for example in data]
    learner = WordLearner(recipe_for("transformer", given), texts, ("bad", "good"))
    trainer = Lirpa(budget=2, words=book).trainer(learner, data)
    return learner, trainer, Batch(learner.rows(texts), [example.label for example in data], texts)


def test_the_schedule() -> None:
    method = Lirpa()
    assert [method.share(epoch, 25) for epoch in (0, 2.5, 10, 24)] == [0, 0.25, 1, 1]
    assert method.first(25) == 10
    assert Lirpa(most=0.3).share(5, 25) == pytest.approx(0.15)
    assert Lirpa(rise=0).share(0, 3) == 1
    for epochs in range(1, 9):  # some epoch may be kept, whatever the rise
        assert Lirpa(rise=1).first(epochs) < epochs


def test_the_recipe() -> None:
    recipe = recipe_for("transformer", {"harden": "lirpa:budget=3"})
    assert (recipe.verifiable, recipe.freeze, recipe.all_vectors) == (True, False, True)
    assert (recipe.layers, recipe.heads, recipe.hidden, recipe.dropout, recipe.epochs) == (3, 4, 64, 0.1, 25)
    assert (recipe.batch, recipe.lr, recipe.patience, recipe.max_words) == (256, 2e-3, 25, 128)
    assert recipe_for("transformer", {"harden": "lirpa", "layers": 1}).layers == 1
    assert recipe_for("transformer", {"verifiable": True}).hidden == 64
    assert recipe_for("transformer", {}).hidden == 128


@pytest.mark.parametrize("epoch", [0, 2, 9])
def test_the_loss_is_that_of_the_least_margins(book: str, epoch: int) -> None:
    """Epoch 0 is the plain loss, 2 mixes both bounds, 9 has intervals alone; texts one by one have the same loss."""
    learner, trainer, batch = learner_of(book)
    share = Lirpa().share(epoch, 10)
    loss = trainer.backward(batch, epoch, 10)
    found = [p.grad.clone() for p in learner.module.parameters() if p.grad is not None]
    learner.module.zero_grad()
    total: Any = 0.0
    for fields, label in zip(batch.texts, batch.labels, strict=True):
        table, lengths = trainer.choices.of([fields], torch.device("cpu"))
        assert lengths is None
        if epoch == 0:
            total = total + cross_entropy(learner.module(table[:, :, 0]), torch.tensor([label]))
        else:
            margin = least_margins(learner.module, table, None, torch.tensor([label]), budget=2, share=share)[0, 0]
            total = total + torch.log1p((-margin).exp())
    (total / len(batch.texts)).backward()
    assert loss == pytest.approx(float(total.detach()) / len(batch.texts), abs=1e-5)
    for one, other in zip(found, [p.grad for p in learner.module.parameters() if p.grad is not None], strict=True):
        assert torch.allclose(one, other, atol=1e-5)


def test_dropout_drops_the_same_in_both_bounds(book: str) -> None:
    """With dropout too, at no share both bounds are the margin of one network: that with the numbers dropped."""
    learner, trainer, batch = learner_of(book, dropout=0.5)
    learner.module.train()
    table, lengths = trainer.choices.of(batch.texts, torch.device("cpu"))
    labels = torch.tensor(batch.labels)
    own = table[:, :, :1]
    torch.manual_seed(1)
    mixed = least_margins(learner.module, own, lengths, labels, budget=2, share=0.5)
    torch.manual_seed(1)
    intervals = least_margins(learner.module, own, lengths, labels, budget=2, share=1.0)
    torch.manual_seed(1)
    best = best_margins(learner.module, own, lengths, labels, budget=2)
    assert torch.allclose(mixed, intervals, atol=1e-5)
    assert torch.allclose(best, intervals, atol=1e-5)
    torch.manual_seed(2)
    other = best_margins(learner.module, own, lengths, labels, budget=2)
    assert not torch.allclose(best, other, atol=1e-3)


def test_a_stopped_training_ends_with_the_same_weights(tmp_path: Path, book: str) -> None:
    options: dict[str, Any] = {"epochs": 5, "save_every": 3}
    whole = hardened(tmp_path / "whole", book, **options)
    for stop in (2, 14, 37):

        def report(at: Progress, stop: int = stop) -> None:
            if at.step == stop:
                raise Stopped

        with pytest.raises(Stopped):
            hardened(tmp_path / "m", book, progress=report, **options)
    again = hardened(tmp_path / "m", book, **options)
    assert again.fingerprint == whole.fingerprint
    assert again.metrics == whole.metrics
    assert hashed(tmp_path / "m") == hashed(tmp_path / "whole")


def test_certified_accuracy_rises(tmp_path: Path, book: str) -> None:
    """A trained network against an ordinary one of the same shape; what is certified withstands every text."""
    options: dict[str, Any] = {"data": examples(160, seed=2), "epochs": 8, "labels": ("bad", "good"), "layers": 2}
    plain = tiny("transformer", tmp_path / "plain", verifiable=True, **{**SMALL, **options})
    hard = hardened(tmp_path / "hard", book, **options)
    assert hard.metrics["certified"]["right"] > 0.5 * hard.metrics["certified"]["of"]
    assert isinstance(load_victim(plain.victim, device="cpu").model.reader, VerifiableAttention)  # type: ignore[attr-defined]
    rows = [{"text": e.text.fields[0], "label": e.label, "id": e.id} for e in examples(24, seed=5)]
    certified = {}
    for name, done in (("plain", plain), ("hard", hard)):
        with mohs.certify(
            done.victim,
            rows,
            source=f"thesaurus:{book}",
            budget="1,2,all",
            every=10**6,
            out=tmp_path / f"run-{name}",
            device="cpu",
        ) as run:
            assert not any(budget.contradictions for budget in run.certified())
            certified[name] = [budget.certified.hits for budget in run.certified()]
            clean = run.view().figures()["summary"]["clean"]["hits"]
            assert all(b.certified.hits <= b.robust.hits <= clean for b in run.certified())
    assert sum(certified["hard"]) > sum(certified["plain"])
    assert certified["hard"][2] > 12  # of 24


def test_pairs_and_three_classes(tmp_path: Path, book: str) -> None:
    from mohs.text import Example

    data = examples(60, pairs=True) + [Example.of(("seldom", "never good"), 2, id=f"more {n}") for n in range(20)]
    done = hardened(tmp_path / "m", book, data=data, epochs=2)
    assert 0 <= done.metrics["certified"]["right"] <= done.metrics["certified"]["of"]


@pytest.mark.parametrize(
    ("arch", "given", "message"),
    [
        ("cnn", ["lirpa"], "--harden lirpa needs a network whose bounds it knows, and --arch cnn is none"),
        ("transformer", ["lirpa:budget=0"], "--harden lirpa has budget=0; at least one word must be free to change."),
        ("transformer", ["lirpa:most=0"], "--harden lirpa has most=0; it must be above 0 and at most 1."),
        ("transformer", ["lirpa:rise=2"], "--harden lirpa has rise=2; give a share of the epochs, such as 0.5."),
        ("transformer", ["lirpa:k=0"], "--harden lirpa has k=0,cosine=0.5; give k=5,cosine=0.5, for example."),
        ("transformer", ["lirpa:words=nowhere.json"], "nowhere.json"),
        ("transformer", ["lirpa", "augment"], "--harden takes a method that trains bounds alone, not Lirpa and"),
    ],
)
def test_mistakes(arch: str, given: list[str], message: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput) as error:
        tiny(arch, tmp_path / "m", harden=given)
    assert message in str(error.value)


def test_objects_are_taken_as_well_as_names() -> None:
    assert hardenings([Lirpa(k=3)]) == hardenings(["lirpa:k=3"])
