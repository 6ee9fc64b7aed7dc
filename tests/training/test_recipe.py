"""Settings of a training."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mohs.errors import BadInput
from mohs.training.recipe import WORD_ARCHITECTURES, Recipe, recipe_for


@pytest.mark.parametrize("arch", [*WORD_ARCHITECTURES, "hf:somewhere"])
def test_defaults_hold_and_give_way(arch: str) -> None:
    recipe = recipe_for(arch, {"lr": None, "epochs": 2})
    assert recipe.arch == arch
    assert recipe.epochs == 2
    assert recipe.lr == recipe_for(arch, {}).lr > 0
    assert ("hidden" in recipe.settings()) == (not arch.startswith("hf:"))
    assert ("heads" in recipe.settings()) == (arch == "transformer")


def test_what_papers_attack() -> None:
    assert recipe_for("cnn", {}).hidden == 100
    assert recipe_for("bilstm", {}).hidden == 150
    assert recipe_for("bilstm", {}).dropout == 0.3


@pytest.mark.parametrize(
    ("arch", "given", "sentence"),
    [
        ("rnn", {}, "Unknown architecture 'rnn'; use bow, cnn, lstm, bilstm, transformer or hf:PATH_OR_ID."),
        ("hf:", {}, "Unknown architecture 'hf:'; use "),
        ("cnn", {"speed": 3}, "Training has no setting 'speed'; it takes all_vectors, "),
        ("cnn", {"arch": "bow"}, "Training has no setting 'arch'"),
        ("hf:x", {"hidden": 3}, "--hidden does not apply to hf:x, which has its own; leave it out."),
        ("hf:x", {"vectors": "pocket"}, "--vectors does not apply to hf:x"),
        ("hf:x", {"freeze": True}, "--freeze does not apply to hf:x"),
        ("cnn", {"heads": 2}, "--heads applies to the transformer, not to cnn; leave it out."),
        (
            "cnn",
            {"vectors": "none", "freeze": True},
            "--freeze and --all-vectors need word vectors; name some with --vectors.",
        ),
        (
            "cnn",
            {"vectors": "none", "all_vectors": True},
            "--freeze and --all-vectors need word vectors; name some with --vectors.",
        ),
        ("cnn", {"dim": 50}, "--dim needs --vectors none, because pocket vectors have a fixed size; leave it out."),
        ("cnn", {"lr": 0.0}, "--lr is 0.0; it must be above 0."),
        ("cnn", {"lr": float("nan")}, "--lr is nan; give a finite number."),
        ("cnn", {"clip": -1.0}, "--clip is -1.0; it must be above 0."),
        ("cnn", {"decay": -0.1}, "--decay is -0.1; it must be at least 0."),
        ("cnn", {"dropout": 1.0}, "--dropout is 1.0; it must be at least 0 and below 1."),
        ("cnn", {"warmup": -0.5}, "--warmup is -0.5; it must be at least 0 and below 1."),
        ("cnn", {"max_words": 4}, "--max-words is 4; it must be at least 5."),
        ("cnn", {"epochs": 0}, "--epochs is 0; it must be at least 1."),
        ("hf:x", {"batch": 0}, "--batch is 0; it must be at least 1."),
        ("bilstm", {"hidden": 7}, "--hidden 7 cannot be divided among two directions; give a multiple."),
        ("transformer", {"hidden": 30}, "--hidden 30 cannot be divided among 4 heads; give a multiple."),
    ],
)
def test_what_does_not_fit(arch: str, given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(BadInput) as caught:
        recipe_for(arch, given)
    assert str(caught.value).startswith(sentence)


@given(st.integers(1, 500), st.floats(0.01, 0.99))
def test_the_rate_rises_and_falls(steps: int, warmup: float) -> None:
    recipe = Recipe("cnn", lr=2.0, warmup=warmup)
    rates = [recipe.rate(step, steps) for step in range(steps)]
    assert all(0 < rate <= 2.0 + 1e-9 for rate in rates)
    top = rates.index(max(rates))
    assert rates[: top + 1] == sorted(rates[: top + 1])
    assert rates[top:] == sorted(rates[top:], reverse=True)
    assert abs(top + 1 - warmup * steps) <= 1


def test_the_rate_stays() -> None:
    assert {Recipe("cnn", lr=0.5).rate(step, 10) for step in range(10)} == {0.5}
