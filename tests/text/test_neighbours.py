from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from mohs.text.nearest import Floats, Nearest, Numbers
from mohs.text.neighbours import Neighbours, cache_folder

TABLE = np.random.default_rng(0).normal(size=(200, 5)).astype(np.float32)


class Counting:
    """A search that notes for which rows exact values were taken."""

    def __init__(self) -> None:
        self.rows: list[int] = []

    def search(self) -> Nearest:
        def product(one: Numbers, other: Numbers) -> Floats:
            self.rows += dict.fromkeys(one.tolist())
            values: Floats = (TABLE[one].astype(np.float64) * TABLE[other]).sum(axis=1).astype(np.float32)
            return values

        return Nearest(TABLE, np.zeros(len(TABLE), np.float32), 1e-3, product)


def ask(neighbours: Neighbours, rows: list[int], k: int) -> tuple[list[list[int]], list[list[float]]]:
    numbers, values = neighbours(np.array(rows, np.int64), k)
    return numbers.tolist(), values.tolist()


def direct(rows: list[int], k: int) -> tuple[list[list[int]], list[list[float]]]:
    numbers, values = Counting().search()(np.array(rows), k)
    return numbers.tolist(), values.tolist()


@pytest.mark.parametrize("on_disk", [False, True])
def test_the_same_as_the_search_and_each_row_once(tmp_path: Path, on_disk: bool) -> None:
    counting = Counting()
    neighbours = Neighbours(counting.search(), tmp_path / "deep" / "toy" if on_disk else None)
    assert ask(neighbours, [3, 7, 3], 5) == direct([3, 7, 3], 5)
    assert ask(neighbours, [7, 8], 64) == direct([7, 8], 64)
    assert ask(neighbours, [8], 0) == ([[]], [[]])
    assert ask(neighbours, [], 5) == ([], [])
    assert counting.rows == [3, 7, 8]
    assert ask(neighbours, [8], 65) == direct([8], 65)  # longer lists are another search
    assert ask(neighbours, [8], 128) == direct([8], 128)
    assert ask(neighbours, [8], 999) == direct([8], 999)
    assert counting.rows == [3, 7, 8, 8, 8]
    assert (tmp_path / "deep").exists() == on_disk


def test_what_is_expected_is_searched_for_with_the_next(tmp_path: Path) -> None:
    counting = Counting()
    neighbours = Neighbours(counting.search(), tmp_path / "toy")
    neighbours.expect(np.array([4, 3, 9]), 5)
    neighbours.expect(np.array([6]), 65)  # longer lists are another search
    assert counting.rows == []
    assert ask(neighbours, [3], 5) == direct([3], 5)
    assert counting.rows == [3, 4, 9]
    assert ask(neighbours, [9, 4], 7) == direct([9, 4], 7)
    assert ask(neighbours, [5], 5) == direct([5], 5)
    assert counting.rows == [3, 4, 9, 5]


def test_another_run_finds_the_lists(tmp_path: Path) -> None:
    ask(Neighbours(Counting().search(), tmp_path / "toy"), list(range(0, 200, 2)), 5)
    counting = Counting()
    again = Neighbours(counting.search(), tmp_path / "toy")
    assert ask(again, [0, 1, 2], 20) == direct([0, 1, 2], 20)
    assert counting.rows == [1]
    other = Counting()
    ask(Neighbours(other.search(), tmp_path / "other"), [0], 20)
    assert other.rows == [0]


def file_of(folder: Path) -> Path:
    (file,) = folder.glob("*.sqlite")
    return file


def scribble(folder: Path) -> None:
    file_of(folder).write_bytes(b"no database at all" * 100)


