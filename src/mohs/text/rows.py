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
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from mohs.assets.limits import gunzipped
from mohs.errors import BadInput

Row = Mapping[str, Any]

_SUFFIXES = (".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".parquet")


def file_rows(path: Path, encoding: str) -> Iterator[Row]:
    """The rows of a file. Its ending gives the format. Every problem becomes a one-sentence error."""
    if not _is_file(path):
        raise BadInput(f"There is no file {path}; --data takes a file, `pocket`, or hf:NAME.")
    zipped = path.suffix.lower() == ".gz"
    kind = Path(path.stem).suffix.lower() if zipped else path.suffix.lower()
    if kind not in _SUFFIXES:
        raise BadInput(f"{path}: unknown file format; use {', '.join(_SUFFIXES)}, each also with .gz.")
    codec = _codec(encoding)
    try:
        if kind == ".parquet":
            yield from _parquet_rows(path, zipped)
            return
        with (
            gunzipped(path) if zipped else path.open("rb") as raw,
            io.TextIOWrapper(raw, encoding=codec, newline="") as stream,
        ):
            if kind in (".csv", ".tsv"):
                yield from _table_rows(stream, path, "\t" if kind == ".tsv" else ",")
            else:
                yield from _json_rows(stream, path)
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


def _table_rows(stream: IO[str], path: Path, delimiter: str) -> Iterator[Row]:
    # TSV files in NLP rarely use quoting; a stray quotation mark must not swallow lines.
    csv.field_size_limit(1 << 27)
    tabs = delimiter == "\t"
    reader = (
        csv.DictReader(stream, delimiter=delimiter, quoting=csv.QUOTE_NONE)
        if tabs
        else csv.DictReader(stream, delimiter=delimiter, strict=True)  # nor may an unclosed one here
    )
    try:
        twice = [name for name, times in Counter(reader.fieldnames or ()).items() if name and times > 1]
        if not tabs and len(reader.fieldnames or ()) == 1 and ";" in (reader.fieldnames or [""])[0]:
            raise BadInput(f"{path} seems to use semicolons; save it with commas, or as a .tsv with tabs.")
        if twice:
            raise BadInput(f"{path} has the column {twice[0]!r} twice; rename one of them.")
        for row in reader:
            if None in row or None in row.values():
                raise BadInput(
                    f"{path}, line {reader.line_num} has {'more' if None in row else 'fewer'} columns than the header; "
                    f"{'remove tabs inside texts' if tabs else 'put texts with commas in quotation marks'}."
                )
            yield row
    except csv.Error as error:
        raise BadInput(
            f"{path}, from line {reader.line_num + 1} on, is not CSV ({error}); "
            "double the quotation marks inside quoted texts."
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
