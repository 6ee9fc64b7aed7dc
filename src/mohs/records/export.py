"""Records as a table: JSONL, CSV or Parquet."""

from __future__ import annotations

import csv
import json
import math
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any, TextIO

from mohs.assets.writing import is_special, opened_for_writing, refuse_link
from mohs.errors import BadInput, MohsError
from mohs.records.record import Outcome, Record

_ROWS_AT_ONCE = 10_000
FORMATS = ("parquet", "csv", "jsonl")
_JSON_COLUMNS = ("edits", "measures", "details", "scores_before", "scores_after")  # in a CSV file
_FORMULA = ("=", "+", "-", "@", "\t", "\r")

Row = dict[str, Any]
Columns = Callable[[Record], Row]


def rows(records: Iterable[Record], columns: Columns | None = None) -> Iterator[dict[str, Any]]:
    """Flat rows, with one column per field of the text.

    `adversarial_*` is None unless the outcome is success or measured.
    columns: gives the extra columns of a verb.
    """
    for record in records:
        row = record.to_row()
        row["outcome"] = str(record.outcome)
        row["edits"] = [edit._asdict() for edit in record.edits]
        row["measures"] = {name: value if math.isfinite(value) else None for name, value in record.measures.items()}
        for key in ("names", "original", "perturbed"):
            del row[key]
        for number, name in enumerate(record.names):
            row[f"original_{name}"] = record.original[number]
            hit = record.outcome in (Outcome.SUCCESS, Outcome.MEASURED) and record.perturbed is not None
            row[f"adversarial_{name}"] = record.perturbed[number] if hit and record.perturbed else None
        yield row | (columns(record) if columns is not None else {})


def export(
    records: Iterable[Record], format: str, out: Path | None, stdout: TextIO, columns: Columns | None = None
) -> int:
    """Write all records in a format, to a file or to standard output. Returns their number."""
    if format not in FORMATS:
        raise BadInput(f"Unknown format {format!r}; use {', '.join(FORMATS)}.")
    if format == "parquet" and out is None:
        raise BadInput("Parquet is binary; name a file with --out.")
    if out is not None and out.is_dir():
        raise BadInput(f"{out} is a folder; name a file with --out.")
    source = iter(records)
    first = next(source, None)
    if first is None:
        raise BadInput("The run has no records to export yet; let it finish an example first.")
    records = chain([first], source)
    if out is None:
        return _write_stdout(rows(records, columns), format, stdout)
    beside = out.with_name(out.name + ".part")
    device = is_special(out)
    target = out if device else beside
    refuse_link(target)
    try:
        if format == "parquet":
            with opened_for_writing(target, "wb", special=device) as table:
                count = _write_parquet(rows(records, columns), table)
        else:
            with opened_for_writing(target, special=device, encoding="utf-8", newline="") as file:
                count = _write_lines(rows(records, columns), format, file)
        if not device:
            beside.replace(out)
        return count
    except BaseException as error:
        if not device:
            with suppress(OSError):
                beside.unlink(missing_ok=True)
        if isinstance(error, OSError):
            fault = os.strerror(error.errno) if error.errno else error
            raise MohsError(f"{out} cannot be written ({fault}); the run itself is untouched.") from error
        raise


def _write_stdout(rows: Iterable[Row], format: str, stdout: TextIO) -> int:
    try:
        count = _write_lines(rows, format, stdout)
        stdout.flush()
        return count
    except BrokenPipeError:  # the reader closed the pipe, as `head` does
        raise
    except OSError as error:
        raise MohsError(
            f"Standard output cannot be written ({error.strerror or error}); name a file with --out."
        ) from error
    except UnicodeEncodeError as error:
        raise MohsError(f"Standard output accepts only {error.encoding}; name a file with --out.") from error


def _write_lines(rows: Iterable[Row], format: str, file: IO[str]) -> int:
    count = 0
    writer: csv.DictWriter[str] | None = None
    for row in _alike(rows):
        count += 1
        if format == "jsonl":
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
            continue
        for key in _JSON_COLUMNS:
            row[key] = json.dumps(row[key], ensure_ascii=False)
        if writer is None:
            writer = csv.DictWriter(file, fieldnames=list(row))
            writer.writeheader()
        writer.writerow({key: harmless(value) for key, value in row.items()})
    return count


def harmless(value: Any) -> Any:
    """A cell of a CSV file. Text that a spreadsheet would run as a formula gets an apostrophe in front."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def write_csv(path: Path, names: Sequence[str], rows: Iterable[Row]) -> Path:
    """Write rows as a CSV file for people. An older file stays until the new one is complete."""
    special = is_special(path)
    target = path if special else path.with_name(f"{path.name}.part")
    try:
        with opened_for_writing(target, encoding="utf-8", newline="", special=special) as file:
            table = csv.DictWriter(file, names)
            table.writeheader()
            table.writerows({name: harmless(value) for name, value in row.items()} for row in rows)
        if not special:
            target.replace(path)
    except OSError as error:
        raise MohsError(f"{path} cannot be written ({error.strerror or error}); name another with --out.") from error
    return path


def _write_parquet(rows: Iterable[Row], target: IO[bytes]) -> int:
    import pyarrow
    import pyarrow.parquet

    count = 0
    source = _alike(rows)
    batch = list(islice(source, _ROWS_AT_ONCE))
    first = batch[0]
    texts = pyarrow.string()
    edit = pyarrow.struct([("position", pyarrow.int64()), ("old", texts), ("new", texts), ("source", texts)])
    kinds: dict[str, Any] = {
        "edits": pyarrow.list_(edit),
        "measures": texts,
        "scores_before": pyarrow.list_(pyarrow.float64()),
        "scores_after": pyarrow.list_(pyarrow.float64()),
        "near_tie": pyarrow.bool_(),
        **dict.fromkeys(("label", "seed", "words", "positions", "queries", "beyond_window"), pyarrow.int64()),
    }
    numbers = {bool: pyarrow.bool_(), int: pyarrow.int64(), float: pyarrow.float64()}
    for key in list(first)[list(first).index("traceback") + 1 :]:  # the texts, and this verb's extra columns
        value = next((row[key] for row in batch if row[key] is not None), None)
        kinds[key] = numbers.get(type(value), texts)
    schema = pyarrow.schema([(key, kinds.get(key, texts)) for key in first])
    with pyarrow.parquet.ParquetWriter(target, schema) as writer:
        while batch:
            for row in batch:
                for key in ("measures", "details"):
                    row[key] = json.dumps(row[key], ensure_ascii=False)
            try:
                table = pyarrow.Table.from_pylist(batch, schema=schema)
            except OverflowError as error:
                raise BadInput("A number is too large for Parquet, probably the seed; use csv or jsonl.") from error
            writer.write_table(table)
            count += len(batch)
            batch = list(islice(source, _ROWS_AT_ONCE))
    return count


def _alike(rows: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The rows. Refuses a row whose columns differ from the first: a table would lose them."""
    columns: list[str] = []
    for row in rows:
        columns = columns or list(row)
        if list(row) != columns:
            raise BadInput(
                f"Example {row['example_id']!r} has other text fields than the first; give all examples the same ones."
            )
        yield row
