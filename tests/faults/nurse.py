"""Runs commands through a nursery."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.cli.conftest import ROOT, environment


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    status: int | None
    seconds: float
    hung: bool
    orphans: bool
    killed: bool
    stdout: str
    stderr: str
    saved: tuple[str, ...]  # the names of what it said it had saved
    times: tuple[float, ...]  # seconds after its start

    @property
    def traceback(self) -> bool:
        """Whether it ended with one."""
        return "Traceback" in self.stderr

    @property
    def sentence(self) -> str:
        """The message at the end of a command that failed; empty if there is none, or more than one."""
        before, mark, message = f"\n{self.stderr}".partition("\nmohs: ")
        return message if mark and "\nmohs: " not in message and "Traceback" not in before else ""


class Nurse:
    """A nursery, with a folder in which the commands run. `names`: of the commands, if not all will be asked for."""

    def __init__(self, scene: Path, *names: str) -> None:
        self.scene = scene
        self._own = scene / "nursery"
        self._own.mkdir(exist_ok=True)
        self.environment = environment(scene, MOHS_CACHE=str(scene / "cache"), OMP_NUM_THREADS="1")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.nursery", str(scene), *names],
            cwd=ROOT,
            env=self.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == "ready\n"

    def __enter__(self) -> Nurse:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def __call__(self, *arguments: object, **job: Any) -> Ended:
        """Run a command; `job` says which fault it runs into."""
        out, err, saved = (self._own / name for name in ("out.txt", "err.txt", "saved.txt"))
        saved.unlink(missing_ok=True)
        environment = {**self.environment, **job.pop("environment", {})}
        told = {
            "folder": str(self.scene),
            "path": [str(ROOT), str(self.scene)],
            "environment": environment,
            "arguments": [str(argument) for argument in arguments],
            "stdout": str(out),
            "stderr": str(err),
            "acknowledged": str(saved),
            **job,
        }
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(told) + "\n")
        self._process.stdin.flush()
        found = json.loads(self._process.stdout.readline())
        lines = saved.read_text("utf-8").splitlines() if saved.exists() else []
        noted = [line.partition(" ") for line in lines]
        return Ended(
            **found,
            stdout=_text(out),
            stderr=_text(err),
            saved=tuple(name for _, _, name in noted),
            times=tuple(float(seconds) for seconds, _, _ in noted),
        )


def _text(path: Path) -> str:
    return path.read_text("utf-8", "replace") if path.exists() else ""
