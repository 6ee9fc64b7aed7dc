"""The commands, as a user types them."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet
import pytest

from mohs.records import RunStore
from mohs.runs.run import Run
from tests.cli.conftest import Mohs


def test_demo(tmp_path: Path, cold: Mohs) -> None:
    ended = cold("demo", "--n", 10)
    assert ended.returncode == 0, ended.stderr
    assert "textfooler:paper" in ended.stdout
    assert "textfooler:paper+fair" in ended.stdout
    assert "attack success" in ended.stdout
    assert "fair success" in ended.stdout
    assert "Page: report.html" in ended.stdout
    assert "<html" in (tmp_path / "report.html").read_text()


def test_attack_report_export(tmp_path: Path, mohs: Mohs, cold: Mohs) -> None:
    ended = cold("attack", "--n", 8, "--attack", "textfooler", "--attack", "random:baseline", "--out", "run", "-v")
    assert ended.returncode == 0, ended.stderr
    assert "In run: report.html, adversarial.jsonl" in ended.stdout
    hits = [json.loads(line) for line in (tmp_path / "run" / "adversarial.jsonl").read_text().splitlines()]
    assert hits
    assert {hit["outcome"] for hit in hits} == {"success"}
    assert all(hit["adversarial_text"] != hit["original_text"] for hit in hits)
    assert "texts in" in ended.stdout
    shown = cold("report", "run")
    assert "accuracy under attack" in shown.stdout
    assert (tmp_path / "run" / "report.html").exists()
    machine = json.loads(mohs("report", "run", "--json", "--no-page").stdout)
    assert [row["attack"] for row in machine["summary"]] == ["textfooler:paper", "random:baseline"]

    lines = cold("export", "run", "--format", "jsonl").stdout.splitlines()
    assert len(lines) == 16
    assert json.loads(lines[0])["attack"] == "textfooler:paper"
    rows = list(csv.DictReader(io.StringIO(mohs("export", "run", "--format", "csv").stdout)))
    assert [row["outcome"] for row in rows] == [json.loads(line)["outcome"] for line in lines]
    only = mohs("export", "run", "--outcome", "success").stdout.splitlines()
    assert [json.loads(line) for line in only] == hits
    assert cold("export", "run", "--out", "r.parquet").returncode == 0  # the ending says which
    assert mohs("export", "run", "--out", "r.txt", "--format", "csv").returncode == 0
    assert (tmp_path / "r.txt").read_text("utf-8").startswith("attack,")
    assert mohs("export", "run", "--out", "r").returncode == 0  # without an ending it is jsonl
    assert (tmp_path / "r").read_text("utf-8").splitlines() == lines
    assert pyarrow.parquet.read_table(tmp_path / "r.parquet").num_rows == 16


def test_the_same_command_again_does_nothing_new(tmp_path: Path, mohs: Mohs) -> None:
    first = mohs("attack", "--n", 5)
    second = mohs("attack", "--n", 5)
    assert first.stdout == second.stdout
    assert len(list((tmp_path / "mohs-runs").iterdir())) == 1
    mohs("attack", "--n", 5, "--seed", 1)
    assert len(list((tmp_path / "mohs-runs").iterdir())) == 2


def test_a_manifest_is_a_config(tmp_path: Path, mohs: Mohs, cold: Mohs) -> None:
    (tmp_path / "d.csv").write_text('review,score\n"good, honest film",plus\nan awful film,minus\n')
    arguments = ["--victim", "python:tests.toys:predict", "--data", "d.csv", "--text-field", "review", "--seed", "4"]
    arguments += [
        "--label-field",
        "score",
        "--labels",
        "minus,plus",
        "--attack",
        "random",
        "--victim-option",
        "batch=3",
    ]
    first = mohs("attack", *arguments, "--out", "one")
    assert first.returncode == 0, first.stderr
    again = cold("attack", "--config", "one/manifest.yaml", "--trust-config", "--out", "two")
    assert again.returncode == 0, again.stderr
    with Run.open(tmp_path / "one") as one, Run.open(tmp_path / "two") as two:
        assert list(one.records()) == list(two.records())
        assert one.manifest["identity"] == two.manifest["identity"]
    named = ["--victim", "python:tests.toys:predict"]
    changed = mohs("attack", "--config", "one/manifest.yaml", "--out", "three", "--seed", "5", *named)
    assert changed.returncode == 0, changed.stderr
    with Run.open(tmp_path / "three") as three:
        assert three.manifest["config"]["seed"] == 5


def test_config_file_for_every_command(tmp_path: Path, mohs: Mohs) -> None:
    (tmp_path / "c.yaml").write_text("n: 3\npage: other.html\n")
    assert mohs("demo", "--config", "c.yaml").returncode == 0
    assert (tmp_path / "other.html").exists()
    (tmp_path / "a.yaml").write_text("n: 3\nattacks: [random]\nout: run\n")
    assert mohs("attack", "--config", "a.yaml").returncode == 0
    (tmp_path / "e.yaml").write_text("format: csv\n")
    assert mohs("export", "run", "--config", "e.yaml").stdout.startswith("attack,")


def test_class_names_with_commas_come_back_from_a_manifest(tmp_path: Path, mohs: Mohs) -> None:
    (tmp_path / "d.csv").write_text('text,label\ngood film,"good, honest"\n')
    arguments = ["--victim", "python:tests.toys:predict", "--data", "d.csv", "--attack", "random"]
    first = mohs("attack", *arguments, "--labels", 'bad,"good, honest"', "--out", "one")
    assert first.returncode == 0, first.stderr
    again = mohs("attack", "--config", "one/manifest.yaml", "--trust-config", "--out", "two")
    assert again.returncode == 0, again.stderr
    with Run.open(tmp_path / "two") as run:
        assert run.manifest["config"]["labels"] == ["bad", "good, honest"]


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("victim: 'python:trap:predict'", "python:trap:predict"),
        ("victim: 'ensemble(python:trap:predict, n=4)'", "ensemble(python:trap:predict, n=4)"),
        ("victim: 'mean(pocket,python:trap:predict)'", "mean(pocket,python:trap:predict)"),
        ("attacks: [random, 'trap.py:X']", "trap.py:X"),
        ("attack: trap.py:X+fair", "trap.py:X+fair"),
        ("source: neighbours+trap.py:X:k=3", "neighbours+trap.py:X:k=3"),
        ("constraint: ['trap.py:X>=0.5']", "trap.py:X>=0.5"),
        ("config: {measures: ['trap.py:X']}", "trap.py:X"),
    ],
)
def test_a_config_runs_no_code_by_itself(tmp_path: Path, mohs: Mohs, line: str, named: str) -> None:
    (tmp_path / "trap.py").write_text("open('sprung', 'w')\n")
    (tmp_path / "c.yaml").write_text(line)
    refused = mohs("attack", "--config", "c.yaml", "--n", 1)
    assert refused.returncode == 2
    assert refused.stderr == (
        f"mohs: c.yaml names code to run ({named}); if you trust it, add --trust-config, or give that option on the "
        "command line.\n"
    )
    assert not (tmp_path / "sprung").exists()
    trusted = mohs("attack", "--trust-config", "--config", "c.yaml", "--n", 1)
    assert trusted.returncode == 2, "there is no such class"
    assert (tmp_path / "sprung").exists()  # the trap works: only the refusal kept it shut


@pytest.mark.parametrize("name", ["trust_pickle", "trust-code", "trust_config"])
def test_a_config_gives_no_trust(tmp_path: Path, mohs: Mohs, name: str) -> None:
    (tmp_path / "c.yaml").write_text(f"{name}: yes\n")
    flag = f"--{name.replace('_', '-')}"
    told = mohs("attack", "--config", "c.yaml", "--n", 1, "--trust-config").stderr
    assert told == (
        f"mohs: c.yaml sets '{name}', but only the command line can say what is trusted; take it out of the file and "
        f"add {flag} if you trust it.\n"
    )


def test_a_config_may_use_the_names_of_flags(tmp_path: Path, mohs: Mohs) -> None:
    (tmp_path / "a.yaml").write_text("n: 2\nattack: random\ntext-field: text\n")
    ended = mohs("attack", "--config", "a.yaml", "--out", "run")
    assert ended.returncode == 0, ended.stderr
    assert "random:baseline" in ended.stdout


def test_an_unfinished_run_says_so(tmp_path: Path, mohs: Mohs) -> None:
    mohs("attack", "--n", 6, "--attack", "random", "--out", "whole")
    with Run.open(tmp_path / "whole") as whole:
        store = RunStore.open(tmp_path / "run", whole.manifest, whole.manifest["identity"])
        store.add(0, next(whole.records()))
        store.close()
    assert "The run is not finished: 1 of 6 attempts so far" in mohs("report", "run").stdout
    machine = json.loads(mohs("report", "run", "--json").stdout)
    assert (machine["finished"], machine["planned"]) == (1, 6)


def test_what_a_victim_prints_does_not_spoil_the_json(tmp_path: Path, mohs: Mohs) -> None:
    (tmp_path / "loud.py").write_text(
        "from tests.toys import predict as quiet\nprint('loading')\n"
        "def predict(texts):\n    print('hello')\n    return quiet(texts)\n"
    )
    (tmp_path / "d.jsonl").write_text('{"text": "a good film", "label": 1}\n')
    ended = mohs("attack", "--victim", "python:loud:predict", "--data", "d.jsonl", "--attack", "random", "--json")
    assert json.loads(ended.stdout)["finished"] == 1
    assert "hello" in ended.stderr


def test_a_class_by_name_and_a_warning_below_chance(tmp_path: Path, mohs: Mohs) -> None:
    rows = [f'{{"text": "a good film {i}", "label": "positive"}}\n' for i in range(12)]
    (tmp_path / "d.jsonl").write_text("".join(rows))
    arguments = ["attack", "--victim", "python:tests.toys:predict", "--data", "d.jsonl", "--attack", "random"]
    good = mohs(*arguments, "--labels", "negative,positive", "--goal", "targeted:negative", "--out", "good")
    assert good.returncode == 0, good.stderr
    assert "goal targeted:0" in good.stdout
    swapped = mohs(*arguments, "--labels", "positive,negative", "--out", "swapped")
    assert "worse than chance: check that the labels are in the order of its classes." in swapped.stdout


def test_attacks_table(mohs: Mohs, cold: Mohs) -> None:
    table = json.loads(cold("attacks", "--json").stdout)
    rows = {row["name"]: row for row in table}
    assert {"textfooler", "pwws", "bert-attack", "bae", "clare", "hotflip", "beam", "random"} <= set(rows)
    assert rows["textfooler"]["presets"][:3] == ["paper", "released", "textattack"]
    assert rows["hotflip"]["box"] == "white"
    assert rows["pwws"]["box"] == "black"
    assert "masked lm" in rows["bae"]["needs"]
    assert all(row["paper"] and row["cost"] and row["about"] for row in table)
    shown = mohs("attacks").stdout
    assert "Jin et al. 2020" in shown
    assert "labels only" in shown
    assert "standard a battery\n    Several attacks, each on the examples that withstood the ones before: " in shown
    assert "textfooler, textbugger:textattack, faster-genetic" in " ".join(shown.split())
    heads = [line.split()[0] for line in shown.splitlines() if line and not line.startswith(" ")]
    assert set(rows) < set(heads)  # what is too long for a line stays indented


def test_spaces_table(mohs: Mohs, cold: Mohs) -> None:
    rows = {row["name"]: row for row in json.loads(cold("spaces", "--json").stdout)}
    shown = mohs("spaces").stdout.splitlines()
    assert "neighbours needs: vectors" in shown
    assert "    share=VALUE, up=no, least=0" in shown
    assert {line.split()[0] for line in shown if line and not line.startswith(" ")} > set(rows)


def test_train_pocket_is_the_shipped_model(tmp_path: Path, mohs: Mohs, cold: Mohs) -> None:
    made = json.loads(cold("train-pocket", "--out", "mine", "--json").stdout)
    assert made["fingerprint"] == made["shipped"]
    ended = mohs("attack", "--victim", "mohs:mine", "--n", 3, "--json")
    assert json.loads(ended.stdout)["summary"][0]["attack"] == "textfooler:paper"


def test_gzip_tsv_and_pairs(tmp_path: Path, mohs: Mohs) -> None:
    import gzip

    rows = 'premise\thypothesis\tlabel\nHe said "no\tgood one\t1\nshe left\tan awful one\t0\n'
    (tmp_path / "d.tsv.gz").write_bytes(gzip.compress(rows.encode()))
    ended = mohs(
        "attack", "--victim", "python:tests.toys:predict", "--data", "d.tsv.gz", "--attack", "random", "--out", "run",
        "--change", "premise,hypothesis",
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    with Run.open(tmp_path / "run") as run:
        assert next(run.records()).original == ('He said "no', "good one")


@pytest.mark.parametrize(
    "command",
    [[], ["demo"], ["attack"], ["report"], ["export"], ["attacks"], ["compare"], ["analyse"], ["train-pocket"]],
)
def test_help_has_examples(cold: Mohs, command: list[str]) -> None:
    ended = cold(*command, "--help")
    assert ended.returncode == 0
    assert "Examples:" in ended.stdout if command else "mohs demo" in ended.stdout


def test_version(cold: Mohs) -> None:
    assert cold("--version").stdout.startswith("mohs 0.")
    module = subprocess.run([sys.executable, "-m", "mohs", "--version"], capture_output=True, text=True, check=True)
    assert module.stdout.startswith("mohs 0.")


def test_shortened_texts_are_no_adversarial_examples(tmp_path: Path, mohs: Mohs) -> None:
    ended = mohs("attack", "--n", 4, "--attack", "input-reduction:greedy", "--goal", "reduced:2", "--out", "run")
    assert ended.returncode == 0, ended.stderr
    assert "goal reduced:2" in ended.stdout
    assert "keeps their label (reduced:2)" in ended.stdout
    assert "accuracy under attack  " not in ended.stdout
    assert "words left" in ended.stdout
    assert not (tmp_path / "run" / "adversarial.jsonl").exists()
    machine = json.loads(mohs("report", "run", "--json", "--no-page").stdout)
    (row,) = machine["summary"]
    assert row["accuracy_under_attack"] is None
    assert row["outcomes"]["success"] > 0


def test_named_entities_from_training_data_to_an_attack(tmp_path: Path, mohs: Mohs, cold: Mohs) -> None:
    rows = [("Ann saw London", 0), ("Ann liked Rome", 1), ("London was bad", 0), ("Rome was good", 1)]
    lines = [json.dumps({"text": text, "label": label}) for text, label in rows]
    (tmp_path / "train.jsonl").write_text("\n".join(lines))
    made = cold("entities", "--data", "train.jsonl", "--out", "e.json", "--tagger", "pocket", "-v")
    assert made.returncode == 0, made.stderr
    assert json.loads((tmp_path / "e.json").read_text())["replacements"] == {
        "0": {"PROPN": "Rome"},
        "1": {"PROPN": "London"},
    }
    assert "class 1: PROPN London" in made.stdout
    (tmp_path / "test.jsonl").write_text(json.dumps({"text": "a great film from Paris", "label": 1}))
    options = ["--data", "test.jsonl", "--source", "neighbours", "--tagger", "pocket", "--entities", "e.json"]
    ended = mohs("attack", "--attack", "pwws", *options, "--out", "run", "--json")
    assert ended.returncode == 0, ended.stderr
    again = mohs("attack", "--config", "run/manifest.yaml", "--out", "again", "--json")
    for run in (ended, again):
        assert json.loads(run.stdout)["summary"][0]["attack"] == "pwws:paper+neighbours+entities"
    with Run.open(tmp_path / "again") as done:
        (record,) = done.records()
    assert record.error is None
    assert all(edit.new == "London" for edit in record.edits if edit.source == "named entity")
    plain = [json.dumps({"text": "so it was", "label": label}) for label in (0, 1)]
    (tmp_path / "plain.jsonl").write_text("\n".join(plain))
    assert "No class of plain.jsonl can take an entity" in mohs("entities", "--data", "plain.jsonl").stderr
