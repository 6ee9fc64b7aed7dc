"""Reads rows as a stream from JSONL, CSV, TSV and Parquet files, plain or gzipped, and from the Hugging Face hub."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import json
import shutil
import tempfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from itertools import chain
from pathlib import Path
from typing import IO, Any

from mohs.assets.limits import gunzipped
from mohs.errors import BadInput
from mohs.text.quoting import quoting_of

Row = Mapping[str, Any]
Opened = Callable[[], AbstractContextManager[IO[str]]]

_SUFFIXES = (".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".parquet")


def file_rows(path: Path, encoding: str) -> Iterator[Row]:
    """The rows of a file. Its ending gives the format. Every problem becomes a one-sentence error."""
    if not _is_file(path):
        raise BadInput(f"There is no file {path}; name a file, `pocket`, or hf:NAME.")
    kind, zipped = _kind(path)
    if kind not in _SUFFIXES:
        raise BadInput(f"{path}: unknown file format; use {', '.join(_SUFFIXES)}, each also with .gz.")
    codec = _codec(encoding)
    with _explained(path, encoding):
        if kind == ".parquet":
            yield from _parquet_rows(path, zipped)
        elif kind == ".tsv":
            yield from _tsv_rows(path, partial(_opened, path, codec))
        else:
            with _opened(path, codec) as stream:
                yield from (_csv_rows if kind == ".csv" else _json_rows)(stream, path)


def reading_notes(path: Path, encoding: str, rows: int | None = None) -> list[str]:
    """What is assumed about a file, or about its first rows, for its user to see."""
    if _kind(path)[0] != ".tsv" or not _is_file(path):
        return []
    with _explained(path, encoding):
        note = quoting_of(partial(_opened, path, _codec(encoding)), rows).note(str(path))
    return [note] if note else []


def _kind(path: Path) -> tuple[str, bool]:
    """The ending of a file without .gz, and whether it has .gz."""
    zipped = path.suffix.lower() == ".gz"
    return (Path(path.stem).suffix if zipped else path.suffix).lower(), zipped


@contextmanager
def _opened(path: Path, codec: str) -> Iterator[IO[str]]:
    with (
        gunzipped(path) if _kind(path)[1] else path.open("rb") as raw,
        io.TextIOWrapper(raw, encoding=codec, newline="") as stream,
    ):
        yield stream


@contextmanager
def _explained(path: Path, encoding: str) -> Iterator[None]:
    """Errors of reading as sentences."""
    try:
        yield
    except UnicodeError as error:
        fault = f"byte {error.object[error.start]:#04x}" if isinstance(error, UnicodeDecodeError) else str(error)
        raise BadInput(f"{path} is not {encoding} ({fault}); give its encoding, as in --encoding latin-1.") from error
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise BadInput(f"{path} is not a complete gzip file ({error}); copy or compress it again.") from error
    except OSError as error:
        raise BadInput(
            f"{path} cannot be read ({error.strerror or error}); check the file and its permissions."
        ) from error


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # for example a name that is too long
        return False


def _codec(encoding: str) -> str:
    """The checked name of a text encoding. For UTF-8, the variant that also accepts a byte order mark."""
    try:
        "a".encode(encoding)
        return "utf-8-sig" if codecs.lookup(encoding).name == "utf-8" else encoding
    except (LookupError, ValueError) as error:
        raise BadInput(f"Unknown encoding {encoding!r}; use utf-8, latin-1, utf-16 or another of Python's.") from error


def _json_rows(stream: IO[str], path: Path) -> Iterator[Row]:
    for number, line in enumerate(stream, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            fault = getattr(error, "msg", None) or error
            raise BadInput(f"{path}, line {number} is not JSON ({fault}); write one object per line.") from error
        if not isinstance(row, dict):
            raise BadInput(f"{path}, line {number} holds {type(row).__name__}; write one JSON object per line.")
        yield row


def _csv_rows(stream: IO[str], path: Path) -> Iterator[Row]:
    csv.field_size_limit(1 << 27)
    names: list[str] = []
    for line, cells in _records(csv.reader(stream, strict=True), path):  # an unclosed mark must not swallow lines
        if names:
            yield _row(names, cells, f"{path}, line {line}", "put texts with commas in quotation marks")
        else:
            names = _header(cells, path)
            if len(names) == 1 and ";" in names[0]:
                raise BadInput(f"{path} seems to use semicolons; save it with commas, or as a .tsv with tabs.")


def _tsv_rows(path: Path, opened: Opened) -> Iterator[Row]:
    csv.field_size_limit(1 << 27)
    names: list[str] = []
    remedy = "remove tabs inside texts, or put such texts in quotation marks"
    with opened() as stream:
        for before, reader in _tsv_readers(path, stream, opened):
            for line, cells in _records(reader, path, before):
                if names:
                    yield _row(names, cells, f"{path}, line {line}", remedy)
                else:
                    names = _header(cells, path)


def _tsv_readers(path: Path, stream: IO[str], opened: Opened) -> Iterator[tuple[int, Any]]:
    """Readers of the parts of a file, with the number of lines before: up to the first mark both readings are equal."""
    before = 0
    marked: list[str] = []

    def unmarked() -> Iterator[str]:
        nonlocal before
        for line in stream:
            if line.startswith('"') or '\t"' in line:
                marked.append(line)
                return
            before += 1
            yield line

    yield 0, csv.reader(unmarked(), delimiter="\t", quoting=csv.QUOTE_NONE)
    if marked:
        found = quoting_of(opened)
        if found.fault:
            raise BadInput(
                f"{path}: {found.fault}; put texts with tabs or line breaks in quotation marks and double those "
                "inside, or remove such texts."
            )
        rest = chain(marked, stream)
        if found.quoted:
            yield before, csv.reader(rest, delimiter="\t", strict=True)
        else:
            yield before, csv.reader(rest, delimiter="\t", quoting=csv.QUOTE_NONE)


def _header(names: list[str], path: Path) -> list[str]:
    twice = [name for name, times in Counter(names).items() if name and times > 1]
    if twice:
        raise BadInput(f"{path} has the column {twice[0]!r} twice; rename one of them.")
    return names


def _row(names: list[str], cells: list[str], where: str, remedy: str) -> Row:
    if len(cells) != len(names):
        few = "more" if len(cells) > len(names) else "fewer"
        raise BadInput(f"{where} has {few} columns than the header; {remedy}.")
    return dict(zip(names, cells, strict=True))


def _records(reader: Any, path: Path, before: int = 0) -> Iterator[tuple[int, list[str]]]:
    """The lines that are not blank as cells, with their numbers. before: the number of lines read by others."""
    last = before
    try:
        for cells in reader:
            last = before + reader.line_num
            if cells:
                yield last, cells
    except csv.Error as error:
        raise BadInput(
            f"{path}, from line {last + 1} on, is not CSV ({error}); double the quotation marks inside quoted texts."
        ) from error


def _parquet_rows(path: Path, zipped: bool) -> Iterator[Row]:
    import pyarrow
    import pyarrow.parquet

    with _plain(path, zipped) as source:
        try:
            with pyarrow.parquet.ParquetFile(source) as table:
                for group in range(table.num_row_groups):  # one by one, as a batch would span several
                    for batch in table.iter_batches(batch_size=1024, row_groups=[group]):
                        yield from batch.to_pylist()
        except (pyarrow.ArrowException, OSError) as error:
            fault = " ".join(str(error).split())
            raise BadInput(f"{path} is not a complete Parquet file ({fault}); write or copy it again.") from error


@contextmanager
def _plain(path: Path, zipped: bool) -> Iterator[IO[bytes] | Path]:
    if not zipped:
        yield path
        return
    with tempfile.TemporaryFile() as copy, gunzipped(path) as raw:  # Parquet readers need to seek
        shutil.copyfileobj(raw, copy)
        copy.seek(0)
        yield copy


def hub_rows(spec: str) -> Iterator[Row]:
    """The rows of a Hugging Face dataset: NAME, NAME:SPLIT or NAME:CONFIG:SPLIT."""
    try:
        import datasets
    except ImportError as error:
        raise BadInput("hf: datasets need the package `datasets`: pip install 'mohs[datasets]'.") from error
    name, *rest = spec.split(":")
    split = rest[-1] if rest else "test"
    try:
        yield from datasets.load_dataset(name, *rest[:-1], split=split, streaming=True)
    except Exception as error:  # the library raises its own errors and network errors
        raise BadInput(
            f"The dataset {name!r} cannot be read ({' '.join(str(error).split())}); "
            "check its name and split, as in hf:NAME:SPLIT or hf:NAME:CONFIG:SPLIT, and the network."
        ) from error
