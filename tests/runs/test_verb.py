"""A new verb needs one file: everything else comes from its settings, task and view."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet
import pytest
import yaml

import mohs
from mohs.errors import BadInput
from mohs.runs.api import function_of
from mohs.runs.run import Run
from tests.cli.conftest import ROOT
from tests.runs.toy_verb import Shout

shout = function_of(Shout)
Ended = subprocess.CompletedProcess[str]


@pytest.fixture
def typed(tmp_path: Path) -> object:
    """The command line with the toy verb in it."""

    def run(*arguments: object, **environment: str) -> Ended:
        return subprocess.run(
            [sys.executable, "-m", "tests.runs.toy_verb", *map(str, arguments)],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": f"{ROOT}:{os.environ.get('PYTHONPATH', '')}", "COLUMNS": "100"}
            | environment,
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def test_the_command_has_help_and_refuses_bad_numbers(typed: object) -> None:
    assert callable(typed)
    ended: Ended = typed("shout", "--help")
    assert ended.returncode == 0, ended.stderr
    for line in ("Measure how much shouting moves a classifier.", "mohs shout --times 3", "--times", "--victim V"):
        assert line in ended.stdout
    assert "How many exclamation marks.  [default: 1; x>=1]" in " ".join(ended.stdout.split()).replace(" [", "  [")
    assert "shout" in typed("--help").stdout
    assert typed("shout", "--times", "0").returncode == 2


def test_a_killed_run_resumes_and_a_changed_option_is_refused(typed: object, tmp_path: Path) -> None:
    assert callable(typed)
    whole = shout("pocket", "pocket", 2, n=12)
    dead: Ended = typed("shout", "--times", 2, "--n", 12, "--at-once", 1, "--out", "run", KILL_AT="test-0008")
    assert dead.returncode == -signal.SIGKILL
    with Run.open(tmp_path / "run") as run:
        assert 0 < len(run) < 12
    changed: Ended = typed("shout", "--times", 3, "--n", 12, "--out", "run")
    assert changed.returncode == 2
    assert "times: 2 in the folder, 3 asked for" in changed.stderr
    again: Ended = typed("shout", "--config", "run/manifest.yaml", "--out", "run", "--workers", 2)
    assert again.returncode == 0, again.stderr
    with Run.open(tmp_path / "run") as run:
        assert [record.to_json() for record in run.records()] == [record.to_json() for record in whole.records()]
        assert run.view().figures() == whole.view().figures()


def test_the_terminal_the_page_and_the_export(typed: object, tmp_path: Path) -> None:
    assert callable(typed)
    ended: Ended = typed("shout", "--n", 4, "--out", "run")
    assert ended.returncode == 0, ended.stderr
    assert "Shouting is rude." in ended.stdout
    assert "fall" in ended.stdout
    assert "mean over examples" in ended.stdout
    page = (tmp_path / "run" / "report.html").read_text("utf-8")
    assert "mean over examples" in page
    assert "test-0003" in page
    printed = json.loads(typed("report", "run", "--json", "--no-page").stdout)
    assert list(printed["figures"]["shout"]) == ["fall"]
    for format in ("csv", "jsonl", "parquet"):
        assert typed("export", "run", "--out", f"out.{format}").returncode == 0
    with Run.open(tmp_path / "run") as run:
        falls = [record.finding.fall for record in run.records()]
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [row["fall"] for row in rows] == falls
    assert [row["details"] for row in rows] == [{"fall": fall} for fall in falls]
    with (tmp_path / "out.csv").open(newline="") as file:
        assert [float(row["fall"]) for row in csv.DictReader(file)] == falls
    assert pyarrow.parquet.read_table(tmp_path / "out.parquet")["fall"].to_pylist() == falls


def test_the_default_folder_is_named_after_the_options(typed: object, tmp_path: Path) -> None:
    assert callable(typed)
    for times in (1, 2, 1):
        assert typed("shout", "--times", times, "--n", 2).returncode == 0
    found = sorted((tmp_path / "mohs-runs").iterdir())
    assert len(found) == 2
    assert all(folder.name.startswith("pocket-pocket-") for folder in found)
    configs = [yaml.safe_load((folder / "manifest.yaml").read_text())["config"] for folder in found]
    assert sorted(config["times"] for config in configs) == [1, 2]


def test_in_python(tmp_path: Path) -> None:
    with shout("pocket", "pocket", times=2, n=3, out=tmp_path / "run") as run:
        assert len(run.falls()) == 3
        assert "falls" in dir(run)
        assert repr(run) == "<Run of shout: 3 attempts>"
        with pytest.raises(BadInput, match=r"This is a run of `mohs shout`; its figures are run.falls\(\)."):
            run.summary()
        with pytest.raises(AttributeError, match="no attribute 'nothing'"):
            _ = run.nothing
    with pytest.raises(TypeError, match="has no argument 'time'; did you mean 'times'"):
        shout("pocket", "pocket", time=2)
    with pytest.raises(BadInput, match="times is 0; it must be at least 1"):
        shout("pocket", "pocket", times=0)
    assert mohs.attack("pocket", "pocket", "random", n=1).summary()
