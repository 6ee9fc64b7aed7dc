"""`mohs benchmark` as a user types it."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import yaml

from tests.cli.conftest import Mohs, started
from tests.curation.toys import content, values

# Victims that end their own process without any clean-up after a given number of batches.
VICTIMS = """
import os, signal
from tests.curation import toys

left = int(os.environ.get("BATCHES", "-1"))

def dying(answer):
    def fragile(texts):
        global left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return answer(texts)
    return fragile

first, second = dying(toys.first), dying(toys.second)
"""


def settings(folder: Path, **more: Any) -> dict[str, Any]:
    """The toy benchmark, with two surrogates of a module in the folder."""
    found = values(folder)
    surrogates = {name: f"python:fragile:{name}" for name in ("first", "second")}
    found["tasks"]["reviews"]["surrogates"] = surrogates
    found["attacks"] = [{"attack": "random", "class": "word", "family": "embedding"}]
    (folder / "fragile.py").write_text(VICTIMS)
    return {**found, "filters": {"word_change": 0.3}, **more}


def written(folder: Path, **more: Any) -> None:
    (folder / "toy.yaml").write_text(yaml.safe_dump(settings(folder, **more)))


def test_from_nothing_to_a_benchmark(tmp_path: Path, mohs: Mohs) -> None:
    made = mohs("benchmark", "new")
    assert made.returncode == 0, made.stderr
    assert mohs("benchmark", "new").returncode == 2
    found = yaml.safe_load((tmp_path / "benchmark.yaml").read_text())
    found["tasks"]["reviews"]["n"] = 12
    (tmp_path / "benchmark.yaml").write_text(yaml.safe_dump(found))
    built = mohs("benchmark", "build", "benchmark.yaml", "--out", "ours")
    assert built.returncode == 0, built.stderr
    assert "The judges were simulated" in built.stderr
    assert "In ours: data, README.md, croissant.json, benchmark.json, benchmark.html" in built.stdout
    shown = mohs("benchmark", "show", "ours")
    assert shown.returncode == 0, shown.stderr
    assert "too many words changed" in shown.stdout
    steps = json.loads(mohs("benchmark", "show", "ours", "--json").stdout)
    assert {step["stage"] for step in steps} == {"attack", "transfer", "fidelity", "judge", "merge"}
    again = mohs("benchmark", "build", "benchmark.yaml", "--out", "ours", "--json")
    told = json.loads(again.stdout)
    assert not any(told["stages"].values())
    assert told["benchmark"]["name"] == "my-benchmark"


def test_kill_9_twice(tmp_path: Path) -> None:
    written(tmp_path)
    arguments = ("benchmark", "build", "toy.yaml", "--trust-config", "--out")
    whole = started(tmp_path, *arguments, "whole")
    assert whole.returncode == 0, whole.stderr
    for batches in (8, 14):
        ended = started(tmp_path, *arguments, "killed", BATCHES=str(batches))
        assert ended.returncode == -signal.SIGKILL, ended.stderr
    ended = started(tmp_path, *arguments, "killed")
    assert ended.returncode == 0, ended.stderr
    assert content(tmp_path / "killed") == content(tmp_path / "whole")


def test_waiting_for_people_has_an_exit_code_of_its_own(tmp_path: Path, mohs: Mohs) -> None:
    more = "".join(f'{{"text": "Practice {n}.", "label": {n % 2}}}\n' for n in range(30))
    (tmp_path / "more.jsonl").write_text(more)
    written(tmp_path, judging={"by": "study", "training": {"reviews": "more.jsonl"}})
    ended = mohs("benchmark", "build", "toy.yaml", "--trust-config", "--out", "ours")
    assert ended.returncode == 5
    assert "The build waits for people to judge ours/studies/reviews (0 of " in ended.stderr
    assert "mohs study serve ours/studies/reviews" in ended.stderr
    status = mohs("study", "status", "ours/studies/reviews")
    assert status.returncode == 0, status.stderr
    machine = mohs("benchmark", "build", "toy.yaml", "--trust-config", "--out", "ours", "--json")
    assert machine.returncode == 5
    assert json.loads(machine.stdout)["waiting"].startswith("The build waits")


def test_code_in_a_configuration_must_be_trusted(tmp_path: Path, mohs: Mohs) -> None:
    written(tmp_path)
    ended = mohs("benchmark", "build", "toy.yaml", "--out", "ours")
    assert ended.returncode == 2
    assert "toy.yaml names code to run (python:fragile:first); if you trust it, add --trust-config." in ended.stderr
    assert not (tmp_path / "ours").exists()


def test_errors_of_a_surrogate_are_told(tmp_path: Path, mohs: Mohs) -> None:
    written(tmp_path)
    broken = VICTIMS + (
        "\n\ndef second(texts):\n"
        "    if any(text.endswith(' 3') for text in texts):\n        raise ValueError('no threes')\n"
        "    return toys.second(texts)\n"
    )
    (tmp_path / "fragile.py").write_text(broken)
    ended = mohs("benchmark", "build", "toy.yaml", "--trust-config", "--out", "ours")
    assert ended.returncode == 3, ended.stderr
    assert "1 attempts ended in an error" in ended.stderr
    rows = (tmp_path / "ours" / "stages" / "01-attack-dropped.jsonl").read_text().split("\n")
    (error,) = [row for row in map(json.loads, filter(None, rows)) if row["reason"] == "error"]
    assert (error["source"], error["found_on"]) == ("r3", ["second"])
    assert "no threes" in error["more"]


def test_what_is_not_a_benchmark(tmp_path: Path, mohs: Mohs) -> None:
    ended = mohs("benchmark", "show", "nothing")
    assert ended.returncode == 2
    assert "nothing holds no finished stage of a benchmark" in ended.stderr
    written(tmp_path)
    ended = mohs("benchmark", "build", "toy.yaml", "--trust-config", "--out", "ours", "--only", "train")
    assert (
        "There is no stage 'train'; there are attack, transfer, fidelity, judge, merge, split, write." in ended.stderr
    )
