"""Resuming a run: only with the victim and the data that it was started with."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
import yaml

import mohs
from mohs import FunctionVictim
from mohs.errors import BadInput
from mohs.records.store import differences
from mohs.space import Constraint, WordCosine
from mohs.tasks.described import describe
from tests.cli.conftest import Mohs
from tests.toys import WordCount, bundled, table, toy_services

WEIGHTS = {"good": 2.0, "fine": 1.0, "bad": -2.0, "poor": -1.0}
ROWS = [(f"a {word} film number {i}", 1) for i, word in enumerate(["good", "fine"] * 30)]
SOURCE = table(good="bad fine", fine="poor good", film="movie")


class Asked(list[int]):
    """The sizes of the batches that a victim was asked."""


def victim(odd: dict[str, float] | None = None, asked: Asked | None = None) -> FunctionVictim:
    """A victim that answers texts with some odd words differently, under one name."""

    def predict(texts: list[str]) -> list[tuple[float, ...]]:
        if asked is not None:
            asked.append(len(texts))
        return [WordCount(WEIGHTS | (odd or {})).scores((text,)) for text in texts]

    return FunctionVictim(predict, name="same", fingerprint="same")


def attack(model: FunctionVictim, out: Path, rows: Any = ROWS) -> None:
    mohs.attack(model, rows, "random", source=SOURCE, out=out).close()


def test_the_same_victim_is_asked_in_few_batches(tmp_path: Path) -> None:
    attack(victim(), tmp_path / "run")
    asked = Asked()
    attack(victim(asked=asked), tmp_path / "run")
    assert sum(asked) >= 64  # 32 originals and 32 final texts
    assert len([size for size in asked if size > 1]) <= 2 + 2  # two more before any run, for the order of answers


def test_a_victim_that_changed_for_a_few_originals_only_is_refused(tmp_path: Path) -> None:
    attack(victim(), tmp_path / "run")
    odd = {str(number): -3.0 for number in range(0, 60, 6)}  # ten of sixty
    with pytest.raises(BadInput, match=r"answers differently than when .* example \d+ had the scores"):
        attack(victim(odd), tmp_path / "run")


def test_a_victim_that_changed_for_final_texts_only_is_refused(tmp_path: Path) -> None:
    attack(victim(), tmp_path / "run")
    with pytest.raises(BadInput, match=r"the final text of example \d+ had the scores .* and now has"):
        attack(victim({"movie": 0.5, "bad": -1.5, "poor": -0.5}), tmp_path / "run")


def test_a_victim_that_now_raises_is_refused(tmp_path: Path) -> None:
    attack(victim(), tmp_path / "run", ROWS[:4])

    def predict(texts: list[str]) -> list[tuple[float, ...]]:
        if any("number 3" in text for text in texts):
            raise RuntimeError("no")
        return [WordCount(WEIGHTS).scores((text,)) for text in texts]

    with pytest.raises(BadInput, match=r"example 3 had the scores .* and now raises an error"):
        attack(FunctionVictim(predict, name="same", fingerprint="same"), tmp_path / "run", ROWS[:4])


def test_a_victim_whose_scores_move_with_the_batch_is_resumed(tmp_path: Path) -> None:
    def moving(texts: list[str]) -> list[list[float]]:
        return [[1 - p, p] for t in texts for p in [0.5 + 0.1 * ("good" in t) + 0.01 * (len(texts) > 1)]]

    for _ in range(2):
        attack(FunctionVictim(moving, name="moving"), tmp_path / "run")


HELPER = "def score(text):\n    return {number}\n"
VICTIM = "from helper import score\n\ndef predict(texts):\n    return [[1 - p, p] for p in map(score, texts)]\n"


def test_a_changed_helper_is_named(tmp_path: Path, mohs: Mohs) -> None:
    (tmp_path / "model_a.py").write_text(VICTIM.replace("helper", "helper_a"))
    (tmp_path / "helper_a.py").write_text(HELPER.format(number="0.9 if 'good' in text else 0.8"))
    (tmp_path / "d.jsonl").write_text('{"text": "a good film", "label": 1}\n{"text": "a film", "label": 1}\n')
    command = ["attack", "--victim", "python:model_a:predict", "--data", "d.jsonl", "--attack", "random"]
    assert mohs(*command, "--out", "run").returncode == 0
    assert mohs(*command, "--out", "run").returncode == 0
    (tmp_path / "helper_a.py").write_text(HELPER.format(number="0.9 if 'good' in text else  0.8"))
    ended = mohs(*command, "--out", "run")
    assert ended.returncode == 2
    assert "victim_origin of sources" in ended.stderr
    manifest = yaml.safe_load((tmp_path / "run" / "manifest.yaml").read_text())
    del manifest["identity"]["victim_origin"]  # as an earlier version wrote it
    (tmp_path / "run" / "manifest.yaml").write_text(yaml.safe_dump(manifest))
    again = mohs(*command, "--out", "run")
    assert again.returncode == 0, again.stderr


def test_the_same_data_elsewhere_are_the_same_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = "".join(json.dumps({"text": text, "label": label}) + "\n" for text, label in ROWS[:4])
    (tmp_path / "d.jsonl").write_text(rows)
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path)
    attack(victim(), tmp_path / "run", "d.jsonl")
    monkeypatch.chdir(tmp_path / "sub")
    attack(victim(), tmp_path / "run", os.path.join("..", "d.jsonl"))
    (tmp_path / "d.jsonl").write_text(rows.replace("number 3", "number three"))
    with pytest.raises(BadInput) as caught:
        attack(victim(), tmp_path / "run", os.path.join("..", "d.jsonl"))
    assert "  data: 'd.jsonl' in the folder, '../d.jsonl' asked for" in str(caught.value)
    assert "  data_hash: " in str(caught.value)


def test_what_is_compared() -> None:
    old = {"data": "a", "data_hash": "1", "seed": 0}
    assert differences(old, old | {"data": "b"}) == []
    assert differences(old, old | {"data": "b", "data_hash": "2"}) == ["data", "data_hash"]
    assert differences({"data": "a"}, {"data": "b"}) == ["data"]
    assert differences(old, old | {"victim_origin": {"sources": "1"}}) == []
    assert differences(old | {"victim_origin": {"sources": "1"}}, old) == ["victim_origin"]


def test_the_choice_of_texts_is_the_same_each_time(tmp_path: Path) -> None:
    attack(victim(), tmp_path / "run")
    seen: list[list[str]] = []
    for _ in range(2):
        texts: list[str] = []

        def predict(batch: list[str], texts: list[str] = texts) -> list[tuple[float, ...]]:
            texts.extend(batch)
            return [WordCount(WEIGHTS).scores((text,)) for text in batch]

        attack(FunctionVictim(predict, name="same", fingerprint="same"), tmp_path / "run")
        seen.append(texts)
    assert seen[0] == seen[1]


@pytest.mark.parametrize(
    ("name", "old", "now"),
    [
        (
            "textfooler:cv50-use88",
            "TextFooler(source=..., constraints=(similarity of whole texts))",
            "follows TextAttack, and compares windows of 15 words with the original, not whole texts",
        ),
        ("pwws:cos50+fair", "PWWS(...)", "follows TextAttack, and words without a vector pass"),
    ],
)
def test_a_preset_that_was_replaced_says_by_what(name: str, old: str, now: str, tmp_path: Path) -> None:
    """Presets of earlier versions had these names and other settings."""
    options: dict[str, Any] = {"out": tmp_path / "run", "source": SOURCE, **bundled(), **toy_services()}
    mohs.attack(victim(), ROWS[:2], name, **options).close()
    manifest = yaml.safe_load((tmp_path / "run" / "manifest.yaml").read_text("utf-8"))
    settings = manifest["identity"]["settings"]
    manifest["identity"]["settings"] = dict.fromkeys(settings, old)
    (tmp_path / "run" / "manifest.yaml").write_text(yaml.safe_dump(manifest), "utf-8")
    with pytest.raises(BadInput) as caught:
        mohs.attack(victim(), ROWS[:2], name, **options)
    preset = name.partition("+")[0]
    assert str(caught.value) == (
        f"{tmp_path / 'run'} holds a run of {preset} as it was in an earlier version; now it {now}, so choose another "
        "--out (`mohs report` still shows the old run)."
    )


def test_a_radius_says_it_too(tmp_path: Path) -> None:
    options: dict[str, Any] = {"out": tmp_path / "run", "source": SOURCE, "attacks": ["textfooler:cv50"], **bundled()}
    mohs.radius(victim(), ROWS[:1], **options).close()
    manifest = yaml.safe_load((tmp_path / "run" / "manifest.yaml").read_text("utf-8"))
    manifest["identity"]["uppers"] = ["TextFooler(as before)"]
    (tmp_path / "run" / "manifest.yaml").write_text(yaml.safe_dump(manifest), "utf-8")
    with pytest.raises(BadInput, match="holds a run of textfooler:cv50 as it was in an earlier version"):
        mohs.radius(victim(), ROWS[:1], **options)


def test_a_setting_that_was_added_later_does_not_change_an_identity() -> None:
    """Folders of versions without `unknown_passes` are resumed."""
    plain, passing = (Constraint(WordCosine(unknown_passes=way), at_least=0.5) for way in (False, True))
    for written in (describe(plain), repr(plain)):
        assert "measure=WordCosine(previous=False), at_least=0.5" in written
    for written in (describe(passing), repr(passing)):
        assert "measure=WordCosine(previous=False, unknown_passes=True), at_least=0.5" in written
