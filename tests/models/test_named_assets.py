"""The name of an installed asset works wherever a model is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from mohs import assets
from mohs.errors import BadInput
from mohs.models.pretrained import place_of
from mohs.tasks.services import _load, _model
from mohs.training.train import train


@pytest.fixture
def installed(bert_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MOHS_ASSETS", str(tmp_path / "assets"))
    monkeypatch.chdir(tmp_path)
    return assets.pull("minilm-mlm", source=bert_folder)


@pytest.mark.parametrize("name", ["minilm-mlm", "hf:minilm-mlm"])
def test_an_asset_by_its_name(installed: Path, name: str) -> None:
    assert _model(name) == f"hf:{installed}"
    assert (
        _load("encoder", name, "cpu", False).fingerprint
        == _load("encoder", f"hf:{installed}", "cpu", False).fingerprint
    )


@pytest.mark.parametrize("name", ["minilm-mlm", "hf:minilm-mlm"])
def test_an_asset_is_fine_tuned_by_its_name(installed: Path, name: str, tmp_path: Path) -> None:
    assert place_of("minilm-mlm") == str(installed)
    done = train(name, [("good", 1), ("bad", 0)] * 4, tmp_path / "tuned", epochs=1, device="cpu")
    assert done.victim == f"hf:{tmp_path / 'tuned'}"


def test_a_folder_of_that_name_comes_first(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "minilm-mlm").mkdir()
    assert place_of("minilm-mlm") == "minilm-mlm"
    assert _model("hf:minilm-mlm") == "hf:minilm-mlm"


def test_an_asset_that_is_not_installed_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOHS_ASSETS", str(tmp_path))
    for ask in (place_of, lambda name: _model(f"hf:{name}")):
        with pytest.raises(BadInput, match="mohs assets pull minilm"):
            ask("minilm")
    assert place_of("gpt2") == "gpt2"  # transformers fetches it
    with pytest.raises(BadInput, match="hf: takes a model folder, an asset"):
        place_of("./nowhere")
