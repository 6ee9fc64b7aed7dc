"""A tree auto-encoder on the disk."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from mohs.errors import BadInput
from mohs.models.tree_folder import load_trees, save_settings, save_trees
from mohs.models.tree_rows import forest_of
from tests.models.tree_toys import SENTENCES, parsed, trained


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    trees = trained()
    save_trees(tmp_path, trees.lexicon, trees.module)
    save_settings(tmp_path, trees.lexicon, trees.module, {"right": 19, "of": 20})
    return tmp_path


def test_it_comes_back_as_it_was(folder: Path) -> None:
    trees, found = trained(), load_trees(str(folder), "cpu")
    assert (found.name, found.reconstruction, found.lexicon) == (f"t3:{folder}", 0.95, trees.lexicon)
    assert found.fingerprint == trees.fingerprint
    forest = forest_of([trees.lexicon.row(one) for one in parsed(*SENTENCES[:3])])
    assert torch.equal(found.module.encode(forest), trees.module.encode(forest))
    assert not found.module.training
    assert {path.name for path in folder.iterdir()} == {"model.safetensors", "lexicon.json", "trees.json"}


def test_other_weights_have_another_fingerprint(folder: Path) -> None:
    tensors = load_file(folder / "model.safetensors")
    tensors["popular"][1] += 1
    save_file(tensors, folder / "model.safetensors")
    assert load_trees(str(folder)).fingerprint != trained().fingerprint


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"shape": {"words": 10**9, "relations": 3, "hidden": 300}}, "trees.json is not that of lexicon.json"),
        ({"shape": {"words": 15, "relations": 3, "depth": 2}}, "unexpected keyword argument 'depth'"),
        ({"reconstruction": {"right": 5, "of": 0}}, "it says that 5 of 0 tokens were given back"),
        ({"reconstruction": {"right": "5", "of": 9}}, "it says that '5' of 9 tokens were given back"),
        ({"lexicon_hash": "0"}, "lexicon.json is not the file it was trained with"),
        ({"shape": None}, "argument after"),
    ],
)
def test_a_changed_folder_is_refused(folder: Path, change: dict[str, object], reason: str) -> None:
    told = json.loads((folder / "trees.json").read_text())
    (folder / "trees.json").write_text(json.dumps({**told, **change}))
    with pytest.raises(BadInput, match=f"is not a complete tree auto-encoder .*{reason}.*; train it again"):
        load_trees(str(folder))


def test_other_sizes_are_refused_before_they_take_memory(folder: Path) -> None:
    told = json.loads((folder / "trees.json").read_text())
    told["shape"]["hidden"] = 10**7  # weights of this size would take petabytes
    (folder / "trees.json").write_text(json.dumps(told))
    with pytest.raises(BadInput, match=r"trees.json is not that of model.safetensors"):
        load_trees(str(folder))


def test_numbers_that_are_none_are_refused(folder: Path) -> None:
    tensors = load_file(folder / "model.safetensors")
    tensors["popular"][1] = torch.nan
    save_file(tensors, folder / "model.safetensors")
    with pytest.raises(BadInput, match="not finite or not 32-bit"):
        load_trees(str(folder))


def test_no_folder(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"holds no tree auto-encoder; train one with mohs train --task t3 --out"):
        load_trees(str(tmp_path / "none"))
