"""Rows of a user's file or folder of files, for sets that have columns of their own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from mohs.errors import BadInput
from mohs.text.rows import file_rows

_ENDINGS = (".jsonl", ".jsonl.gz", ".ndjson", ".csv", ".csv.gz", ".tsv", ".tsv.gz", ".parquet")


def numbered_rows(place: str) -> Iterator[tuple[str, int, Mapping[str, Any]]]:
    """The rows of a file, or of all tables in a folder: the file's name, the row's number from 1, and the row."""
    path = Path(place).expanduser()
    if not path.exists():
        raise BadInput(f"There is no file {path}; correct its name.")
    paths = sorted(one for one in path.iterdir() if one.name.endswith(_ENDINGS)) if path.is_dir() else [path]
    if not paths:
        raise BadInput(f"The folder {path} has no table ({', '.join(_ENDINGS)}); name another.")
    for one in paths:
        for number, row in enumerate(file_rows(one, "utf-8"), 1):
            yield one.name, number, row


def text_of(row: Mapping[str, Any], names: Sequence[str], where: str) -> str:
    """The text in the first of these columns that a row has."""
    name = next((name for name in names if name in row), None)
    if name is None:
        raise BadInput(
            f"{where}: there is no column {' or '.join(names)}; the columns are {', '.join(map(str, row))}; name the "
            "right one under fields."
        )
    if not isinstance(row[name], str):
        raise BadInput(f"{where}: the column {name!r} holds {row[name]!r:.80}, which is not a text; fix the row.")
    return str(row[name])
