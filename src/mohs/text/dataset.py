"""Labelled examples from a file, read as a stream.

JSONL, CSV, TSV and Parquet, plain or gzipped; `pocket`, the reviews inside the package; `hf:NAME` or
`hf:NAME:SPLIT`, a Hugging Face dataset when `datasets` is installed.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import hashlib
import io
import json
import re
import shutil
import tempfile
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, Any

from mohs.errors import BadInput
from mohs.text import pocket
from mohs.text.example import Example, has_surrogates, whole_number
from mohs.text.text import Text

Row = Mapping[str, Any]

_TEXT_NAMES: tuple[tuple[str, ...], ...] = (
    ("text",),
    ("question", "sentence"),  # before a lone sentence, which it would otherwise be taken for
    ("sentence",),
    ("premise", "hypothesis"),
    ("question1", "question2"),
    ("sentence1", "sentence2"),
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

    def __post_init__(self) -> None:
        if self.n is not None and self.n < 1:
            raise BadInput(f"n is {self.n}; it must be at least 1.")
        for kind, names in (("label", self.labels), ("text field", self.fields)):
            if len(set(names)) != len(names):
                raise BadInput(f"A {kind} is named twice in {', '.join(names)}; name each once.")

    def __iter__(self) -> Iterator[Example]:
        names = self.fields
        for number, row in enumerate(islice(self._rows(), self.n)):
            example = self._example(number, row, names)
            names = example.names  # found in the first row, and the same in all
            yield example

    def survey(self, examples: Iterable[Example] | None = None) -> tuple[int, int, str]:
        """Read everything once: how many examples, the highest label, and a hash over all of them.

        A bad row or a repeated id is found here, before any work is spent.
        """
        digest, ids, count, highest = hashlib.sha256(), set[bytes](), 0, 0
        names: tuple[str, ...] = ()
        for example in self if examples is None else examples:
            names = names or example.names
            if example.names != names:
                raise BadInput(
                    f"{self.source}: example {example.id!r} has the fields {', '.join(example.names)} and the first "
                    f"{', '.join(names)}; give all of them the same."
                )
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
            raise BadInput(f"{self.source} has no examples; give at least one row.")
        return count, highest, digest.hexdigest()[:16]

    def _rows(self) -> Iterator[Row]:
        if self.source == "pocket" or self.source.startswith("pocket:"):
            return pocket.reviews(self.source.partition(":")[2] or "test")
        if self.source.startswith("hf:"):
            return _hub_rows(self.source[3:])
        return _file_rows(Path(self.source), self.encoding)

    def _example(self, number: int, row: Row, names: tuple[str, ...]) -> Example:
        where = f"{self.source}, row {number + 1}"
        names = names or next((names for names in _TEXT_NAMES if all(name in row for name in names)), ())
        if not names:
            raise BadInput(f"{where}: no text column among {_listed(row)}; name it with --text-field.")
        texts = []
        for name in names:
            if name not in row:
                raise BadInput(
                    f"{where}: there is no field {name!r}; the fields are {_listed(row)}; "
                    "name the right one with --text-field."
                )
            value = row[name]
            if not isinstance(value, str):
                raise BadInput(
                    f"{where}: field {name!r} holds {_shown(value)}, which is not a text; "
                    "mend the row or name another field with --text-field."
                )
            texts.append(value)
        if self.id_field != "id" and self.id_field not in row:
            raise BadInput(
                f"{where}: there is no id field {self.id_field!r}; the fields are {_listed(row)}; "
                "name the right one with --id-field."
            )
        identity = row.get(self.id_field)
        identity = str(number if identity is None else identity)
        for name, value in zip((self.id_field, *names), (identity, *texts), strict=True):
            if has_surrogates(value):
                raise BadInput(f"{where}: field {name!r} holds half a surrogate pair, which is no text; mend the row.")
        return Example(
            id=identity,
            text=Text(*texts),
            label=self._label(row, where),
            names=names,
            changeable=self.change,
        )

    def _label(self, row: Row, where: str) -> int:
        if self.label_field not in row:
            raise BadInput(
                f"{where}: there is no label field {self.label_field!r}; the fields are {_listed(row)}; "
                "name it with --label-field."
            )
        value = row[self.label_field]
        name = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
        if name in self.labels:
            return self.labels.index(name)
        number = _digits(value) if isinstance(value, str) else whole_number(value)
        if number is None or number < 0 or (self.labels and number >= len(self.labels)):
            classes = f"{', '.join(self.labels)}, or 0 to {len(self.labels) - 1}"
            raise BadInput(
                f"{where}: label {_shown(value)} is not a class; labels are "
                f"{classes if self.labels else 'whole numbers from 0'}; mend the row, or give all names in the order "
                "of the victim's classes, as in --labels negative,positive."
            )
        return number


def _digits(value: str) -> int | None:
    """A number written as 1, or as 1.0 where a table has turned whole numbers into decimal ones."""
    found = re.fullmatch(r"([0-9]{1,18})(\.0+)?", value.strip())
    return int(found[1]) if found else None


def _listed(row: Row) -> str:
    return " ".join(", ".join(map(str, row)).split())


def _shown(value: object) -> str:
    """A value for a message: on one line, and not longer than one."""
    shown = repr(value)
    return shown if len(shown) <= 80 else f"{shown[:77]}..."


def examples_from(values: Iterable[Example | tuple[str, int] | Row]) -> list[Example]:
    """Examples from what people have at hand in Python: Examples, (text, label) pairs, or rows."""
    found = []
    reader = Dataset("examples")
    for number, value in enumerate(values):
        if isinstance(value, Example):
            found.append(value)
        elif isinstance(value, Mapping):
            found.append(reader._example(number, value, ()))
        elif isinstance(value, (tuple, list)) and len(value) == 2:
            text, label = value
            found.append(Example.of(text, label, id=str(number)))
        else:
            raise BadInput(
                f"Example {number} is {_shown(value)}; give an Example, a pair (text, label), or a row such as "
                "{'text': ..., 'label': ...}."
            )
    return found


def _file_rows(path: Path, encoding: str) -> Iterator[Row]:
    if not _is_file(path):
        raise BadInput(f"There is no file {path}; --data takes a file, `pocket`, or hf:NAME.")
    zipped = path.suffix.lower() == ".gz"
    kind = Path(path.stem).suffix.lower() if zipped else path.suffix.lower()
    if kind not in _SUFFIXES:
        raise BadInput(f"{path}: unknown kind of file; use {', '.join(_SUFFIXES)}, each also with .gz.")
    codec = _codec(encoding)
    try:
        if kind == ".parquet":
            yield from _parquet_rows(path, zipped)
            return
        with (
            gzip.open(path, "rb") if zipped else path.open("rb") as raw,
            io.TextIOWrapper(raw, encoding=codec, newline="") as stream,
        ):
            if kind in (".csv", ".tsv"):
                yield from _table_rows(stream, path, "\t" if kind == ".tsv" else ",")
            else:
                yield from _json_rows(stream, path)
    except UnicodeError as error:
        fault = f"byte {error.object[error.start]:#04x}" if isinstance(error, UnicodeDecodeError) else str(error)
        raise BadInput(f"{path} is not {encoding} ({fault}); name its encoding, as in --encoding latin-1.") from error
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise BadInput(f"{path} is not a whole gzip file ({error}); copy or pack it again.") from error
    except OSError as error:
        raise BadInput(
            f"{path} cannot be read ({error.strerror or error}); check the file and its permissions."
        ) from error


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # for example a name that is too long to be one
        return False


def _codec(encoding: str) -> str:
    """The name of a text encoding; for UTF-8 the one that reads files with and without a byte order mark."""
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
            raise BadInput(f"{path}, line {number} is not JSON ({fault}); one object a line is expected.") from error
        if not isinstance(row, dict):
            raise BadInput(f"{path}, line {number} holds {type(row).__name__}; one JSON object a line is expected.")
        yield row


def _table_rows(stream: IO[str], path: Path, delimiter: str) -> Iterator[Row]:
    # TSV files of this field seldom quote; a stray quotation mark must not swallow lines.
    csv.field_size_limit(1 << 27)
    tabs = delimiter == "\t"
    reader = (
        csv.DictReader(stream, delimiter=delimiter, quoting=csv.QUOTE_NONE)
        if tabs
        else csv.DictReader(stream, delimiter=delimiter, strict=True)  # an open quotation mark must not either
    )
    try:
        twice = [name for name, times in Counter(reader.fieldnames or ()).items() if name and times > 1]
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
                for group in range(table.num_row_groups):  # one by one, for a batch would span several
                    for batch in table.iter_batches(batch_size=1024, row_groups=[group]):
                        yield from batch.to_pylist()
        except (pyarrow.ArrowException, OSError) as error:
            fault = " ".join(str(error).split())
            raise BadInput(f"{path} is not a whole Parquet file ({fault}); write or copy it again.") from error


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
    except Exception as error:  # whatever the library raises: it has errors of its own, and those of its network
        raise BadInput(
            f"The dataset {name!r} cannot be read ({' '.join(str(error).split())}); "
            "check its name and split, as in hf:NAME:SPLIT, and the network."
        ) from error
