"""Checks of a run's journal and manifest, and what can still be read of a damaged journal.

A journal has a checksum for every record and a tally of them all, so that a changed record and a missing one are both
noticed. Journals of version 0 have neither; there only what cannot be read is noticed.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mohs.records.record import Record

VERSION = 1  # of the journal, in its user_version
COLUMNS = {0: ["attack", "example", "number", "record"], 1: ["attack", "example", "number", "record", "checksum"]}

Line = tuple[str, str, int, str]  # attack, example, its number, the record as JSON
_SCANS = ("attack, example", "attack DESC, example DESC")  # from both ends, as far as the file can be read

# Errors that say nothing about the content of the file.
_NOT_DAMAGE = {
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_READONLY,
}


class Damaged(Exception):
    """A journal whose content is not what was written."""


@dataclass
class Tally:
    """How many records there are, and their checksums taken together. The order does not matter."""

    count: int = 0
    sums: int = 0

    def add(self, checksum: str, times: int = 1) -> None:
        """Count a record, or with -1 one that is replaced."""
        self.count += times
        self.sums ^= int(checksum, 16)

    def __str__(self) -> str:
        return f"{self.count} {self.sums:016x}"


def is_damage(error: sqlite3.Error) -> bool:
    """Whether an error comes from what is in the file, and not from the disk or from another process."""
    code = getattr(error, "sqlite_errorcode", None)
    misuse = isinstance(error, sqlite3.ProgrammingError)  # such as a journal that is closed
    return isinstance(error, sqlite3.DatabaseError) and not misuse and (code is None or code & 0xFF not in _NOT_DAMAGE)


def checksum_of(*values: object) -> str:
    """A checksum of some values, 16 hexadecimal digits."""
    joined = "\0".join(map(str, values)).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(joined, digest_size=8).hexdigest()


def checksum_of_manifest(manifest: Mapping[str, Any]) -> str:
    """The checksum of a manifest as it is read from its file; the way it is written does not matter."""
    return checksum_of(json.dumps(manifest, sort_keys=True, default=str))


def version_of(db: sqlite3.Connection) -> int | None:
    """The version of a journal; None if nothing is in it yet."""
    version = int(db.execute("PRAGMA user_version").fetchone()[0])
    columns = [row[1] for row in db.execute("PRAGMA table_info(records)")]
    if not columns and version == 0 and not db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        return None
    if version > VERSION:
        raise Damaged(f"it has the version {version}, and this mohs knows {VERSION}")
    if columns != COLUMNS.get(version):
        raise Damaged("its table of records has other columns")
    return version


def verified(db: sqlite3.Connection, version: int, *, complete: bool) -> Tally:
    """Check a whole journal. With `complete`, a record that is missing is damage too."""
    faults = [row[0] for row in db.execute("PRAGMA quick_check(1)")]
    if faults != ["ok"]:
        fault = str(faults[0]).replace("*** in database main ***", "") if faults else "it cannot be checked"
        raise Damaged(" ".join(fault.split()))
    found = Tally()
    db.execute("BEGIN")  # one state of the file, though another process may write
    try:
        told = tallies(db) if version else {}
        last: tuple[str, str] | None = None
        for row in db.execute(f"SELECT {', '.join(COLUMNS[version])} FROM records"):
            line = intact(row)
            if line is None:
                raise Damaged(f"the record of example {row[1]!r} is not what was written")
            if last is not None and line[:2] <= last:
                raise Damaged("its records are out of order")
            last = line[:2]
            found.add(row[4] if version else checksum_of(*line))
        if version:
            if complete and told.get("records") != str(found):
                raise Damaged(f"it has {found.count} records, and they are not those that were written")
            if "effort" in told and told["effort"] != effort_checksum(db):
                raise Damaged("its effort is not what was written")
    finally:
        db.execute("COMMIT")
    return found


def tallies(db: sqlite3.Connection) -> dict[str, Any]:
    """What the journal notes about itself."""
    return dict(db.execute("SELECT name, value FROM tally"))


def effort_checksum(db: sqlite3.Connection) -> str:
    """The checksum of the table of effort."""
    return checksum_of(*(f"{name}={value!r}" for name, value in db.execute("SELECT name, value FROM effort")))


def intact(row: tuple[Any, ...]) -> Line | None:
    """A row of the table of records without its checksum; None if it is not what was written."""
    attack, example, number, record, *rest = row
    if not (isinstance(attack, str) and isinstance(example, str) and type(number) is int and isinstance(record, str)):
        return None
    line = attack, example, number, record
    if rest:
        return line if rest[0] == checksum_of(*line) else None
    with suppress(ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError):
        read = Record.from_json(record)
        if (read.attack, read.example_id) == (attack, example):
            return line
    return None


@dataclass
class Salvaged:
    """The intact records of a journal, and how many were lost: None if nobody can tell."""

    lines: dict[tuple[str, str], Line] = field(default_factory=dict)
    lost: int | None = None


def salvage(journal: Path) -> Salvaged:
    """The records of a damaged journal that are as they were written. The file is not touched."""
    found, told = Salvaged(), None
    with _copy(journal) as place, suppress(sqlite3.Error), closing(_open(place)) as db:
        db.text_factory = _text
        with suppress(sqlite3.Error, ValueError, TypeError, KeyError):
            told = int(str(tallies(db)["records"]).split()[0])
        for order in _SCANS:
            with suppress(sqlite3.Error, OverflowError):
                for row in db.execute(f"SELECT * FROM records ORDER BY {order}"):
                    line = intact(row) if len(row) in (4, 5) else None
                    if line is not None:
                        found.lines[line[:2]] = line
    if told is not None and told >= len(found.lines):
        found.lost = told - len(found.lines)
    return found


def _text(raw: bytes) -> str | bytes:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw


def _open(place: str) -> sqlite3.Connection:
    return sqlite3.connect(place, uri=True, isolation_level=None)


@contextmanager
def _copy(journal: Path) -> Iterator[str]:
    """The address of a journal that may be read without changing it: a copy if there is a log to be merged."""
    log = journal.with_name(f"{journal.name}-wal")
    if not log.exists() or not log.stat().st_size:
        yield f"{journal.absolute().as_uri()}?mode=ro&immutable=1"
        return
    with tempfile.TemporaryDirectory() as folder:
        for part in (journal, log):
            shutil.copyfile(part, Path(folder) / part.name)
        yield (Path(folder) / journal.name).as_uri()
