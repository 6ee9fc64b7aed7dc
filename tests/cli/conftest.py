"""Running the command line in a folder of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
Mohs = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def mohs(tmp_path: Path) -> Mohs:
    def run(*arguments: object, input: str | None = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", "from mohs.cli import main; main()", *map(str, arguments)],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{tmp_path}", "COLUMNS": "200"},
            capture_output=True,
            text=True,
            check=False,
        )

    return run
