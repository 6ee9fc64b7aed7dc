"""Progress of runs, with and without a terminal."""

from __future__ import annotations

import re
import sys
from types import SimpleNamespace

import pytest

from mohs.cli import run_progress
from mohs.cli.run_progress import _Seen, every_minute, progress_bar
from mohs.report.pace import Pace

WON, LOST = SimpleNamespace(outcome="success"), SimpleNamespace(outcome="failed")


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_line_every_minute_without_a_terminal() -> None:
    clock = Clock()
    seen = _Seen("attacking")
    seen.pace = Pace(clock)
    lines: list[str] = []
    asked: list[float] = []

    def wait(seconds: float) -> bool:
        asked.append(seconds)
        clock.now += seconds
        if len(asked) == 2:
            seen.step(None, 0, 40)
        if len(asked) == 3:
            seen.step(WON, 1, 40)
            seen.step(LOST, 2, 40)
        return len(asked) > 4

    every_minute(seen, lines.append, wait)
    assert asked == [60.0] * 5
    assert lines == [
        "attacking: 0 of 40 after 0:00",
        "attacking: 2 of 40 after 1:00, 2.0/min, about 19:00 left; 1 of 2 succeeded",
        "attacking: 2 of 40 after 2:00, 1.0/min, about 38:00 left; 1 of 2 succeeded",
    ]


def test_without_a_terminal_short_runs_say_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_bar(False) as step:
        assert step is not None
        step(None, 0, 3)
        step(WON, 1, 3)  # type: ignore[arg-type]
    with progress_bar(True) as step:
        assert step is None
    assert capsys.readouterr().err == ""


def test_a_bar_on_a_terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    clock = Clock()
    monkeypatch.setattr(run_progress, "Pace", lambda: Pace(clock))
    with progress_bar(False) as step:
        assert step is not None
        step(None, 0, 40)
        clock.now = 120
        step(WON, 4, 40)  # type: ignore[arg-type]
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", capsys.readouterr().err)
    assert "4/40  2:00, 2.0/min, about 18:00 left  1 of 1 succeeded" in shown
