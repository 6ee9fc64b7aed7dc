"""Training with interval bounds: the schedule, the loss, the best epoch, going on after a kill, and certificates."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.nn.functional import cross_entropy

import mohs
from mohs.bounds.propagation import logits_and_leads
from mohs.errors import BadInput
from mohs.models.load import load_victim
from mohs.models.neural import NeuralVictim
from mohs.models.verifiable import Verifiable
from mohs.text import Example
from mohs.training.certified import IBP
from mohs.training.folder import read_record
from mohs.training.hardening import Batch, hardenings
from mohs.training.learner import WordLearner
from mohs.training.loop import Progress
from mohs.training.recipe import recipe_for
from tests.training.test_train import BAD, GOOD, Stopped, examples, hashed, tiny

NAMES = ("bow", "cnn", "lstm", "bilstm")
BOOK = {word: [o for o in group if o != word] for group in (GOOD, BAD) for word in group} | {"film": ["story", "dull"]}


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("book") / "words.json"
    path.write_text(json.dumps(BOOK))
    return str(path)


def hardened(arch: str, out: Path, book: str, **options: Any) -> Any:
    return tiny(arch, out, **{"harden": (f"ibp:words={book}",), "min_count": 1, **options})


def test_the_schedule() -> None:
    method = IBP()
    assert [method.share(epoch, 60) for epoch in (0, 39, 40, 59)] == [0, 1, 1, 1]
    assert method.share(13, 60) == pytest.approx(13 / 39)
    assert method.first(60) == 39  # so 21 epochs count in full; Jia et al. say 20, and their last rising one is full
    assert [IBP(rise=0).share(epoch, 5) for epoch in range(5)] == [1] * 5
    assert [IBP(rise=1).first(epochs) for epochs in (1, 2, 9)] == [0, 1, 8]
    for epochs in range(1, 12):
        assert method.share(epochs - 1, epochs) == 1  # some epoch may be kept


def test_the_recipe() -> None:
    recipe = recipe_for("cnn", {"harden": "ibp:k=3"})
    assert (recipe.verifiable, recipe.freeze, recipe.all_vectors, recipe.hidden) == (True, True, True, 100)
    assert (recipe.epochs, recipe.batch, recipe.lr, recipe.decay, recipe.clip, recipe.dropout) == (
        60,
        32,
        1e-3,
        1e-4,
        0.25,
        0.2,
    )
    assert recipe_for("cnn", {"harden": "ibp", "epochs": 9}).epochs == 9
    plain = recipe_for("lstm", {"verifiable": True})
    assert (plain.epochs, plain.hidden, plain.patience) == (20, 100, 5)
    learnt = recipe_for("bow", {"harden": "ibp", "vectors": "none"})
    assert (learnt.freeze, learnt.all_vectors, learnt.dim) == (False, False, 100)
    assert "verifiable" not in recipe_for("cnn", {}).settings()  # so that older trainings can be resumed


def test_the_loss_is_a_mix_of_the_worst_and_the_plain_one(book: str) -> None:
    data = examples(12)
    torch.manual_seed(0)
    recipe = recipe_for("cnn", {"harden": "ibp", "vectors": "none", "dim": 6, "dropout": 0.0, "min_count": 1})
    learner = WordLearner(recipe, [example.text.fields for example in data], ("bad", "good"))
    trainer = IBP(words=book, weight=0.7).trainer(learner, data)
    texts, labels = [e.text.fields for e in data], [e.label for e in data]
    for epoch, share in ((0, 0.0), (2, 2 / 5), (5, 1.0), (8, 1.0)):
        learner.module.zero_grad()
        loss = trainer.backward(Batch(learner.rows(texts), labels, texts), epoch, 9)
        found = [p.grad.clone() for p in learner.module.parameters() if p.grad is not None]
        learner.module.zero_grad()
        total: Any = 0.0
        for fields, label in zip(texts, labels, strict=True):  # one by one, without padding
            table, _ = trainer.choices.of([fields], torch.device("cpu"))
            logits, leads = logits_and_leads(learner.module, table, None, torch.tensor([label]), share)
            worst = torch.log1p(leads[0, 1 - label].exp())  # with two classes: the paper's loss of one logit
            total = total + 0.7 * share * worst + (1 - 0.7 * share) * cross_entropy(logits, torch.tensor([label]))
        (total / len(texts)).backward()
        assert loss == pytest.approx(float(total.detach()) / len(texts), abs=1e-5)
        for one, other in zip(found, [p.grad for p in learner.module.parameters() if p.grad is not None], strict=True):
            assert torch.allclose(one, other, atol=1e-6)


@pytest.mark.parametrize("arch", NAMES)
def test_a_stopped_training_ends_with_the_same_weights(arch: str, tmp_path: Path, book: str) -> None:
    """Ten steps an epoch and six epochs: stopped before the first checkpoint, in the rise, and at full weight."""
    options: dict[str, Any] = {"epochs": 6, "save_every": 3, "patience": 9}
    whole = hardened(arch, tmp_path / "whole", book, **options)
    for stop in (2, 14, 47):

        def report(at: Progress, stop: int = stop) -> None:
            if at.step == stop:
                raise Stopped

        with pytest.raises(Stopped):
            hardened(arch, tmp_path / "m", book, progress=report, **options)
    again = hardened(arch, tmp_path / "m", book, **options)
    assert again.fingerprint == whole.fingerprint
    assert again.metrics == whole.metrics
    assert hashed(tmp_path / "m") == hashed(tmp_path / "whole")


def test_only_epochs_at_full_weight_are_kept(tmp_path: Path, book: str) -> None:
    told: list[Progress] = []
    done = hardened("bow", tmp_path / "m", book, epochs=9, patience=1, progress=told.append)
    ends = [at for at in told if at.right is not None]
    assert [at.best for at in ends[:5]] == [False] * 5  # and a patience of one does not end the rise
    assert done.metrics["best_epoch"] >= 6
    best = max(at.right for at in ends[5:] if at.right is not None)
    assert done.metrics["certified"] == {"right": best, "of": done.metrics["dev"]["of"]}
    card = (tmp_path / "m" / "README.md").read_text()
    assert "chosen by dev certified accuracy" in card
    assert "words with choices" in card


def test_another_word_list_is_another_training(tmp_path: Path) -> None:
    path = tmp_path / "words.json"
    path.write_text(json.dumps(BOOK))

    def stop(at: Progress) -> None:
        raise Stopped

    with pytest.raises(Stopped):
        hardened("bow", tmp_path / "m", str(path), progress=stop)
    path.write_text(json.dumps({**BOOK, "good": ["bad"]}))
    with pytest.raises(BadInput, match="choices_hash"):
        hardened("bow", tmp_path / "m", str(path))


@pytest.mark.parametrize("arch", NAMES)
def test_what_is_certified_is_robust(arch: str, tmp_path: Path, book: str) -> None:
    """`mohs certify` on a trained network: certified texts withstand every text of their space, asked one by one."""
    data = examples(160, seed=2)
    done = hardened(arch, tmp_path / "m", book, data=data, epochs=6, lr=0.01, labels=("bad", "good"))
    test = examples(30, seed=5)
    rows = [{"text": example.text.fields[0], "label": example.label, "id": example.id} for example in test]
    with mohs.certify(
        done.victim,
        rows,
        source=f"thesaurus:{book}",
        budget="1,all",
        every=10**6,
        out=tmp_path / "run",
        device="cpu",
    ) as run:
        clean = run.view().figures()["summary"]["clean"]["hits"]
        for budget in run.certified():
            assert 0 < budget.certified.hits <= budget.robust.hits <= clean
            assert budget.every >= budget.robust.hits  # every text was asked, so robust is exact
            assert not budget.contradictions
    learnt = tmp_path / "plain"
    plain = tiny(arch, learnt, data=data, verifiable=True, epochs=6, lr=0.01, min_count=1)
    assert isinstance(load_victim(plain.victim, device="cpu").model.reader, Verifiable)  # type: ignore[attr-defined]


def test_pairs_and_three_classes(tmp_path: Path, book: str) -> None:
    data = examples(60, pairs=True) + [Example.of(("seldom", "never good"), 2, id=f"more {n}") for n in range(20)]
    done = hardened("cnn", tmp_path / "m", book, data=data, epochs=3)
    victim = load_victim(done.victim, device="cpu")
    assert isinstance(victim, NeuralVictim)
    assert victim.model.out.weight.shape[0] == 3
    assert 0 <= done.metrics["certified"]["right"] <= done.metrics["certified"]["of"]


def test_neighbours_are_those_of_certify(tmp_path: Path) -> None:
    from mohs.certifying.verb import SOURCE
    from mohs.space import parse_source

    assert parse_source(SOURCE) == IBP().source
    done = tiny("bow", tmp_path / "m", harden=("ibp",), epochs=2)
    assert read_record(tmp_path / "m")["identity"]["harden"].startswith("IBP(")
    assert done.metrics["best_epoch"] == 2 or done.metrics["best_epoch"] == 1


@pytest.mark.parametrize(
    ("arch", "given", "message"),
    [
        (
            "hf:x",
            ["ibp"],
            "--harden ibp needs a network whose bounds it knows, and --arch hf:x is none; use bow, cnn, lstm, bilstm.",
        ),
        (
            "transformer",
            ["ibp"],
            "--harden ibp needs a network whose bounds it knows, and --arch transformer is none; use bow, cnn",
        ),
        ("cnn", ["ibp", "augment"], "--harden takes a method that trains bounds alone, not IBP and Augment together"),
        ("cnn", ["ibp:words=nowhere.json"], "nowhere.json"),
        ("cnn", ["ibp:stopwords=nowhere.txt"], "nowhere.txt"),
        ("cnn", ["ibp:weight=1.5"], "--harden ibp has weight=1.5; it must be above 0 and at most 1, such as 0.8."),
        ("cnn", ["ibp:rise=2"], "--harden ibp has rise=2; give a share of the epochs, such as 0.5."),
        ("cnn", ["ibp:k=0"], "--harden ibp has k=0,cosine=0.5; give k=5,cosine=0.5, for example."),
    ],
)
def test_mistakes(arch: str, given: list[str], message: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput) as error:
        tiny(
            arch,
            tmp_path / "m",
            **{
                **({"dim": None, "hidden": None, "dropout": None, "vectors": None} if arch[:2] == "hf" else {}),
                "harden": given,
            },
        )
    assert message in str(error.value)


def test_objects_are_taken_as_well_as_names() -> None:
    assert hardenings([IBP(k=3)]) == hardenings(["ibp:k=3"])
