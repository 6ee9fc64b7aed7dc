"""Rows of users' tables."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from mohs.curation.crafted.columns import numbered_rows, text_of
from mohs.errors import BadInput


def test_a_file_and_a_folder(tmp_path: Path) -> None:
    (tmp_path / "b.csv").write_text("text\nB\n")
    with gzip.open(tmp_path / "a.jsonl.gz", "wt") as file:
        file.write('{"text": "A"}\n{"text": "AA"}\n')
    (tmp_path / "notes.txt").write_text("no table")
    assert list(numbered_rows(str(tmp_path / "b.csv"))) == [("b.csv", 1, {"text": "B"})]
    assert [(file, number, row["text"]) for file, number, row in numbered_rows(str(tmp_path))] == [
        ("a.jsonl.gz", 1, "A"),
        ("a.jsonl.gz", 2, "AA"),
        ("b.csv", 1, "B"),
    ]


def test_what_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"There is no file .*none\.csv; correct its name\."):
        list(numbered_rows(str(tmp_path / "none.csv")))
    with pytest.raises(BadInput, match=r"The folder .* has no table \(\.jsonl, .*\); name another\."):
        list(numbered_rows(str(tmp_path)))


def test_a_text_of_a_row() -> None:
    row = {"b": "B", "c": "C", "n": 3}
    assert text_of(row, ("a", "b", "c"), "x, row 1") == "B"
    with pytest.raises(BadInput, match=r"^x, row 1: there is no column a or d; the columns are b, c, n; name the"):
        text_of(row, ("a", "d"), "x, row 1")
    with pytest.raises(BadInput, match=r"^x, row 1: the column 'n' holds 3, which is not a text; fix the row\.$"):
        text_of(row, ("n",), "x, row 1")
