"""Damaged run folders: no wrong export with exit code 0, no traceback, and what is intact can be had."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path

import pytest

from tests.cli.damages import DAMAGES, JOURNAL, MANIFEST, command, make, tried

BEFORE = Path(__file__).parents[1] / "before"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    folder = tmp_path_factory.mktemp("whole") / "run"
    return folder, make(folder)


@pytest.mark.parametrize("part", range(len(DAMAGES)), ids=[f"{n}-{d.__name__}" for n, d in enumerate(DAMAGES)])
def test_random_damages(whole: tuple[Path, list[str]], part: int) -> None:
    for seed in range(part, 10 * len(DAMAGES), len(DAMAGES)):  # 150 in all
        assert tried(*whole, seed) == []


@pytest.mark.parametrize("part", range(len(DAMAGES)), ids=[f"{n}-{d.__name__}" for n, d in enumerate(DAMAGES)])
def test_random_damages_of_a_folder_of_an_earlier_version(part: int) -> None:
    for seed in range(part, 2 * len(DAMAGES), len(DAMAGES)):
        assert tried(BEFORE / "attack-pairs", [], seed, old=True) == []


@pytest.fixture
def run(whole: tuple[Path, list[str]], tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole[0], tmp_path / "run"))


def test_a_changed_record_is_salvaged_around(run: Path, whole: tuple[Path, list[str]], tmp_path: Path) -> None:
    with sqlite3.connect(run / JOURNAL) as db:
        db.execute("UPDATE records SET record = replace(record, 'film', 'fi1m') WHERE number < 3")
    db.close()
    code, lines, error = command("export", run)
    assert (code, lines) == (2, [])
    assert error.startswith(f"{run / JOURNAL} is damaged (the record of example '0' is not what was written); ")
    assert error.endswith(f"(`mohs export {run} --salvage` writes the 54 records that can still be read).")
    code, lines, error = command("export", run, "--salvage")
    assert (code, error) == (0, f"mohs: 54 records of {run} are written; 6 are lost.\n")
    assert lines == [line for line in whole[1] if json.loads(line)["example_id"] not in ("0", "1", "2")]
    code, lines, _ = command("export", run, "--salvage", "--out", tmp_path / "rest.csv", "--json")
    assert code == 0
    assert json.loads(lines[0]) == {"records": 54, "format": "csv", "out": str(tmp_path / "rest.csv"), "lost": 6}


def test_a_whole_run_is_salvaged_whole(run: Path, whole: tuple[Path, list[str]]) -> None:
    code, lines, error = command("export", run, "--salvage")
    assert (code, lines) == (0, whole[1])
    assert "60 records" in error
    assert "0 are lost" in error
    (run / MANIFEST).unlink()
    code, lines, error = command("export", run, "--salvage")
    assert code == 0
    assert len(lines) == 60


def test_nothing_to_salvage(tmp_path: Path) -> None:
    code, _, error = command("export", tmp_path, "--salvage")
    assert (code, error) == (
        2,
        f"{tmp_path / JOURNAL} does not exist, so there is nothing to salvage; name a run folder.",
    )


def test_an_edited_manifest(run: Path) -> None:
    text = (run / MANIFEST).read_text()
    (run / MANIFEST).write_text(text.replace("command: attack", "command: bias"))
    code, _, error = command("report", run)
    assert code == 2
    assert error.startswith(f"{run / MANIFEST} is not what the run wrote; restore it from a copy")
    (run / MANIFEST).write_text("# only a remark\n" + text)
    assert command("report", run, "--no-page", "--no-judge")[0] == 0
