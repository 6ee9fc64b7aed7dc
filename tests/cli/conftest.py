"""Running the command line in a folder of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
Mohs = Callable[..., subprocess.CompletedProcess[str]]


def environment(folder: Path, **more: str) -> dict[str, str]:
    """In which the tests and a folder's own modules are found, beside what is found anyway."""
    path = [str(ROOT), str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path), "COLUMNS": "200", **more}


def started(
    folder: Path, *arguments: object, timeout: float | None = None, **more: str
) -> subprocess.CompletedProcess[str]:
    """Run a command in a process started for it, with those environment variables."""
    # Whoever runs the tests in the background may have told them to ignore interrupts, which a new process inherits.
    program = "import signal; signal.signal(2, signal.default_int_handler); from mohs.cli import main; main()"
    return subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)],
        cwd=folder,
        env=environment(folder, **more),
        capture_output=True,
        text=True,
        check=False,
        timeout=timeout,
    )


@pytest.fixture
def cold(tmp_path: Path) -> Mohs:
    """Commands that import everything themselves."""
    return lambda *arguments: started(tmp_path, *arguments)


@pytest.fixture(scope="session")
def nursery(tmp_path_factory: pytest.TempPathFactory) -> Iterator[subprocess.Popen[str]]:
    folder = tmp_path_factory.mktemp("nursery")
    with subprocess.Popen(
        [sys.executable, "-m", "tests.cli.nursery"],
        cwd=ROOT,
        env=environment(folder),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield process
        assert process.stdin is not None
        process.stdin.close()


@pytest.fixture
def mohs(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, nursery: subprocess.Popen[str]) -> Mohs:
    """Commands that begin where a process stands that has imported everything."""
    streams = tmp_path_factory.mktemp("streams")

    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        assert nursery.stdin is not None
        assert nursery.stdout is not None
        words = [str(argument) for argument in arguments]
        out, err = streams / "out.txt", streams / "err.txt"
        job = {
            "folder": str(tmp_path),
            "path": [str(ROOT), str(tmp_path)],
            "environment": environment(tmp_path),
            "arguments": words,
            "stdout": str(out),
            "stderr": str(err),
        }
        nursery.stdin.write(json.dumps(job) + "\n")
        nursery.stdin.flush()
        status = int(nursery.stdout.readline())
        return subprocess.CompletedProcess(words, status, out.read_text("utf-8"), err.read_text("utf-8"))

    return run
