"""Fine-tuning in the Hugging Face layout, on tiny models."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from mohs.errors import BadInput
from mohs.models.hf import HfVictim
from mohs.training.hf_learner import HfLearner
from mohs.training.loop import Progress
from mohs.training.recipe import recipe_for
from mohs.training.train import Trained, accuracy, train
from tests.models.conftest import save, small_model, tiny_tokenizer
from tests.training.test_train import DATA, TEST, Stopped, examples

SMALL: dict[str, Any] = {"epochs": 2, "batch": 16, "lr": 2e-3, "labels": ("bad", "good"), "device": "cpu"}


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bare encoder: the classifier's head and the pooler are not there."""
    model = small_model("bert", tiny_tokenizer("wordpiece"))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(0.1)  # the numbers of the fixture are too wild to learn from
    folder = save(tmp_path_factory.mktemp("start"), "bert", tiny_tokenizer("wordpiece"), model)
    tensors = load_file(folder / "model.safetensors")
    kept = {name: value for name, value in tensors.items() if not name.startswith(("classifier", "bert.pooler"))}
    save_file(kept, folder / "model.safetensors", {"format": "pt"})
    return folder


def tune(start: Path, out: Path, **options: Any) -> Trained:
    return train(f"hf:{start}", options.pop("data", DATA), out, **{**SMALL, **options})


def hashed(folder: Path) -> str:
    return hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()


def test_fine_tuning(start: Path, tmp_path: Path) -> None:
    done = tune(start, tmp_path / "m", data=examples(240, seed=3), test=TEST, epochs=6)
    assert done.victim == f"hf:{tmp_path / 'm'}"
    assert done.metrics["test"]["right"] >= 34
    victim = HfVictim(str(tmp_path / "m"), device="cpu")
    assert victim.fingerprint == done.fingerprint
    assert victim.labels == ("bad", "good")
    assert accuracy(victim, TEST) == done.metrics["test"]
    names = {path.name for path in (tmp_path / "m").iterdir()}
    assert {"model.safetensors", "config.json", "tokenizer.json", "README.md", "training.json"} <= names
    assert not names & {"checkpoint", "lock"}
    card = (tmp_path / "m" / "README.md").read_text()
    assert "classifier.bias, classifier.weight" in card  # started with random numbers
    again = tune(start, tmp_path / "m", data=examples(240, seed=3), test=TEST, epochs=6)
    assert not again.fresh


def test_the_same_bits_and_going_on(start: Path, tmp_path: Path) -> None:
    tune(start, tmp_path / "one")
    torch.manual_seed(99)
    tune(start, tmp_path / "two")
    assert hashed(tmp_path / "one") == hashed(tmp_path / "two")

    def stop(at: Progress) -> None:
        if at.step == 7:
            raise Stopped

    with pytest.raises(Stopped):
        tune(start, tmp_path / "stopped", progress=stop, save_every=2)
    seen: list[Progress] = []
    tune(start, tmp_path / "stopped", progress=seen.append, save_every=2)
    assert seen[0].step == 7
    assert hashed(tmp_path / "stopped") == hashed(tmp_path / "one")
    tune(start, tmp_path / "other", seed=1)
    assert hashed(tmp_path / "other") != hashed(tmp_path / "one")


def test_padding_does_not_count(start: Path) -> None:
    for texts in ([e.text.fields for e in DATA[:9]], [e.text.fields for e in examples(9, pairs=True)]):
        learner = HfLearner(recipe_for(f"hf:{start}", {}), texts, ("a", "b", "c"))
        learner.module.eval()
        rows = learner.rows(texts)
        assert len({len(row) for row in rows}) > 2
        together = learner.logits(rows)
        assert together.shape == (9, 3)
        for number, row in enumerate(rows):
            assert together[number].tolist() == pytest.approx(learner.logits([row])[0].tolist(), abs=1e-5)
    assert {1} <= set(rows[0].type_ids)  # the tokenizer's own form for pairs


def test_the_window(start: Path, tmp_path: Path) -> None:
    learner = HfLearner(recipe_for(f"hf:{start}", {"max_words": 12}), [("a",)], ("a", "b"))
    assert [len(row) for row in learner.rows([("good film " * 20,), ("a",)])] == [12, 3]
    learner.save(tmp_path)
    victim = HfVictim(str(tmp_path), device="cpu")
    assert victim.visible(("good film " * 20,)) is not None
    wide = HfLearner(recipe_for(f"hf:{start}", {}), [("a",)], ("a", "b"))
    assert [len(row) for row in wide.rows([("good film " * 200,)])] == [64]  # of the model


def test_another_head_is_replaced(bert_folder: Path) -> None:
    learner = HfLearner(recipe_for(f"hf:{bert_folder}", {}), [("a",)], ("x", "y", "z", "w"))  # it was for three
    assert learner.new == ["classifier.bias", "classifier.weight"]
    kept = HfLearner(recipe_for(f"hf:{bert_folder}", {}), [("a",)], ("x", "y", "z"))
    assert kept.new == []
    assert torch.equal(
        kept.module.state_dict()["classifier.weight"], load_file(bert_folder / "model.safetensors")["classifier.weight"]
    )


def damaged(start: Path, folder: Path, **config: Any) -> Path:
    shutil.copytree(start, folder)
    for name, changes in config.items():
        path = folder / f"{name}.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))
    return folder


def refused(folder: Path) -> str:
    with pytest.raises(BadInput) as caught:
        HfLearner(recipe_for(f"hf:{folder}", {}), [("a",)], ("a", "b"))
    return str(caught.value)


def test_what_cannot_be_used(start: Path, tmp_path: Path) -> None:
    assert refused(tmp_path / "none").startswith(f"There is no folder {tmp_path / 'none'}; hf: takes a model folder")
    (tmp_path / "empty").mkdir()
    assert refused(tmp_path / "empty").startswith(f"hf:{tmp_path / 'empty'} cannot be loaded: ")
    code = damaged(start, tmp_path / "code", config={"auto_map": {"AutoConfig": "own.Config"}})
    assert "needs its own code" in refused(code)
    left = damaged(start, tmp_path / "left", tokenizer_config={"padding_side": "left"})
    assert refused(left) == f"hf:{left} cuts or pads texts at the start; set both sides to right in its tokenizer."
    partial = damaged(start, tmp_path / "partial")
    tensors = load_file(partial / "model.safetensors")
    tensors = {name: value for name, value in tensors.items() if "layer.1" not in name}
    save_file(tensors, partial / "model.safetensors", {"format": "pt"})
    assert refused(partial).startswith(f"hf:{partial} has no weights for bert.encoder.layer.1.")
    assert refused(partial).endswith("a part of the encoder; give a complete encoder.")
    bare = damaged(start, tmp_path / "bare", tokenizer_config={"pad_token": None})
    assert "without a padding token" in refused(bare)


def test_a_hub_that_cannot_be_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mohs.training.hf_learner.unreachable", lambda place: "nobody home")
    sentence = refused(Path("nobody/nothing"))
    assert sentence.startswith(
        "hf:nobody/nothing is neither a local folder, nor an installed asset (`mohs assets list`), nor complete in the"
    )
    assert "(nobody home); give a model folder" in sentence
