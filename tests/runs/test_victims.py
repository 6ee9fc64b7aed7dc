"""Victims as people have them: a model and its tokenizer, a pipeline, an estimator, a function."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest
import torch

import mohs
from mohs.errors import BadInput
from tests.models.conftest import small_model, tiny_tokenizer

transformers: Any = importlib.import_module("transformers")
ROWS = [("a good film", 1), ("a bad film", 0), ("it was an awful story", 2)]


@pytest.fixture(scope="module")
def loaded() -> tuple[Any, Any]:
    tokenizer = tiny_tokenizer("wordpiece")
    return small_model("bert", tokenizer), tokenizer


def records(victim: Any, **options: Any) -> list[str]:
    with mohs.attack(victim, ROWS, ["textfooler"], **options) as run:
        return [record.to_json() for record in run.records()]


def test_a_model_and_its_tokenizer(loaded: tuple[Any, Any], tmp_path: Path) -> None:
    model, tokenizer = loaded
    model.train()
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    found = records((model, tokenizer))
    assert found == records((tokenizer, model)) == records(mohs.HfVictim(model, tokenizer))
    model.save_pretrained(tmp_path / "m")
    tokenizer.save_pretrained(tmp_path / "m")
    assert found == records(f"hf:{tmp_path / 'm'}")
    # Theirs stays as it was: mode, hooks, weights.
    assert model.training
    assert not any(module._forward_hooks for module in model.modules())
    assert all(torch.equal(before[name], tensor) for name, tensor in model.state_dict().items())


def test_the_weights_are_shared(loaded: tuple[Any, Any]) -> None:
    victim = mohs.HfVictim(*loaded)
    mine, theirs = victim._model.parameters(), loaded[0].parameters()
    assert all(a.data_ptr() == b.data_ptr() for a, b in zip(mine, theirs, strict=True))


def test_a_model_alone_is_refused(loaded: tuple[Any, Any]) -> None:
    with pytest.raises(BadInput, match="needs its tokenizer; give \\(model, tokenizer\\)"):
        mohs.HfVictim(loaded[0])


def test_a_pipeline(loaded: tuple[Any, Any]) -> None:
    model, tokenizer = loaded
    pipe = transformers.pipeline("text-classification", model=model, tokenizer=tokenizer, device="cpu")
    assert records(pipe) == records(loaded)


def test_a_fitted_estimator(tmp_path: Path) -> None:
    text = importlib.import_module("sklearn.feature_extraction.text")
    linear: Any = importlib.import_module("sklearn.linear_model")
    pipelines: Any = importlib.import_module("sklearn.pipeline")
    words = ["a good film", "a fine story", "a bad film", "an awful story"] * 3
    estimator = pipelines.make_pipeline(text.CountVectorizer(), linear.LogisticRegression())
    estimator.fit(words, ["yes", "yes", "no", "no"] * 3)
    rows = [("a good film", "yes"), ("an awful story", "no")]
    with mohs.attack(estimator, rows, "random", out=tmp_path / "run") as run:
        assert run.manifest["config"]["victim"] == "sklearn:Pipeline"
        assert run.manifest["config"]["labels"] == ["no", "yes"]
        found = list(run.records())
        assert [record.label for record in found] == [1, 0]
    with mohs.attack(estimator, rows, "random", out=tmp_path / "run") as run:  # the same weights: it is resumed
        assert list(run.records()) == found


def test_options_of_a_function_are_checked() -> None:
    def logits(texts: list[str]) -> list[list[float]]:
        return [[0.0, 3.0] for _ in texts]

    with mohs.attack(logits, [("a good film", 1)], "random", victim_options={"output": "logits", "batch": "2"}) as run:
        assert next(run.records()).scores_before == pytest.approx((0.047426, 0.952574), abs=1e-6)
    with pytest.raises(BadInput, match="The function has no option 'bach'; it takes output, batch, rejects"):
        mohs.attack(logits, [("a good film", 1)], "random", victim_options={"bach": "2"})


def test_what_is_no_victim() -> None:
    with pytest.raises(BadInput, match="A int is not a victim; give a name, a victim, a model with its tokenizer"):
        mohs.attack(5, ROWS, "random")  # type: ignore[arg-type]


def test_the_manifest_says_whether_scores_are_exact(tmp_path: Path) -> None:
    def flat(texts: list[str]) -> list[list[float]]:
        return [[0.4, 0.6] for _ in texts]

    cases: list[tuple[Any, bool, Path | None]] = [("pocket", True, None), (flat, False, None)]
    cases += [("pocket", True, tmp_path / "cache.sqlite")]  # no cache answers a judge, so it changes nothing
    for victim, exact, cache in cases:
        with mohs.attack(victim, [("a good film", 1)], ["random"], cache=cache) as run:
            assert run.manifest["facts"]["exact"] is exact
            said = "the same in every batch" if exact else "may depend on the batch"
            assert said in run.view().page()
