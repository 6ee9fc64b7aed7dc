"""`mohs analyse` as a user types it."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Mohs


def test_analyse(tmp_path: Path, mohs: Mohs, cold: Mohs) -> None:
    made = mohs("attack", "--n", 8, "--attack", "textfooler", "--out", "run")
    assert made.returncode == 0, made.stderr
    ended = cold("analyse", "run", "--train", "pocket:train", "--out", "words.csv")
    assert ended.returncode == 0, ended.stderr
    assert "attack words, other class" in ended.stdout
    assert "Fragments by similarity, textfooler:paper" in ended.stdout
    assert "Page: run/analyse.html" in ended.stdout
    assert "<html" in (tmp_path / "run" / "analyse.html").read_text("utf-8")
    machine = mohs("analyse", "run", "--train", "pocket:train", "--json", "--no-page")
    assert machine.returncode == 0, machine.stderr
    found = json.loads(machine.stdout)
    (one,) = found["attacks"]
    assert one["substitutions"] == len((tmp_path / "words.csv").read_text("utf-8").splitlines()) - 1
    assert one["cosine"]["total"] == one["substitutions"]  # TextFooler takes its words from these vectors
    assert min(row["from"] for row in one["cosine"]["buckets"]) >= 0.5

    assert mohs("bias", "-k", 0, "--n", 40, "--out", "bias").returncode == 0
    words = json.loads(mohs("analyse", "bias", "--train", "pocket:train", "--json", "--no-page").stdout)
    assert "he" in words["examples_with_word"]
    assert set(words["examples_with_word"]["he"]) <= {"negative", "positive"}

    for arguments, said in (
        (("nowhere",), "nowhere is not a run"),
        (("bias",), "name the training data with --train"),
        (("run", "--other-victim", "pocket"), "--other-victim is compared with --victim"),
        (("run", "--train", "none.csv"), "none.csv"),
        (("run", "--window", "0"), "window"),
        (("run", "--out", "none/x.csv"), "none/x.csv cannot be written"),
    ):
        ended = mohs("analyse", *arguments)
        assert ended.returncode == 2, ended.stderr
        assert said in ended.stderr
        assert "Traceback" not in ended.stderr
