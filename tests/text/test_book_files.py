from __future__ import annotations

import gzip
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from mohs.assets import limits
from mohs.errors import BadInput
from mohs.text.book_files import kind_of, only_file, parse_json, read_text
from mohs.text.rows import file_rows
from mohs.text.vector_files import read_rows


def test_the_only_file_of_its_kind_in_a_folder(tmp_path: Path) -> None:
    for name in ("a.JSON", "asset.json", "b.txt"):
        (tmp_path / name).write_text("x")
    (tmp_path / "c.json").mkdir()
    assert only_file(tmp_path, (".json",)) == tmp_path / "a.JSON"
    assert only_file(tmp_path / "b.txt", (".json",)) == tmp_path / "b.txt"
    (tmp_path / "d.json").write_text("x")
    with pytest.raises(BadInput, match=r"holds a\.JSON, d\.json"):
        only_file(tmp_path, (".json",))
    with pytest.raises(BadInput, match="holds none"):
        only_file(tmp_path, (".tsv",))
    with pytest.raises(BadInput, match="There is no file"):
        only_file(tmp_path / "none", (".tsv",))
    with pytest.raises(BadInput, match=r"cannot be read|There is no file"):
        only_file(tmp_path / ("x" * 5000), (".tsv",))


def test_text_plain_and_gzipped(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("\ufeffcafé".encode())
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress("café".encode(), mtime=0))
    assert read_text(tmp_path / "a.txt") == read_text(tmp_path / "a.txt.gz") == "café"


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.txt", b"caf\xe9", "is not UTF-8"),
        ("a.gz", b"plain", "is not a complete gzip file"),
        ("a.gz", gzip.compress(b"plain text" * 99, mtime=0)[:30], "is not a complete gzip file"),
        ("a.gz", gzip.compress(b"plain", mtime=0)[:-8] + b"12345678", "is not a complete gzip file"),
    ],
)
def test_text_that_cannot_be_read(tmp_path: Path, name: str, content: bytes, expected: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(BadInput, match=expected):
        read_text(tmp_path / name)


def test_a_folder_is_no_text(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be read"):
        read_text(tmp_path)


def test_json(tmp_path: Path) -> None:
    assert parse_json(tmp_path, '{"a": [1]}') == {"a": [1]}
    assert parse_json(tmp_path, '{"a": 1, "a": 2}', list) == [("a", 1), ("a", 2)]
    for broken in ("{", "[" * 100_000):
        with pytest.raises(BadInput, match="is not JSON"):
            parse_json(tmp_path, broken)


def test_kinds() -> None:
    assert kind_of(Path("a.b/words.TSV")) == ".tsv"
    assert kind_of(Path("words.json.GZ")) == ".json"
    assert kind_of(Path("words.gz")) == ""


@pytest.mark.parametrize("name", ["d.jsonl.gz", "d.csv.gz", "d.parquet.gz", "v.txt.gz", "v.zip", "b.txt.gz"])
def test_a_packed_file_may_not_unpack_to_far_more_than_its_size(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "ALWAYS", 1 << 20)
    path = tmp_path / name
    if name == "v.zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("v.txt", b"a" * 40_000_000)
    else:
        path.write_bytes(gzip.compress(b"a" * 40_000_000))
    readers = {"d": lambda path: list(file_rows(path, "utf-8")), "v": read_rows, "b": read_text}
    read: Callable[[Path], object] = readers[name[0]]
    with pytest.raises(BadInput, match=r"unpacks to more than \d+ MB, far more than its size suggests"):
        read(path)
