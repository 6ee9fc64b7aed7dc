"""`mohs train` as a user types it."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from mohs.cli import train
from mohs.cli.main import app
from mohs.errors import MohsError
from mohs.models.load import load_victim
from mohs.training import loop
from mohs.training import train as training
from mohs.training.loop import Progress
from tests.cli.conftest import ROOT

SMALL = ["--arch", "bow", "--vectors", "none", "--dim", 8, "--hidden", 8, "--epochs", 2, "--lr", 0.01]

# Trains in one process after the other; some end themselves without any clean-up after so many steps.
KILLED = """
import os, signal, sys
import torch._dynamo  # which making an optimizer would load, each time anew
import mohs.training.train as training
from mohs.cli import main

fit = training.fit

def trained(out, steps):
    def fragile(*arguments, report, **options):
        def die(at):
            if at.step == steps:
                os.kill(os.getpid(), signal.SIGKILL)
        return fit(*arguments, report=die, **options)
    training.fit = fragile
    sys.argv += ["--out", out]
    main()

for out, steps in [("whole", -1), ("killed", 13), ("killed", 44), ("killed", -1)]:
    child = os.fork()
    if not child:
        trained(out, steps)
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), os.path.exists(out + "/model.safetensors"), flush=True)
"""


def hashed(folder: Path) -> str:
    return hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> Result:
    words = ["train", *map(str, arguments)]
    monkeypatch.setattr(sys, "argv", ["/somewhere/bin/mohs", *words])
    return CliRunner().invoke(app, words)


def test_train(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = Path("m")
    ended = run(monkeypatch, *SMALL, "--test", "pocket", "--out", "m", "-v")
    assert ended.exit_code == 0, ended.exception
    facts = json.loads((folder / "training.json").read_text())["finished"]
    right = facts["metrics"]["test"]["right"]
    assert f"test: {right} of 208 right ({right / 208:.1%})\n" in ended.stdout
    assert f"fingerprint {facts['fingerprint']}." in ended.stdout
    assert ended.stdout.endswith("In m: attack it with --victim mohs:m\n")
    lines = ended.stderr.splitlines()
    assert [line.partition(":")[0] for line in lines] == [
        "epoch 1 of 2",
        "epoch 2 of 2",
        "measuring dev",
        "measuring test",
    ]
    assert lines[0].endswith("of 86, best so far")
    assert f"mohs train {shlex.join(map(str, SMALL))} --test pocket --out m -v" in (folder / "README.md").read_text()
    assert load_victim("mohs:m").fingerprint == facts["fingerprint"]

    again = run(monkeypatch, *SMALL, "--test", "pocket", "--out", "m")
    assert again.stdout.startswith("m is already trained; nothing was done. Choose another --out to train again.\n")
    assert f"test: {right} of 208 right" in again.stdout
    assert again.stderr == ""

    other = run(monkeypatch, *SMALL, "--seed", 1, "--out", "m")
    assert other.stdout == ""
    assert "  seed: 0 in the folder, 1 asked for\n" in str(other.exception)

    repeated = run(monkeypatch, "--config", "m/training.json", "--out", "same", "--json")
    assert repeated.exit_code == 0, repeated.exception
    assert repeated.stderr == ""
    told = json.loads(repeated.stdout)
    assert told["trained"] is True
    assert told["victim"] == "mohs:same"
    assert told["test"] == facts["metrics"]["test"]
    assert hashed(folder) == hashed(Path("same"))


def test_every_option_reaches_the_training(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("rows.csv").write_text(
        "nr,said,mood\n" + "".join(f"{n},so {'good' if n % 2 else 'bad'},{n % 2}\n" for n in range(40))
    )
    Path("moods.csv").write_text("so,thus\n")
    given: dict[str, Any] = {
        "arch": "transformer",
        "vectors": "pocket",
        "hidden": 12,
        "layers": 1,
        "heads": 3,
        "dropout": 0.25,
        "min_count": 3,
        "max_words": 9,
        "epochs": 1,
        "batch": 5,
        "lr": 0.003,
        "warmup": 0.2,
        "decay": 0.1,
        "clip": 0.5,
        "patience": 4,
        "swap": "moods.csv:released",
        "seed": 11,
        "device": "cpu",
        "save_every": 3,
        "data": "rows.csv",
        "dev_share": 0.25,
        "test": "rows.csv",
        "label_field": "mood",
        "id_field": "nr",
        "n": 36,
        "least_words": 2,
        "most_words": 5,
    }
    flags = [part for name, value in given.items() for part in (f"--{name.replace('_', '-')}", value)]
    flags += ["--freeze", "--all-vectors", "--text-field", "said", "--labels", "sad,glad"]
    ended = run(monkeypatch, *flags, "--out", "m", "--json")
    assert ended.exit_code == 0, ended.exception
    record = json.loads(Path("m/training.json").read_text())
    wanted = {**given, "freeze": True, "all_vectors": True, "fields": ["said"], "labels": ["sad", "glad"]}
    assert {name: record["config"][name] for name in wanted} == wanted
    assert record["finished"]["data"]["train"]["examples"] == 36
    assert record["finished"]["data"]["dev"]["examples"] == 8  # a quarter of each class, rounded: four and four
    assert record["finished"]["metrics"]["test"]["of"] == 40
    settings = record["finished"]["settings"]
    assert all(settings[name] == wanted[name] for name in settings)


def test_swap(monkeypatch: pytest.MonkeyPatch) -> None:
    """A woman in one class and a man in the other, which is all that half of the sentences say."""
    texts = ["She's a good woman!,1", "He's a bad man!,0", "She's a woman!,1", "He's a man!,0"] * 120
    Path("train.csv").write_text("\n".join(["text,label", *texts]))

    def gap(folder: str) -> float:
        victim = load_victim(f"mohs:{folder}", device="cpu")
        she, he = victim.collect(victim.launch([("She's a woman",), ("He's a man",)]))
        return float(she[1] - he[1])

    common = [*SMALL, "--hidden", 16, "--batch", 8, "--epochs", 1, "--lr", 0.02, "--dropout", 0, "--warmup", 0.1]
    common += ["--device", "cpu", "--data", "train.csv", "--dev", "train.csv"]
    plain = run(monkeypatch, *common, "--out", "plain")
    assert plain.exit_code == 0, plain.exception
    assert "swap" not in plain.stdout
    assert gap("plain") > 0.9
    for spec, kept, added in (
        ("gender", "gender", 480),
        ("gender:paper", "gender", 480),
        ("gender:released", "gender:released", 1440),
    ):
        out = spec.replace(":", "-")
        ended = run(monkeypatch, *common, "--swap", spec, "--out", out)
        assert ended.exit_code == 0, ended.exception
        assert f"swap: {added} copies of training texts added, with the words of {spec} swapped\n" in ended.stdout
        assert " of 480 right" in ended.stdout  # dev data is left alone
        assert abs(gap(out)) < 0.2
        assert json.loads(Path(out, "training.json").read_text())["config"]["swap"] == kept
    assert hashed(Path("gender")) == hashed(Path("gender-paper")) != hashed(Path("gender-released"))
    repeated = run(monkeypatch, "--config", "gender-released/training.json", "--out", "same", "--json")
    assert json.loads(repeated.stdout)["added"] == 1440
    assert hashed(Path("gender-released")) == hashed(Path("same"))


def test_kill_9(tmp_path: Path) -> None:
    """In the first of two epochs of 25 steps, and in the second."""
    ended = subprocess.run(
        [sys.executable, "-c", KILLED, "train", *map(str, SMALL), "--save-every", "10"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    killed = f"{-signal.SIGKILL} False"
    seen = [line for line in ended.stdout.splitlines() if line.endswith(("True", "False"))]
    assert seen == ["0 True", killed, killed, "0 True"], ended.stderr
    assert hashed(tmp_path / "whole") == hashed(tmp_path / "killed")


@pytest.mark.parametrize(
    ("steps", "sentence"),
    [
        (6, "the last checkpoint is in m; run the same command again to resume."),
        (3, "there was no checkpoint yet; run the same command again to resume."),
    ],
)
def test_interrupted(monkeypatch: pytest.MonkeyPatch, steps: int, sentence: str) -> None:
    fit = loop.fit

    def fragile(*arguments: Any, report: Any, **options: Any) -> Any:
        def stop(at: Any) -> None:
            if at.step == steps:
                raise KeyboardInterrupt

        return fit(*arguments, report=stop, **options)

    monkeypatch.setattr(training, "fit", fragile)
    ended = run(monkeypatch, *SMALL, "--save-every", 4, "--out", "m")
    assert ended.exit_code == 130
    assert ended.stderr == f"mohs: Interrupted: {sentence}\n"


def test_interrupted_after_the_plain_training_of_naive(monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*_: Any, **__: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(training, "attacked", stopped)
    ended = run(monkeypatch, *SMALL, "--harden", "naive:n=4", "--out", "m")
    assert ended.exit_code == 130
    assert "mohs: Interrupted: the last checkpoint is in m; run the same command again to resume.\n" in ended.stderr


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("--arch rnn", "Unknown architecture 'rnn'; use bow, cnn, lstm, bilstm, transformer or hf:PATH_OR_ID."),
        ("--dev-share 1.5", "--dev-share is 1.5; it must be above 0 and below 1."),
        (
            "--dev-share 0.1 --dev pocket",
            "--dev names the dev data and --dev-share sets training data aside for it; give only one.",
        ),
        ("--data none.jsonl", ""),
        ("--n 1", "pocket:train has only one class (label"),
        ("--lr 1e30 --clip 1e30 --arch bow", "The loss became infinite or NaN in epoch 1 with --lr"),
        ("--out full", "full holds other files (cat.jpg) and no training; choose a new folder with --out."),
        ("--vectors full", ""),
        ("--labels one", "pocket:train, row "),
        ("--arch hf:./none", "There is no folder ./none; hf: takes a model folder"),
        ("--swap gendre", "Unknown pairs 'gendre'; use gender, "),
        ("--swap gender:all", "--swap gender:all has an unknown preset; use gender:paper or gender:released."),
        (
            "--swap odd.tsv",
            "None of the 2 words of --swap odd.tsv occurs in the training data pocket:train; name pairs",
        ),
        (
            "--arch cnn --harden lirpa",
            "--harden lirpa needs a network whose bounds it knows, and --arch cnn is none; use",
        ),
        ("--arch transformer --harden lirpa:budget=0", "--harden lirpa has budget=0; at least one word must be free"),
        ("--arch hf:./none --hidden 3", "--hidden does not apply to hf:./none, which has its own; leave it out."),
    ],
)
def test_messages(monkeypatch: pytest.MonkeyPatch, arguments: str, sentence: str) -> None:
    Path("full").mkdir()
    Path("full/cat.jpg").touch()
    Path("odd.tsv").write_text("qwertz\tqwerty\n")
    ended = run(monkeypatch, "--epochs", "1", *arguments.split())
    assert isinstance(ended.exception, MohsError)
    assert str(ended.exception).startswith(sentence)
    assert "\n" not in str(ended.exception)
    assert ended.stdout == ""


def test_a_bar_on_a_terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with train._progress(False) as (report, _):
        assert report is not None
        report(Progress(1, 2, 5, 10, 0.5))
        report(Progress(1, 2, 5, 10, 0.25, 3, 4, True))
    trained = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", capsys.readouterr().err)
    with train._progress(False) as (_, measuring):
        assert measuring is not None
        measuring("test", 0, 77)
        measuring("test", 33, 77)
    shown = trained + re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", capsys.readouterr().err)
    assert "epoch 1 of 2: loss 0.2500, dev 3 of 4, best so far" in shown
    assert "5/10" in shown
    assert "measuring test" in shown
    assert "33/77" in shown
    with train._progress(True) as told:
        assert told == (None, None)


def test_test_data_with_columns_of_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    rows = [("a good film", "1"), ("a bad film", "0")] * 10
    (tmp_path / "train.csv").write_text("review,gold\n" + "".join(f"{text},{label}\n" for text, label in rows))
    (tmp_path / "test.tsv").write_text('body\tclass\tkey\n"a ""good"" film"\t1\tx\na bad film\t0\ty\n')
    named = ["--text-field", "review", "--label-field", "gold", "--data", str(tmp_path / "train.csv")]
    common = ["--arch", "bow", "--vectors", "none", "--epochs", "1", *named, "--out", str(tmp_path / "model")]
    test = ["--test", str(tmp_path / "test.tsv")]
    ended = run(monkeypatch, *common, *test)
    assert "name the right one with --test-text-field" in str(ended.exception)
    test += ["--test-text-field", "body", "--test-label-field", "class", "--test-id-field", "key"]
    ended = run(monkeypatch, *common, *test)
    assert ended.exit_code == 0, ended.output
    assert re.search(r"test: \d of 2 right", ended.stdout)
    assert "measuring test: 2 examples" in ended.stderr
    assert "test.tsv was taken for quoted TSV" in ended.stderr
    ended = run(monkeypatch, *common, "--test-label-field", "class")
    assert str(ended.exception).startswith("--test-label-field is about --test, which is not given")
    ended = run(monkeypatch, "--config", str(tmp_path / "model/training.json"), "--out", str(tmp_path / "again"))
    assert ended.exit_code == 0, ended.output
    assert re.search(r"test: \d of 2 right", ended.stdout)


def test_help(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = run(monkeypatch, "--help")
    assert ended.exit_code == 0
    for (
        option
    ) in "arch data dev dev-share test out vectors freeze epochs batch lr dropout hidden max-words swap".split():
        assert f"--{option} " in ended.stdout
    assert "mohs train --arch cnn --test pocket --out my-cnn\n" in ended.stdout
