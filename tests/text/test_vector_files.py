from __future__ import annotations

import gzip
import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mohs.errors import BadInput
from mohs.text.vector_files import read_rows

TEXT = "good 1 0.25\nbad -1e-3 2\nnaïve 3 4\n"
WORDS = ["good", "bad", "naïve"]
ROWS = np.array([[1, 0.25], [-1e-3, 2], [3, 4]], np.float32)


def folder(path: Path, words: str = "good\nbad\nnaïve\n", rows: object = ROWS) -> Path:
    path.mkdir()
    np.save(path / "vectors.npy", rows)  # type: ignore[arg-type]
    (path / "words.txt").write_text(words, encoding="utf-8")
    return path


def npz(path: Path) -> Path:
    np.savez(path / "toy.npz", words=np.array(WORDS), vectors=ROWS)
    return path / "toy.npz"


def text(path: Path, content: str = TEXT, name: str = "toy.txt") -> Path:
    (path / name).write_bytes(content.encode())
    return path / name


def gzipped(path: Path) -> Path:
    (path / "toy.txt.gz").write_bytes(gzip.compress(TEXT.encode()))
    return path / "toy.txt.gz"


def zipped(path: Path) -> Path:
    with zipfile.ZipFile(path / "toy.zip", "w") as archive:
        archive.writestr("inside/", "")
        archive.writestr("inside/toy.txt", TEXT)
    return path / "toy.zip"


def in_a_folder(path: Path) -> Path:
    text(path)
    (path / "asset.json").write_text("{}")
    return path


GOOD: dict[str, Callable[[Path], Path]] = {
    "folder": lambda path: folder(path / "toy"),
    "folder with a last word without an end of line": lambda path: folder(path / "toy", "good\nbad\nnaïve"),
    "folder from Windows": lambda path: folder(path / "toy", "\ufeffgood\r\nbad\r\nnaïve\r\n"),
    "folder of float64": lambda path: folder(path / "toy", rows=ROWS.astype(np.float64)),
    "folder of big-endian": lambda path: folder(path / "toy", rows=ROWS.astype(">f4")),
    "npz": npz,
    "glove": text,
    "glove from Windows": lambda path: text(path, "\ufeff" + TEXT.replace("\n", "\r\n")),
    "tabs": lambda path: text(path, TEXT.replace(" ", "\t")),
    "trailing spaces and empty lines": lambda path: text(path, TEXT.replace("\n", " \n\n")),
    "word2vec": lambda path: text(path, f"3 2\n{TEXT}", "toy.vec"),
    "gzip": gzipped,
    "zip": zipped,
    "the only text in a folder": in_a_folder,
}


@pytest.mark.parametrize("make", GOOD.values(), ids=GOOD.keys())
def test_all_formats_give_the_same(make: Callable[[Path], Path], tmp_path: Path) -> None:
    words, table = read_rows(make(tmp_path))
    assert words == WORDS
    assert table.dtype == np.float32
    assert table.tolist() == ROWS.tolist()


def test_half_precision_is_taken_as_it_is(tmp_path: Path) -> None:
    half = ROWS.astype(np.float16)
    _, table = read_rows(folder(tmp_path / "toy", rows=half))
    assert table.tolist() == half.astype(np.float32).tolist()


def test_words_may_hold_spaces_and_odd_characters(tmp_path: Path) -> None:
    odd = [". . .", "at name@domain.com", "a\u00a0b", "\u00a0", "\u2028x", "\x85"]
    lines = [f"{word} {number} 0" for number, word in enumerate(odd)]
    words, table = read_rows(text(tmp_path, "\n".join(["good 1 0", *lines])))
    assert words == ["good", *odd]
    assert table[1:, 0].tolist() == list(range(len(odd)))
    assert read_rows(folder(tmp_path / "toy", "\u2028x\n\x85\na\x0bb\n"))[0] == ["\u2028x", "\x85", "a\x0bb"]


numbers = st.floats(-(2.0**100), 2.0**100, width=32)


@given(
    st.lists(st.tuples(st.from_regex(r"[^\s\x00-\x20]{1,6}", fullmatch=True), numbers, numbers, numbers), min_size=1)
)
def test_what_is_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, float, float, float]]
) -> None:
    path = tmp_path_factory.mktemp("rows")
    lines = [" ".join([word, *(repr(value) for value in values)]) for word, *values in rows]
    words, table = read_rows(text(path, f"{len(rows)} 3\n" + "\n".join(lines)))
    assert words == [word for word, *_ in rows]
    assert table.tolist() == [list(values) for _, *values in rows]