def cut_off(folder: Path) -> None:
    content = file_of(folder).read_bytes()
    file_of(folder).write_bytes(content[: len(content) // 2])


def flip_a_byte_of_every_list(folder: Path) -> None:
    with sqlite3.connect(file_of(folder)) as db:
        for row, content in db.execute("SELECT row, list FROM lists").fetchall():
            db.execute("UPDATE lists SET list = ? WHERE row = ?", (bytes([content[0] ^ 1]) + content[1:], row))
    db.close()


def shorten_every_list(folder: Path) -> None:
    with sqlite3.connect(file_of(folder)) as db:
        db.execute("UPDATE lists SET list = substr(list, 1, 8)")
    db.close()


def put_text_in(folder: Path) -> None:
    with sqlite3.connect(file_of(folder)) as db:
        db.execute("UPDATE lists SET list = 'text', sum = NULL")
    db.close()


def another_table(folder: Path) -> None:
    with sqlite3.connect(file_of(folder)) as db:
        db.execute("DROP TABLE lists")
        db.execute("CREATE TABLE lists (a, b)")
    db.close()


def a_folder_in_its_place(folder: Path) -> None:
    file = file_of(folder)
    file.unlink()
    file.mkdir()


DAMAGE = [
    scribble,
    cut_off,
    flip_a_byte_of_every_list,
    shorten_every_list,
    put_text_in,
    another_table,
    a_folder_in_its_place,
]


@pytest.mark.parametrize("damage", DAMAGE, ids=lambda damage: damage.__name__)
def test_a_damaged_file_only_costs_time(tmp_path: Path, damage: Callable[[Path], None]) -> None:
    rows = list(range(100))
    ask(Neighbours(Counting().search(), tmp_path / "toy"), rows, 5)
    damage(tmp_path)
    assert ask(Neighbours(Counting().search(), tmp_path / "toy"), rows, 5) == direct(rows, 5)
    # Most kinds mend themselves: what was computed again is kept again.
    counting = Counting()
    assert ask(Neighbours(counting.search(), tmp_path / "toy"), rows, 5) == direct(rows, 5)
    if damage in DAMAGE[:5]:
        assert counting.rows == []


def test_a_folder_that_cannot_be_made_only_costs_time(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    neighbours = Neighbours(Counting().search(), tmp_path / "file" / "toy")
    assert ask(neighbours, [4], 5) == direct([4], 5)
    assert ask(neighbours, [4, 5], 5) == direct([4, 5], 5)
    assert (tmp_path / "file").read_text() == "in the way"


def test_a_file_that_is_held_by_another_process_only_costs_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mohs.text.neighbours._SECONDS_TO_WAIT", 0)
    ask(Neighbours(Counting().search(), tmp_path / "toy"), [1], 5)
    db = sqlite3.connect(file_of(tmp_path), isolation_level=None)
    try:
        db.execute("BEGIN EXCLUSIVE")
        assert ask(Neighbours(Counting().search(), tmp_path / "toy"), [1, 2], 5) == direct([1, 2], 5)
        db.execute("ROLLBACK")
    finally:
        db.close()
    counting = Counting()
    ask(Neighbours(counting.search(), tmp_path / "toy"), [1, 2], 5)
    assert counting.rows == [2]  # the first list survived; the second could not be kept


def test_two_processes_at_once(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from tests.text.test_neighbours import *\n"
        "neighbours = Neighbours(Counting().search(), Path(sys.argv[1]) / 'toy')\n"
        "for row in range(int(sys.argv[2]), 200, 2): ask(neighbours, [row, row ^ 1], 5)\n"
    )
    root = Path(__file__).parents[2]
    command = [sys.executable, "-c", program, str(tmp_path)]
    both = [subprocess.Popen([*command, start], cwd=root, stderr=subprocess.PIPE) for start in ("0", "1")]
    for process in both:
        _, errors = process.communicate()
        assert process.returncode == 0, errors.decode()
    counting = Counting()
    rows = list(range(200))
    assert ask(Neighbours(counting.search(), tmp_path / "toy"), rows, 5) == direct(rows, 5)
    assert counting.rows == []


def test_where_the_cache_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MOHS_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == tmp_path / ".cache" / "mohs"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert cache_folder() == tmp_path / ".cache" / "mohs"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "xdg" / "mohs"
    monkeypatch.setenv("MOHS_CACHE", str(tmp_path / "own"))
    assert cache_folder() == tmp_path / "own"
    assert os.listdir(tmp_path) == []
