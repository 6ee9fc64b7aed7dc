"""Kill -9 at any moment loses at most the examples in flight, and the same command finishes the run."""

from __future__ import annotations

import random
import signal
import subprocess
from pathlib import Path

from mohs.runs.run import Run
from tests.cli.conftest import started

# A victim that ends its own process without any clean-up after a given number of batches.
VICTIM = """
import os, signal
from tests.toys import predict

left = int(os.environ.get("BATCHES", "-1"))

def fragile(texts):
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return predict(texts)
"""


def command(folder: Path, out: str, batches: int) -> subprocess.CompletedProcess[str]:
    arguments = ["attack", "--victim", "python:fragile:fragile", "--data", "reviews.jsonl", "--out", out]
    arguments += ["--attack", "textfooler", "--attack", "random", "--at-once", "3", "--victim-option", "batch=8"]
    return started(folder, *arguments, BATCHES=str(batches))


def test_kill_9_again_and_again(tmp_path: Path) -> None:
    (tmp_path / "fragile.py").write_text(VICTIM)
    chance = random.Random(5)
    words = "good great bad awful fine film story actors music ending really quite honest".split()
    rows = [" ".join(chance.choices(words, k=8)) for _ in range(40)]
    lines = [f'{{"id": "r{i}", "text": "{text}", "label": {i % 2}}}' for i, text in enumerate(rows)]
    (tmp_path / "reviews.jsonl").write_text("\n".join(lines))

    whole = command(tmp_path, "whole", -1)
    assert whole.returncode == 0, whole.stderr
    with Run.open(tmp_path / "whole") as run:
        expected = list(run.records())
    assert len(expected) == 80

    kills, saved = 0, 0
    for attempt in range(60):
        ended = command(tmp_path, "killed", chance.randint(1, 60) + 15 * attempt)
        if ended.returncode == 0:
            break
        assert ended.returncode == -signal.SIGKILL, ended.stderr
        kills += 1
        if (tmp_path / "killed" / "journal.sqlite").exists():
            with Run.open(tmp_path / "killed") as run:
                assert len(run) >= saved, "something finished was lost"
                saved = len(run)
                assert all(record in expected for record in run.records())
    else:
        raise AssertionError("the run never finished")
    assert kills >= 5
    with Run.open(tmp_path / "killed") as run:
        assert list(run.records()) == expected
