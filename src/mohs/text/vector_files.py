"""Reads word vectors from a folder, a .npz file, or a text file, plain, gzipped or zipped.

Never unpickles anything.
"""

from __future__ import annotations

import re
import warnings
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mohs.assets.limits import gunzipped, limited
from mohs.errors import BadInput
from mohs.text.book_files import only_file

Floats = npt.NDArray[np.float32]
Rows = tuple[list[str], Floats]

_ENDINGS = (".npz", ".txt", ".vec", ".txt.gz", ".vec.gz", ".zip")
_BROKEN = (OSError, EOFError, zlib.error, zipfile.BadZipFile, NotImplementedError, RuntimeError)
_KINDS = "a folder with vectors.npy and words.txt, a .npz, a text file (also as .gz or .zip), or `pocket`"
_NUMBER = re.compile(rb"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?|nan|inf", re.IGNORECASE)


def read_rows(path: Path) -> Rows:
    """The words of a file or folder and their vectors, in its order. Every problem becomes a one-sentence error."""
    try:
        if path.is_dir() and (path / "vectors.npy").is_file():
            words, table = _folder(path)
        elif path.is_dir():
            return read_rows(only_file(path, _ENDINGS))
        elif not path.is_file():
            raise BadInput(f"There are no word vectors at {path}; give {_KINDS}.")
        elif path.suffix.lower() == ".npz":
            words, table = _npz(path)
        elif path.suffix.lower() in (".npy", ".bin"):
            raise BadInput(f"{path} cannot be used on its own; give {_KINDS}.")
        else:
            with _stream(path) as stream:
                words, table = _text(path, stream)
    except UnicodeDecodeError as error:
        raise BadInput(f"{path} holds words that are not UTF-8 ({error.reason}); convert it to UTF-8.") from error
    except _BROKEN as error:
        raise BadInput(
            f"{path} cannot be read ({getattr(error, 'strerror', None) or error}); copy it again."
        ) from error
    _check(path, words, table)
    return words, table


def _folder(path: Path) -> Rows:
    if not (path / "words.txt").is_file():
        raise BadInput(f"The folder {path} has vectors.npy but no words.txt; write the words there, one per line.")
    try:
        table = np.load(path / "vectors.npy", allow_pickle=False)
    except ValueError as error:
        raise BadInput(
            f"{path / 'vectors.npy'} is not an array of numbers ({_line(error)}); write it again."
        ) from error
    text = (path / "words.txt").read_bytes().decode("utf-8-sig")
    # Not splitlines(): a word may be one of the characters that it treats as a line end.
    words = [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")] if text else []
    return words, _table(path / "vectors.npy", table)


def _npz(path: Path) -> Rows:
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as parts:
            if not {"words", "vectors"} <= set(parts.files):
                raise BadInput(f"{path} holds {sorted(parts.files)}; arrays named words and vectors are expected.")
            words, table = parts["words"], parts["vectors"]
    except ValueError as error:
        raise BadInput(f"{path} is not a file of plain arrays ({_line(error)}); write it with np.savez.") from error
    if words.ndim != 1 or words.dtype.kind != "U":
        raise BadInput(f"{path}: words must be a one-dimensional array of strings, not {words.dtype} {words.shape}.")
    return words.tolist(), _table(path, table)


def _table(path: Path, table: npt.NDArray[Any]) -> Floats:
    if table.ndim != 2 or table.dtype.kind != "f":
        raise BadInput(f"{path}: rows of floating-point numbers are expected, not {table.dtype} {table.shape}.")
    with np.errstate(over="ignore"):  # too large for float32 becomes infinite, which _check refuses
        return np.ascontiguousarray(table, dtype=np.float32)


@contextmanager
def _stream(path: Path) -> Iterator[Iterable[bytes]]:
    kind = path.suffix.lower()
    if kind == ".gz":
        with gunzipped(path) as stream:
            yield stream
    elif kind == ".zip":
        with zipfile.ZipFile(path) as archive:
            names = [entry.filename for entry in archive.infolist() if not entry.is_dir()]
            if len(names) != 1:
                raise BadInput(f"{path} holds {len(names)} files ({', '.join(names[:4])}); unpack the one you want.")
            with limited(archive.open(names[0]), path) as stream:
                yield stream
    else:
        with path.open("rb") as stream:
            yield stream


def _text(path: Path, stream: Iterable[bytes]) -> Rows:
    """Read GloVe's format, a word and its numbers per line, or word2vec's, with both counts on the first line."""
    words: list[str] = []
    table = bytearray()  # grows in place, so the rows are in memory only once
    number, width, promised = 0, 0, None
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)  # how older NumPy reports text that is not a number
        for number, line in enumerate(stream, 1):
            line = line.rstrip(b"\r\n \t").replace(b"\t", b" ")
            if number == 1:
                line = line.removeprefix(b"\xef\xbb\xbf")
                if re.fullmatch(rb"\d+ \d+", line):
                    promised, width = map(int, line.split())
                    continue
            if not line:
                continue
            word, row = _split(line, width)
            width = width or len(row)
            if not word or not len(row) or len(row) != width:
                raise BadInput(
                    f"{path}, line {number}: a word and {width or 'its'} numbers are expected, "
                    f"not {len(row)} after {word[:40].decode('utf-8', 'replace')!r}; remove or fix the line."
                )
            words.append(word.decode("utf-8"))
            table += row.tobytes()
    if promised is not None and promised != len(words):
        raise BadInput(f"{path} announces {promised} words but has {len(words)}; copy it again.")
    return words, np.frombuffer(table, np.float32).reshape(len(words), -1 if words else 0)


def _split(line: bytes, width: int) -> tuple[bytes, Floats]:
    """A line's word and numbers. Some published words contain spaces; a number never counts as part of a word."""
    word, _, rest = line.partition(b" ")
    row = _numbers(rest)
    if width and len(row) != width:
        pieces = line.rsplit(b" ", width)
        if len(pieces) == width + 1 and not any(map(_NUMBER.fullmatch, pieces[0].split(b" ")[1:])):
            longer = _numbers(b" ".join(pieces[1:]))
            if len(longer) == width:
                return pieces[0], longer
    return word, row


def _numbers(text: bytes) -> Floats:
    """All numbers of a text; empty if one of them is not a number."""
    text = text.strip()
    try:
        return np.fromstring(text, np.float32, sep=" ") if text else np.empty(0, np.float32)
    except (ValueError, DeprecationWarning):
        return np.empty(0, np.float32)


def _check(path: Path, words: list[str], table: Floats) -> None:
    if len(words) != len(table):
        raise BadInput(f"{path} has {len(words)} words and {len(table)} rows of numbers; give one row per word.")
    if not table.size:
        raise BadInput(f"{path} holds no word vectors; give {_KINDS}.")
    blank = next((number for number, word in enumerate(words, 1) if not word), None)
    if blank is not None:
        raise BadInput(f"{path}: word {blank} is blank; remove it and its row.")
    # One sum shows any fault without an array of flags as large as the table. Only then find the row.
    with np.errstate(over="ignore", invalid="ignore"):
        if not np.isfinite(table.sum(dtype=np.float64)):
            row = int(np.flatnonzero(~np.isfinite(table).all(axis=1))[0])
            raise BadInput(f"{path}: the vector of {words[row]!r} (word {row + 1}) has a number that is not finite.")


def _line(error: Exception) -> str:
    return " ".join(str(error).split())
