"""A victim's code does not break a command: its output, its exit code, its end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import started

VICTIMS = """
import ctypes, os, signal, sys, threading, time
from tests.toys import predict

def noisy(texts):
    print("Python's own")
    sys.__stdout__.write("what the interpreter began with")
    os.write(1, b"a file descriptor")
    libc = ctypes.CDLL(None)
    libc.printf(b"C code that keeps it until the end")
    os.system("echo a child process")
    return predict(texts)

def leaky(texts):
    threading.Thread(target=time.sleep, args=(300,)).start()
    return predict(texts)

def ending(texts):
    if len(texts) > 1 or "number" in texts[0]:
        os._exit(0)
    return predict(texts)

def interrupted(texts):
    def twice():
        for wait in (0.0, 1.5, 0.0, 300.0):
            time.sleep(wait)
            os.kill(os.getpid(), signal.SIGINT)
    if "number" in texts[0]:
        threading.Thread(target=twice).start()
        time.sleep(1)
    return predict(texts)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "victims.py").write_text(VICTIMS)
    (tmp_path / "d.jsonl").write_text("".join(f'{{"text": "a good film number {i}", "label": 1}}\n' for i in range(3)))
    return tmp_path


def command(name: str) -> list[str]:
    return ["attack", "--victim", f"python:victims:{name}", "--data", "d.jsonl", "--attack", "random", "--json"]


@pytest.mark.parametrize("workers", [1, 2])
def test_what_a_victim_prints_stays_out_of_the_output(folder: Path, workers: int) -> None:
    ended = started(folder, *command("noisy"), "--workers", workers)
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout)["finished"] == 3
    for said in ("Python's own", "what the interpreter", "a file descriptor", "C code", "a child process"):
        assert said in ended.stderr


def test_threads_of_a_victim_do_not_keep_a_command_alive(folder: Path) -> None:
    ended = started(folder, *command("leaky"), timeout=60)
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout)["finished"] == 3


def test_a_victim_cannot_end_a_command_quietly(folder: Path) -> None:
    ended = started(folder, *command("ending"))
    assert ended.returncode == 3
    assert json.loads(ended.stdout)["finished"] == 3
    assert "The victim called os._exit(0), which would end the run; let it raise an error." in ended.stderr


def test_interrupting_twice(folder: Path) -> None:
    ended = started(folder, *command("interrupted"), timeout=60)
    assert ended.returncode == 130
    assert "mohs: Interrupted: " in ended.stderr
    assert "mohs: Interrupted again: ended at once." in ended.stderr
    assert "Traceback" not in ended.stderr
    assert ended.stdout == ""
