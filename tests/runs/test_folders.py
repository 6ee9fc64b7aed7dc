"""`mohs runs`: every folder gets a line."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path

import pytest

import mohs
from mohs.errors import BadInput
from mohs.records.store import JOURNAL, MANIFEST
from mohs.runs.folders import run_folders
from tests.cli.conftest import Mohs
from tests.toys import WordCount, bundled

HERE = Path(__file__).parents[1] / "before"
ROWS = [("It was a good film.", 1), ("A bad story.", 0)]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Runs of every verb, damaged ones, and other things."""
    for name in ("attack", "second-order", "bias", "radius"):
        shutil.copytree(HERE / name, tmp_path / name)
    mohs.attack(WordCount({"good": 2.0, "bad": -2.0}), ROWS, "random", out=tmp_path / "half", **bundled()).close()
    with sqlite3.connect(tmp_path / "half" / JOURNAL) as journal:
        journal.execute("DELETE FROM records WHERE number = 1")
    journal.close()
    shutil.copytree(HERE / "attack", tmp_path / "torn")
    (tmp_path / "torn" / JOURNAL).write_bytes(b"nothing of the kind")
    shutil.copytree(HERE / "attack", tmp_path / "headless")
    (tmp_path / "headless" / MANIFEST).unlink()
    shutil.copytree(HERE / "attack", tmp_path / "foreign")
    text = (tmp_path / "foreign" / MANIFEST).read_text("utf-8")
    (tmp_path / "foreign" / MANIFEST).write_text(text.replace("command: attack", "command: juggle"), "utf-8")
    (tmp_path / "notes").mkdir()
    (tmp_path / "a file").write_text("x")
    return tmp_path


def test_every_run_has_a_line_and_a_damaged_one_a_sentence(place: Path) -> None:
    found = {one.folder.name: one for one in run_folders(place)}
    assert set(found) == {"attack", "second-order", "bias", "radius", "half", "torn", "headless", "foreign"}
    for name in ("attack", "second-order", "bias", "radius"):
        one = found[name]
        assert one.fault is None
        assert one.command == name
        assert one.finished == one.planned
        assert one.headline
    assert "fooled the model on" in str(found["attack"].headline)
    assert found["attack"].victim == "pocket"
    assert found["attack"].examples == 6
    for name in ("torn", "headless", "half"):  # a journal that lacks a record is damaged, not unfinished
        assert found[name].fault
        assert "\n" not in str(found[name].fault)


def test_a_run_of_a_verb_that_is_not_known_here(place: Path) -> None:
    (one,) = run_folders(place / "foreign")
    assert one.fault is not None
    assert "juggle" in one.fault or "is not what the run wrote" in one.fault


def test_the_command(place: Path, mohs: Mohs) -> None:
    shown = mohs("runs", place)
    assert shown.returncode == 0
    assert "attack, pocket on pocket, n = 6, finished" in shown.stdout
    assert "8 runs, 4 of them cannot be read." in shown.stdout
    rows = json.loads(mohs("runs", place, "--json").stdout)
    assert {row["folder"] for row in rows} == {str(one.folder) for one in run_folders(place)}
    assert [row["changed"] for row in rows] == sorted((row["changed"] for row in rows), reverse=True)
    assert mohs("runs", place / "notes").stdout == f"There are no runs in {place / 'notes'}.\n"
    assert mohs("runs").returncode == 2


def test_an_unfinished_run_says_how_far_it_is(tmp_path: Path) -> None:
    class Enough(Exception):
        pass

    def stop(record: object, finished: int, total: int) -> None:
        if finished == 1:
            raise Enough

    with pytest.raises(Enough):
        mohs.attack("pocket", "pocket", "random", n=3, out=tmp_path / "run", progress=stop)
    (one,) = run_folders(tmp_path)
    assert (one.finished, one.planned) == (1, 3)
    with pytest.raises(BadInput, match="There is no folder"):
        run_folders(tmp_path / "nowhere")


def test_a_name_of_two_lines_feigns_no_run(tmp_path: Path, mohs: Mohs) -> None:
    shutil.copytree(HERE / "attack", tmp_path / "mohs-runs" / "one\ntwo")
    assert mohs("runs").stdout.splitlines()[0] == "mohs-runs/one\ufffdtwo"


def test_the_runs_of_a_benchmark_are_found(tmp_path: Path) -> None:
    place = tmp_path / "runs" / "reviews" / "first" / "random-1"
    shutil.copytree(HERE / "attack", place)
    assert [one.folder for one in run_folders(tmp_path)] == [place]
    assert run_folders(tmp_path / "runs") == []
