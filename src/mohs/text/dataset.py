"""Labelled examples from a file, read as a stream.

JSONL, CSV, TSV and Parquet, plain or gzipped; `pocket`, the reviews inside the package; `hf:NAME` or
`hf:NAME:SPLIT`, a Hugging Face dataset when `datasets` is installed.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, Any

from mohs.errors import BadInput
from mohs.text import pocket
from mohs.text.example import Example
from mohs.text.text import Text

Row = Mapping[str, Any]

_TEXT_NAMES: tuple[tuple[str, ...], ...] = (
    ("text",),
    ("sentence",),
    ("premise", "hypothesis"),
    ("question1", "question2"),
    ("sentence1", "sentence2"),
    ("question", "sentence"),
    ("review",),
    ("content",),
)
_SUFFIXES = (".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".parquet")


@dataclass(frozen=True)
class Dataset:
    """Where examples come from and how their columns are named; iterating it reads them afresh."""

    source: str  # a path, `pocket`, `pocket:train` or `hf:NAME[:SPLIT]`
    fields: tuple[str, ...] = ()  # text columns; none: text, sentence, premise+hypothesis ..., whichever is there
    label_field: str = "label"
    id_field: str = "id"  # used where the column exists; row numbers otherwise
    labels: tuple[str, ...] = ()  # names in the order of the victim's classes
    change: tuple[str, ...] = ()  # fields an attack may touch
    encoding: str = "utf-8"
    n: int | None = None  # the first n rows

    def __iter__(self) -> Iterator[Example]:
        for number, row in enumerate(islice(self._rows(), self.n)):
            yield self._example(number, row)

    def survey(self, examples: Iterable[Example] | None = None) -> tuple[int, int, str]:
        """Read everything once: how many examples, the highest label, and a hash over all of them.

        A bad row or a repeated id is found here, before any work is spent.
        """
        digest, ids, count, highest = hashlib.sha256(), set[bytes](), 0, 0
        for example in self if examples is None else examples:
            key = hashlib.blake2b(example.id.encode(), digest_size=8).digest()  # 8 bytes each: a million is 8 MB
            if key in ids:
                raise BadInput(
                    f"{self.source}: the id {example.id!r} occurs twice; make ids unique or name another id column "
                    "with --id-field."
                )
            ids.add(key)
            line = json.dumps([example.id, example.text.fields, example.label], ensure_ascii=True)
            digest.update(line.encode() + b"\n")
            count += 1
            highest = max(highest, example.label)
        if not count:
            raise BadInput(f"{self.source} has no examples.")
        return count, highest, digest.hexdigest()[:16]

    def _rows(self) -> Iterator[Row]:
        if self.source == "pocket" or self.source.startswith("pocket:"):
            return pocket.reviews(self.source.partition(":")[2] or "test")
        if self.source.startswith("hf:"):
            return _hub_rows(self.source[3:])
        return _file_rows(Path(self.source), self.encoding)

    def _example(self, number: int, row: Row) -> Example:
        where = f"{self.source}, row {number + 1}"
        names = self.fields or next((names for names in _TEXT_NAMES if all(name in row for name in names)), ())
        if not names:
            raise BadInput(f"{where}: no text column among {', '.join(row)}; name it with --text-field.")
        texts = []
        for name in names:
            if name not in row:
                raise BadInput(f"{where}: there is no field {name!r}; the fields are {', '.join(row)}.")
            value = row[name]
            if not isinstance(value, str):
                raise BadInput(f"{where}: field {name!r} holds {value!r}, which is not a text.")
            texts.append(value)
        identity = row.get(self.id_field)
        return Example(
            id=str(number if identity is None else identity),
            text=Text(*texts),
            label=self._label(row, where),
            names=names,
            changeable=self.change,
        )

    def _label(self, row: Row, where: str) -> int:
        if self.label_field not in row:
            raise BadInput(
                f"{where}: there is no label field {self.label_field!r}; the fields are {', '.join(row)}; "
                "name it with --label-field."
            )
        value = row[self.label_field]
        if isinstance(value, str) and value in self.labels:
            return self.labels.index(value)
        try:
            number = int(value) if not isinstance(value, float) or value.is_integer() else -1
        except (TypeError, ValueError):
            known = f"is not one of {', '.join(self.labels)}" if self.labels else "is not a number"
            raise BadInput(
                f"{where}: label {value!r} {known}; give the names in the victim's order, as in --labels negative,positive."
            ) from None
        if number < 0 or (self.labels and number >= len(self.labels)):
            allowed = f"0 to {len(self.labels) - 1}" if self.labels else "whole numbers from 0"
            raise BadInput(f"{where}: label {value!r} is not a class; labels are {allowed}.")
        return number


def examples_from(values: Iterable[Example | tuple[str, int] | Row]) -> list[Example]:
    """Examples from what people have at hand in Python: Examples, (text, label) pairs, or rows."""
    found = []
    reader = Dataset("examples")
    for number, value in enumerate(values):
        if isinstance(value, Example):
            found.append(value)
        elif isinstance(value, Mapping):
            found.append(reader._example(number, value))
        else:
            text, label = value
            found.append(Example.of(text, label, id=str(number)))
    return found


def _file_rows(path: Path, encoding: str) -> Iterator[Row]:
    if not path.is_file():
        raise BadInput(f"There is no file {path}; --data takes a file, `pocket`, or hf:NAME.")
    zipped = path.suffix == ".gz"
    kind = Path(path.stem).suffix.lower() if zipped else path.suffix.lower()
    if kind not in _SUFFIXES:
        raise BadInput(f"{path}: unknown kind of file; use {', '.join(_SUFFIXES)}, each also with .gz.")
    try:
        if kind == ".parquet":
            yield from _parquet_rows(path, zipped)
            return
        opened: Any = gzip.open(path, "rb") if zipped else path.open("rb")
        with opened as raw, io.TextIOWrapper(raw, encoding=encoding, newline="") as stream:
            if kind in (".csv", ".tsv"):
                yield from _table_rows(stream, path, "\t" if kind == ".tsv" else ",")
            else:
                yield from _json_rows(stream, path)
    except UnicodeDecodeError as error:
        raise BadInput(
            f"{path} is not {encoding} (byte {error.object[error.start]:#04x}); name its encoding, as in --encoding latin-1."
        ) from error
    except (gzip.BadGzipFile, EOFError) as error:
        raise BadInput(f"{path} is not a whole gzip file ({error}).") from error
    except LookupError as error:
        raise BadInput(f"Unknown encoding {encoding!r}.") from error


def _json_rows(stream: IO[str], path: Path) -> Iterator[Row]:
    for number, line in enumerate(stream, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            raise BadInput(
                f"{path}, line {number} is not JSON ({error.msg}); one object a line is expected."
            ) from error
        if not isinstance(row, dict):
            raise BadInput(f"{path}, line {number} holds {type(row).__name__}; one JSON object a line is expected.")
        yield row


def _table_rows(stream: IO[str], path: Path, delimiter: str) -> Iterator[Row]:
    # TSV files of this field seldom quote; a stray quotation mark must not swallow lines.
    csv.field_size_limit(1 << 27)
    reader = (
        csv.DictReader(stream, delimiter=delimiter, quoting=csv.QUOTE_NONE)
        if delimiter == "\t"
        else csv.DictReader(stream, delimiter=delimiter)
    )
    try:
        for row in reader:
            if None in row or None in row.values():
                raise BadInput(f"{path}, line {reader.line_num} has another number of columns than the header.")
            yield row
    except csv.Error as error:
        raise BadInput(f"{path}, line {reader.line_num}: {error}.") from error


def _parquet_rows(path: Path, zipped: bool) -> Iterator[Row]:
    import pyarrow
    import pyarrow.parquet

    with _plain(path, zipped) as source:
        try:
            with pyarrow.parquet.ParquetFile(source) as table:
                for batch in table.iter_batches(batch_size=1024):
                    yield from batch.to_pylist()
        except pyarrow.ArrowException as error:
            raise BadInput(f"{path} is not a Parquet file ({str(error).splitlines()[0]}).") from error


@contextmanager
def _plain(path: Path, zipped: bool) -> Iterator[IO[bytes] | Path]:
    if not zipped:
        yield path
        return
    with tempfile.TemporaryFile() as copy, gzip.open(path, "rb") as raw:  # Parquet is read from its end
        shutil.copyfileobj(raw, copy)
        copy.seek(0)
        yield copy


def _hub_rows(name: str) -> Iterator[Row]:
    try:
        import datasets
    except ImportError as error:
        raise BadInput("hf: datasets need the package `datasets`: pip install 'mohs[datasets]'.") from error
    name, _, split = name.partition(":")
    try:
        yield from datasets.load_dataset(name, split=split or "test", streaming=True)
    except (OSError, ValueError) as error:
        raise BadInput(f"The dataset {name!r} cannot be read: {' '.join(str(error).split())}") from error
