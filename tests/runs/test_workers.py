"""A run shared between processes."""

from __future__ import annotations

import signal
import threading
from multiprocessing import Pipe
from pathlib import Path
from typing import Any

import pytest

import mohs
from mohs.errors import BadInput, ServiceFailed
from mohs.models.lending import Desk
from mohs.records import Record
from mohs.runs.workers import Heard

DYING = """
import os, signal
def predict(texts):
    if any("Gloomy" in text for text in texts) and os.environ.get("DIE"):
        os.kill(os.getpid(), signal.SIGKILL)
    return [[1.0, 0.0] for _ in texts]
"""


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
    texts = [(f"a fine film number {i}", 0) for i in range(20)] + [
        ("Gloomy film", 0)
    ]  # not among the first, which are asked at once

    def start() -> mohs.Run:
        return mohs.attack(
            "python:dying:predict", texts, ["random"], workers=2, at_once=2, out=tmp_path / "run", labels=["n", "p"]
        )

    monkeypatch.setenv("DIE", "1")
    with pytest.raises(ServiceFailed, match=f"exit code -{signal.SIGKILL:d}"):
        start()
    monkeypatch.delenv("DIE")
    with start() as run:
        assert len(run) == 21


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
