"""A cache of nearest-neighbour lists: in memory for this run, and in a folder for the next."""

from __future__ import annotations

import os
import sqlite3
import zlib
from collections.abc import Iterable, Mapping
from contextlib import closing, suppress
from pathlib import Path

import numpy as np

from mohs.text.nearest import Floats, Lists, Nearest, Numbers

Entry = tuple[Numbers, Floats]

_NEIGHBOURS_PER_ROW = 64  # doubled until it covers k
_WORDS_PER_QUERY = 500  # SQLite allows 999 parameters in its oldest builds
_SECONDS_TO_WAIT = 5  # for another process; after that the file is not used


def cache_folder() -> Path | None:
    """The folder for cached results: $MOHS_CACHE, or mohs in the user's cache; None without a home folder."""
    if chosen := os.environ.get("MOHS_CACHE"):
        return Path(chosen).expanduser()
    cache = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if not cache.is_absolute():  # unset, or relative, which the XDG specification says to ignore
        try:
            cache = Path.home() / ".cache"
        except RuntimeError:
            return None
    return cache / "mohs"


class Neighbours:
    """A nearest-neighbour search with a cache: no row is searched for twice.

    New rows are searched for together. If the file cannot be used (read-only, damaged, locked by another process), the
    search is only repeated.
    """

    def __init__(self, search: Nearest, stem: Path | None) -> None:
        self._search = search
        self._stem = stem  # the start of the file names; None: in memory only
        self._known: dict[int, dict[int, Entry]] = {}  # by length of the lists
        self._expected: dict[int, list[int]] = {}

    def expect(self, rows: Numbers, k: int) -> None:
        """Announce rows that will be needed soon. The next search includes them."""
        self._expected.setdefault(_length(k), []).extend(rows.tolist())

    def __call__(self, rows: Numbers, k: int) -> Lists:
        """The k nearest other rows of each row, as the search returns them."""
        length = _length(k)
        known = self._known.setdefault(length, {})
        if any(row not in known for row in rows.tolist()):
            expected = self._expected.pop(length, [])
            wanted = [row for row in dict.fromkeys([*rows.tolist(), *expected]) if row not in known]
            file = self._stem and _File(
                self._stem.with_name(f"{self._stem.name}-{length}.sqlite"), self._search, length
            )
            if file:
                known |= file.read(wanted)
            if new := [row for row in wanted if row not in known]:
                numbers, values = self._search(np.array(new, np.int64), length)
                found = {row: (numbers[i], values[i]) for i, row in enumerate(new)}
                known |= found
                if file:
                    file.write(found)
        entries = [known[row] for row in rows.tolist()]
        width = self._search.width(k)
        numbers, values = np.empty((len(rows), width), np.int64), np.empty((len(rows), width), np.float32)
        for i, (others, nearness) in enumerate(entries):
            numbers[i], values[i] = others[:width], nearness[:width]
        return numbers, values


def _length(k: int) -> int:
    """The length of the cached lists for k neighbours."""
    length = _NEIGHBOURS_PER_ROW
    while length < k:
        length *= 2
    return length


class _File:
    """A SQLite table of row -> list, with a checksum for each list to detect damage."""

    def __init__(self, path: Path, search: Nearest, length: int) -> None:
        self._path, self._rows, self._width = path, len(search.table), search.width(length)

    def read(self, rows: Iterable[int]) -> dict[int, Entry]:
        """The lists that are present and undamaged."""
        wanted, found = list(rows), {}
        try:
            if not self._path.exists():
                return {}
            with closing(self._open()) as db:
                for start in range(0, len(wanted), _WORDS_PER_QUERY):
                    part = wanted[start : start + _WORDS_PER_QUERY]
                    marks = ",".join("?" * len(part))
                    for row, list_, sum_ in db.execute(f"SELECT * FROM lists WHERE row IN ({marks})", part):
                        if (entry := self._entry(list_, sum_)) is not None:
                            found[row] = entry
        except (sqlite3.Error, OSError) as error:
            self._after(error)
        return found

    def write(self, lists: Mapping[int, Entry]) -> None:
        """Store all lists in one transaction, or none."""
        rows = []
        for row, (numbers, values) in lists.items():
            content = numbers.astype("<i4").tobytes() + values.astype("<f4").tobytes()
            rows.append((row, content, zlib.crc32(content)))
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with closing(self._open()) as db, db:
                db.execute("CREATE TABLE IF NOT EXISTS lists (row INTEGER PRIMARY KEY, list BLOB, sum INTEGER)")
                db.executemany("INSERT OR REPLACE INTO lists VALUES (?, ?, ?)", rows)
        except (sqlite3.Error, OSError) as error:
            self._after(error)

    def _open(self) -> sqlite3.Connection:
        db = sqlite3.connect(self._path, timeout=_SECONDS_TO_WAIT)
        db.execute("PRAGMA synchronous=OFF")  # damage by a power cut is detected, and lists are computed again
        return db

    def _entry(self, content: object, checksum: object) -> Entry | None:
        if not isinstance(content, bytes) or len(content) != 8 * self._width or zlib.crc32(content) != checksum:
            return None
        numbers = np.frombuffer(content, "<i4", self._width).astype(np.int64)
        values = np.frombuffer(content, "<f4", offset=4 * self._width).astype(np.float32)
        sound = 0 <= numbers.min(initial=0) <= numbers.max(initial=0) < self._rows
        return (numbers, values) if sound else None

    def _after(self, error: Exception) -> None:
        """Delete a file that is no longer a database. Ignore other errors (locked, read-only, full)."""
        if type(error) is sqlite3.DatabaseError:
            for path in (self._path, self._path.with_name(f"{self._path.name}-journal")):
                with suppress(OSError):
                    path.unlink()
