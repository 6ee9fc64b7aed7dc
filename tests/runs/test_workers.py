"""A run shared between processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from multiprocessing import Pipe
from pathlib import Path
from typing import Any

import pytest

import mohs
from mohs.attacks.verb import AttackVerb
from mohs.errors import BadInput, ServiceFailed
from mohs.models.lending import Desk
from mohs.records import Record
from mohs.runs import workers
from mohs.runs.job import job_of
from mohs.runs.settings import Settings
from mohs.runs.workers import Heard
from mohs.text.dataset import Dataset

DYING = """
import os, signal
def predict(texts):
    if any("Gloomy" in text for text in texts) and os.environ.get("DIE"):
        os.kill(os.getpid(), signal.SIGKILL)
    return [[1.0, 0.0] for _ in texts]
"""

# In a worker: stops itself, ends itself quietly, or hangs after telling its number, at one text.
ODD = """
import multiprocessing, os, signal, time
def predict(texts):
    odd = os.environ.get("ODD") if multiprocessing.parent_process() else None
    if odd and any("Gloomy" in text for text in texts):
        if odd == "stop":
            os.kill(os.getpid(), signal.SIGSTOP)
        elif odd == "end":
            os._exit(0)
        else:
            with open(odd, "a") as file:
                file.write(f"{os.getpid()}\\n")
            time.sleep(600)
    return [[1.0, 0.0] for _ in texts]
"""
# The odd text is not among the first, which are asked before a run.
TEXTS = [(f"a fine film number {i}", 0) for i in range(20)] + [("Gloomy film", 0)]


def test_records_do_not_depend_on_workers(tmp_path: Path) -> None:
    def start(progress: Any = None, **options: Any) -> mohs.Run:
        return mohs.attack("pocket", "pocket", ["textfooler", "random"], n=8, progress=progress, **options)

    alone = start()
    with start(workers=2, at_once=3, out=tmp_path / "run") as shared:
        assert list(shared.records()) == list(alone.records())
        assert shared.effort()["forwards"] >= alone.effort()["forwards"]
        assert shared.effort()["seconds"] > 0
    again: list[Record | None] = []
    start(progress=lambda record, *_: again.append(record), workers=2, out=tmp_path / "run").close()
    assert again == [None]  # nothing was left to do


def test_workers_do_not_survey_the_data_again(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings(victim="pocket", data="pocket", n=6, shard="1/2")
    first = job_of(settings, AttackVerb(attacks=["random"]))
    monkeypatch.delattr(Dataset, "survey")
    again = job_of(settings, AttackVerb(attacks=["random"]), first.subject.survey)
    assert (again.identity, again.facts, again.total) == (first.identity, first.facts, first.total)
    assert list(again.records(set())) == list(first.records(set()))


def test_what_cannot_be_told_to_another_process() -> None:
    def flat(texts: list[str]) -> list[list[float]]:
        return [[0.5, 0.5] for _ in texts]

    with pytest.raises(BadInput, match="Several workers need a victim that each can load by name"):
        mohs.attack(flat, [("a good film", 0)], ["random"], workers=2)
    with pytest.raises(BadInput, match="workers is 0"):
        mohs.attack("pocket", "pocket", ["random"], workers=0)


def test_a_dead_worker_ends_the_run_and_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "dying.py").write_text(DYING)
    monkeypatch.syspath_prepend(str(tmp_path))

    def start() -> mohs.Run:
        return mohs.attack(
            "python:dying:predict", TEXTS, ["random"], workers=2, at_once=2, out=tmp_path / "run", labels=["n", "p"]
        )

    monkeypatch.setenv("DIE", "1")
    with pytest.raises(ServiceFailed, match=f"exit code -{signal.SIGKILL:d}"):
        start()
    monkeypatch.delenv("DIE")
    with start() as run:
        assert len(run) == 21


def odd_run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> mohs.Run:
    (folder / "odd.py").write_text(ODD)
    monkeypatch.syspath_prepend(str(folder))
    return mohs.attack(
        "python:odd:predict", TEXTS, ["random"], workers=2, at_once=2, out=folder / "run", labels=["n", "p"]
    )


@pytest.mark.skipif(not hasattr(os, "waitid"), reason="a stopped process is noticed with waitid")
def test_a_stopped_worker_is_noticed_and_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_SECONDS_STOPPED", 1.0)
    monkeypatch.setenv("ODD", "stop")
    with pytest.raises(ServiceFailed, match=r"A worker process \(\d+\) was stopped by a signal for over 1 s"):
        odd_run(tmp_path, monkeypatch)
    monkeypatch.delenv("ODD")
    with odd_run(tmp_path, monkeypatch) as run:
        assert len(run) == 21


def test_a_victim_cannot_end_a_worker_quietly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ODD", "end")
    with odd_run(tmp_path, monkeypatch) as run:
        (bad,) = (record for record in run.records() if record.error)
    assert bad.original == ("Gloomy film",)
    assert bad.error == "The victim called os._exit(0), which would end the run; let it raise an error."


def test_workers_end_with_their_parent_even_in_a_hanging_victim(tmp_path: Path) -> None:
    (tmp_path / "odd.py").write_text(ODD)
    (tmp_path / "d.jsonl").write_text(
        "".join(f'{{"text": "{w} film {i}", "label": 0}}\n' for w in ("Fine", "Gloomy") for i in range(20))
    )
    program = (
        "import mohs\nif __name__ == '__main__':\n"
        "    mohs.attack('python:odd:predict', 'd.jsonl', ['random'], workers=2, at_once=2, labels=['n', 'p'])\n"
    )
    (tmp_path / "program.py").write_text(program)
    told = tmp_path / "told.txt"
    environment = {**os.environ, "ODD": str(told)}
    with subprocess.Popen([sys.executable, "program.py"], cwd=tmp_path, env=environment) as parent:
        until(lambda: told.exists() and len(told.read_text().split()) == 2)
        parent.kill()
    numbers = list(map(int, told.read_text().split()))
    until(lambda: not any(map(alive, numbers)))


def alive(number: int) -> bool:
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{number}/stat")  # without anybody to take note of their end, the dead stay in the list
    return not state.exists() or state.read_text().rpartition(")")[2].split()[0] != "Z"


def until(true: Callable[[], bool]) -> None:
    for _ in range(600):
        if true():
            return
        time.sleep(0.1)
    raise AssertionError("it did not happen within a minute")


def test_neither_end_of_a_line_waits_for_the_other_to_listen() -> None:
    ours, theirs = Pipe()
    large = bytes(1 << 20)  # more than a pipe holds

    def answer() -> None:
        for _ in range(3):
            ours.send((ours.recv().ticket, large))

    found: list[Any] = []

    def ask() -> None:
        desk = Desk(Heard(theirs))
        tickets = [desk.post(0, large) for _ in range(3)]  # type: ignore[arg-type]
        found.extend(map(desk.answers, tickets))

    ends = [threading.Thread(target=end, daemon=True) for end in (answer, ask)]
    for end in ends:
        end.start()
    for end in ends:
        end.join(30)
    assert found == [large] * 3
    ours.close()