def write(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def savez(path: Path, **parts: object) -> Path:
    np.savez(path, **parts)  # type: ignore[arg-type]
    return path


def zip_of_two(path: Path) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.txt", TEXT)
        archive.writestr("b.txt", TEXT)
    return path


def without_words(path: Path) -> Path:
    (folder(path) / "words.txt").unlink()
    return path


def pickled(path: Path) -> Path:
    content = io.BytesIO()
    np.save(content, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    folder(path)
    return write(path / "vectors.npy", content.getvalue()).parent


BAD: dict[str, tuple[Callable[[Path], Path], str]] = {
    "nothing there": (lambda path: path / "none", "There are no word vectors at"),
    "an empty folder": (lambda path: path, "must hold one file"),
    "two texts in a folder": (
        lambda path: text(path, name="a.txt") and text(path, name="b.vec").parent,
        "a.txt, b.vec",
    ),
    "no words": (lambda path: without_words(path / "toy"), "has vectors.npy but no words.txt"),
    "fewer words": (lambda path: folder(path / "toy", "good\nbad\n"), "has 2 words and 3 rows"),
    "more words": (lambda path: folder(path / "toy", "a\nb\nc\nd\n"), "has 4 words and 3 rows"),
    "a blank word": (lambda path: folder(path / "toy", "a\n\nc\n"), "word 2 is blank"),
    "nan": (lambda path: text(path, "good 1 2\nbad nan 2\n"), r"'bad' \(word 2\) has a number that is not finite"),
    "infinite": (lambda path: folder(path / "toy", rows=ROWS * np.inf), r"'good' \(word 1\)"),
    "too large": (lambda path: folder(path / "toy", rows=ROWS.astype(np.float64) * 1e39), "'good'"),
    "fewer numbers": (
        lambda path: text(path, "good 1 2\nbad 2\n"),
        "line 2: a word and 2 numbers .* not 1 after 'bad'",
    ),
    "more numbers": (lambda path: text(path, "good 1 2\n\nbad 2 3 4\n"), "line 3: .* not 3 after 'bad'"),
    "no numbers": (lambda path: text(path, "good 1 2\nbad one two\n"), "line 2: .* not 0 after 'bad'"),
    "no numbers at all": (lambda path: text(path, "good\n"), "line 1: a word and its numbers"),
    "a comma": (lambda path: text(path, "good 1,5 2,5\n"), "line 1"),
    "other width than promised": (lambda path: text(path, "2 3\ngood 1 2\n"), "line 2: a word and 3 numbers"),
    "fewer rows than promised": (lambda path: text(path, f"4 2\n{TEXT}"), "announces 4 words but has 3"),
    "empty": (lambda path: text(path, ""), "holds no word vectors"),
    "only a header": (lambda path: text(path, "0 300\n"), "holds no word vectors"),
    "no dimensions": (lambda path: folder(path / "toy", rows=ROWS[:, :0]), "holds no word vectors"),
    "one dimension": (lambda path: folder(path / "toy", rows=ROWS[0]), "rows of floating-point numbers"),
    "whole numbers": (lambda path: folder(path / "toy", rows=ROWS.astype(int)), "not int64"),
    "an array of objects": (lambda path: pickled(path / "toy"), "is not an array of numbers"),
    "no array": (lambda path: write(folder(path / "toy") / "vectors.npy", b"x" * 99).parent, "is not an array"),
    "an empty array file": (lambda path: write(folder(path / "toy") / "vectors.npy", b"").parent, "cannot be read"),
    "words not in UTF-8": (lambda path: write(folder(path / "toy") / "words.txt", b"a\nb\n\xff").parent, "not UTF-8"),
    "text not in UTF-8": (lambda path: write(path / "a.txt", b"\xff 1 2\n"), "not UTF-8"),
    "npz without words": (lambda path: savez(path / "a.npz", vectors=ROWS), r"holds \['vectors'\]"),
    "npz of objects": (lambda path: savez(path / "a.npz", words=np.array([{}]), vectors=ROWS), "not a file of plain"),
    "npz of numbers": (lambda path: savez(path / "a.npz", words=ROWS, vectors=ROWS), "array of strings"),
    "npz that is none": (lambda path: write(path / "a.npz", b"PK\x03\x04" + b"x" * 50), "cannot be read"),
    "an array alone": (lambda path: write(path / "a.npy", b""), "cannot be used on its own"),
    "a binary file": (lambda path: write(path / "a.bin", b""), "cannot be used on its own"),
    "binary in text": (lambda path: write(path / "a.txt", b"3 2\ngood \x00\x01\x02\x03\xf0\n"), "line 2"),
    "a cut gzip": (lambda path: write(path / "a.gz", gzip.compress(TEXT.encode() * 99)[:60]), "cannot be read"),
    "no gzip": (lambda path: write(path / "a.gz", TEXT.encode()), "cannot be read"),
    "no zip": (lambda path: write(path / "a.zip", TEXT.encode()), "cannot be read"),
    "a zip of two": (lambda path: zip_of_two(path / "a.zip"), r"holds 2 files \(a.txt, b.txt\)"),
    "a name that is too long": (lambda path: path / ("x" * 5000), "cannot be read|no word vectors"),
}


@pytest.mark.parametrize(("make", "expected"), BAD.values(), ids=BAD.keys())
def test_what_is_wrong_is_one_sentence(make: Callable[[Path], Path], expected: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=expected) as caught:
        read_rows(make(tmp_path))
    message = str(caught.value)
    assert message.endswith((".", ")."))
    assert "\n" not in message
