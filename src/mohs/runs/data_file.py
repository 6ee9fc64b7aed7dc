"""Writes a data file row by row, in the formats that `--data` reads: whole, or not at all."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any

from mohs.assets.writing import opened_for_writing, refuse_link
from mohs.errors import BadInput, MohsError

Row = Mapping[str, Any]

ENDINGS = (".jsonl", ".ndjson", ".csv", ".tsv", ".parquet")
_ROWS_AT_ONCE = 1024  # of a Parquet file


def ending_of(out: Path) -> tuple[str, bool]:
    """The ending that gives the format, and whether .gz follows it. Refuses endings that are not written."""
    name = out.name.lower()
    zipped = name.endswith(".gz")
    kind = Path(name.removesuffix(".gz")).suffix
    if kind not in ENDINGS or (zipped and kind == ".parquet"):
        raise BadInput(f"--out {out} has no known ending; use {', '.join(ENDINGS)}, all but the last also with .gz.")
    return kind, zipped


def write_data(out: Path, rows: Iterable[Row]) -> int:
    """Write rows to a file beside, and rename it when it is complete. Gives their number.

    Only a batch of rows is held at once. The same rows give the same bytes.
    """
    kind, zipped = ending_of(out)
    with _whole(out) as raw, ExitStack() as stack:
        file: Any = stack.enter_context(gzip.GzipFile("", "wb", fileobj=raw, mtime=0)) if zipped else raw
        return _parquet(file, rows) if kind == ".parquet" else _text(file, rows, kind)


def write_text(out: Path, text: str) -> None:
    """Write a small file, whole or not at all."""
    with _whole(out) as raw:
        raw.write(text.encode())


@contextmanager
def _whole(out: Path) -> Iterator[IO[bytes]]:
    """A file beside, which takes the place of the other when it is complete."""
    beside = out.with_name(f"{out.name}.part")
    refuse_link(out)
    try:
        with opened_for_writing(beside, "wb") as raw:
            yield raw
            raw.flush()
            os.fsync(raw.fileno())
        beside.replace(out)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise MohsError(f"{out} cannot be written ({error.strerror or error}); name another with --out.") from error
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def digest_of(file: Path) -> str:
    """The SHA-256 of a file."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _text(file: IO[bytes], rows: Iterable[Row], kind: str) -> int:
    stream = io.TextIOWrapper(file, encoding="utf-8", newline="")
    if kind in (".jsonl", ".ndjson"):
        count = 0
        for count, row in enumerate(rows, 1):  # noqa: B007
            stream.write(json.dumps(dict(row), ensure_ascii=False, default=str) + "\n")
    else:
        count = _table(stream, rows, "\t" if kind == ".tsv" else ",")
    stream.flush()
    stream.detach()
    return count


def _table(stream: IO[str], rows: Iterable[Row], delimiter: str) -> int:
    writer = csv.writer(stream, delimiter=delimiter, lineterminator="\n")
    count = 0
    for row in _alike(rows):
        if not count:
            writer.writerow(list(row))
        writer.writerow([_cell(value) for value in row.values()])
        count += 1
    return count


def _cell(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False, default=str) if isinstance(value, dict | list) else value


def _alike(rows: Iterable[Row]) -> Iterator[Row]:
    """The rows with the columns of the first; a missing value is None. Refuses other columns: they would be lost."""
    source = iter(rows)
    first = next(source, None)
    if first is None:
        return
    for row in chain([first], source):
        more = [name for name in row if name not in first]
        if more:
            raise BadInput(
                f"A row has the column {more[0]!r}, which the first row does not have; write to a .jsonl file."
            )
        yield {name: row.get(name) for name in first}


def _parquet(file: IO[bytes], rows: Iterable[Row]) -> int:
    import pyarrow
    import pyarrow.parquet

    source = _alike(rows)
    batch = [dict(row) for row in islice(source, _ROWS_AT_ONCE)]
    if not batch:
        raise BadInput("There are no rows to write, and Parquet needs one; write to a .jsonl file.")
    count = 0
    try:
        found = pyarrow.Table.from_pylist(batch).schema
        plain = [pyarrow.field(f.name, pyarrow.string()) if pyarrow.types.is_null(f.type) else f for f in found]
        schema = pyarrow.schema(plain)
        with pyarrow.parquet.ParquetWriter(file, schema) as writer:
            while batch:
                writer.write_table(pyarrow.Table.from_pylist(batch, schema=schema))
                count += len(batch)
                batch = [dict(row) for row in islice(source, _ROWS_AT_ONCE)]
    except (pyarrow.ArrowException, OverflowError) as error:
        fault = " ".join(str(error).split())
        raise BadInput(f"A column holds values of several kinds ({fault}); write to a .jsonl file.") from error
    return count
