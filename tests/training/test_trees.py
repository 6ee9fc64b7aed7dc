"""`mohs train --task t3`."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import mohs
from mohs.cli.main import app
from mohs.errors import BadInput
from mohs.models.tree_folder import load_trees
from mohs.models.tree_rows import UNKNOWN, Row
from mohs.training.folder import read_record
from mohs.training.recipe import trees_recipe
from mohs.training.trees import TrainedTrees, given_back, parsed, train_trees
from tests.models.tree_toys import SENTENCES, trained
from tests.models.tree_toys import parsed as parses
from tests.toy_parser import ToyParser

SMALL: dict[str, Any] = {"hidden": 24, "batch": 8, "epochs": 12, "lr": 0.01, "min_count": 1, "device": "cpu"}


def examples(texts: list[str]) -> list[mohs.Example]:
    return [mohs.Example.of(text, 0, id=str(number)) for number, text in enumerate(texts)]  # labels are not used


def train(out: Path, texts: list[str] = SENTENCES[::2], **options: Any) -> TrainedTrees:
    return train_trees(examples(texts), out, parser=ToyParser, **{**SMALL, **options})


def test_it_learns_says_how_much_and_is_done(tmp_path: Path) -> None:
    held = [*SENTENCES[1::2], "the dull gherkin bored us.", "word " * 16, SENTENCES[0]]
    done = train(tmp_path / "one", test=examples(held))
    assert done.fresh
    test = done.metrics["test"]
    assert test["sentences"] == len(SENTENCES[1::2]) + 1  # not the long one, and not the one of the training
    assert test["of"] == 6 * test["sentences"]
    assert test["unknown"] == 1
    assert 0.9 * test["of"] <= test["right"] < test["of"]  # the unknown word counts as wrong
    trees = load_trees(str(tmp_path / "one"))
    assert trees.fingerprint == done.fingerprint
    assert trees.reconstruction == test["right"] / test["of"]
    rows = [trees.lexicon.row(one) for one in parses(*held[: test["sentences"]])]
    assert given_back(trees.module, rows) == (test["right"], test["of"])
    card = (tmp_path / "one" / "README.md").read_text()
    assert f"| test | {test['right']} | {test['of']} |" in card
    assert "parsed by toy parser" in card
    again = train(tmp_path / "one", test=examples(held))
    assert (again.fresh, again.metrics) == (False, done.metrics)
    assert not (tmp_path / "one" / "checkpoint").exists()


def test_a_resumed_training_ends_with_the_same_weights(tmp_path: Path) -> None:
    whole = train(tmp_path / "whole", epochs=3)

    def stop(at: Any) -> None:
        if at.step == 9:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(tmp_path / "cut", epochs=3, save_every=4, progress=stop)
    assert train(tmp_path / "cut", epochs=3, save_every=4).fingerprint == whole.fingerprint
    with pytest.raises(BadInput, match=r"holds a training with other settings or data(.|\n)*hidden"):
        train(tmp_path / "cut", epochs=3, hidden=25)


def test_what_is_given_back_by_hand() -> None:
    trees = trained()
    row = trees.lexicon.row(parses("the good film bored me.")[0])
    assert given_back(trees.module, [row]) == (6, 6)
    first = Row((UNKNOWN, *row.words[1:]), row.relations, row.heads, row.depths)
    right, of = given_back(trees.module, [row, first])
    assert of == 12
    assert right < 12


def test_sentences_are_parsed_once_and_apart() -> None:
    class Two(ToyParser):
        asked: list[str] = []  # noqa: RUF012

        def collect(self, ticket: list[str]) -> Any:
            self.asked += ticket
            return [parses(text)[0] for text in ticket]

    pair = mohs.Example("0", mohs.Text("A film ends.", "It bored me"), 0, ("one", "two"))
    model = Two()
    found = parsed([pair, mohs.Example.of("A film ends.", 1)], model)
    assert sorted(model.asked) == ["A film ends.", "It bored me"]
    assert [[token.text for token in one] for one in found] == [["A", "film", "ends", "."], ["It", "bored", "me"]]


def test_what_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="--dropout does not apply to --task t3; leave it out"):
        trees_recipe({"dropout": 0.1})
    assert trees_recipe({"epochs": None}).settings() | {"epochs": 0} == {
        "arch": "t3", "hidden": 300, "min_count": 2, "max_words": 40, "epochs": 0, "batch": 128, "lr": 0.002,
        "warmup": 0.05, "decay": 0.0, "clip": 1.0, "patience": 5, "seed": 0,
    }  # fmt: skip
    with pytest.raises(BadInput, match="The test data has no sentence of at most 15 words that is not in the training"):
        train(tmp_path / "one", dev=examples(SENTENCES[1::2]), test=examples(SENTENCES[::2]))
    with pytest.raises(BadInput, match="No word of the data occurs 999 times; lower --min-count"):
        train(tmp_path / "two", min_count=999)
    with pytest.raises(BadInput, match="save_every is 0; it must be at least 1"):
        train(tmp_path / "three", save_every=0)


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mohs.models.parser.load_parser", lambda spec: ToyParser())
    data = tmp_path / "train.jsonl.gz"
    with gzip.open(data, "wt") as file:
        file.writelines(json.dumps({"text": text, "label": n % 2}) + "\n" for n, text in enumerate(SENTENCES[::2]))
    out = tmp_path / "out"
    words = ["train", "--task", "t3", "--data", str(data), "--out", str(out), "--device", "cpu", "--hidden", "24"]
    words += ["--batch", "8", "--epochs", "6", "--lr", "0.01", "--min-count", "1"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    found = read_record(out)["finished"]["metrics"]["dev"]
    assert f"dev: {found['right']} of {found['of']} tokens given back (" in done.stdout
    assert f"use it with --attack t3 --autoencoder {out}" in done.stdout
    assert "tokens given back, best so far" in done.stderr
    told = json.loads(CliRunner().invoke(app, [*words, "--json"]).stdout)
    assert (told["trained"], told["dev"]) == (False, found)
    for wrong, said in (
        (["--arch", "lstm"], "--arch lstm does not apply to --task t3; leave it out."),
        (["--swap", "gender"], "--swap does not apply to --task t3; leave it out."),
    ):
        assert said in str(CliRunner().invoke(app, [*words, *wrong]).exception)
