"""The run folder: a manifest that says what was asked for, and a journal with one transaction a finished example."""

from __future__ import annotations

import fcntl
import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import yaml

from mohs.errors import BadInput, MohsError
from mohs.records.record import Record

MANIFEST, JOURNAL, LOCK = "manifest.yaml", "journal.sqlite", "lock"

_TABLES = """
CREATE TABLE IF NOT EXISTS records (
    attack TEXT NOT NULL, example TEXT NOT NULL, number INTEGER NOT NULL, record TEXT NOT NULL,
    PRIMARY KEY (attack, example)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS effort (name TEXT PRIMARY KEY, value REAL NOT NULL) WITHOUT ROWID;
"""


class RunStore:
    """Records on disk (or, without a folder, in memory), added one by one and safe against a kill at any moment."""

    def __init__(self, folder: Path | None, manifest: Mapping[str, Any], *, lock: IO[str] | None = None) -> None:
        self.folder = folder
        self.manifest = dict(manifest)
        self._lock = lock
        with self._saving():
            self._db = sqlite3.connect(
                ":memory:" if folder is None else folder / JOURNAL, isolation_level=None, timeout=30
            )
            if folder is not None:
                self._db.execute("PRAGMA journal_mode=WAL")
                self._db.execute("PRAGMA synchronous=NORMAL")
            self._db.executescript(_TABLES)

    @classmethod
    def open(cls, folder: Path | None, manifest: Mapping[str, Any], identity: Mapping[str, Any]) -> RunStore:
        """Start a run, or go on with the one in the folder if it was asked for in the same way.

        `identity` is the part of the manifest that must be equal for records to belong together.
        """
        if folder is None:
            return cls(None, manifest)
        if folder.exists() and not folder.is_dir():
            raise BadInput(f"{folder} is a file; --out names a folder for the run.")
        if folder.is_dir() and not (folder / MANIFEST).exists() and any(p.name != LOCK for p in folder.iterdir()):
            raise BadInput(f"{folder} holds other files and no run; choose a new folder with --out.")
        try:
            folder.mkdir(parents=True, exist_ok=True)
            lock = (folder / LOCK).open("w")
        except OSError as error:
            raise BadInput(f"The run folder {folder} cannot be written ({error.strerror}).") from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            lock.close()
            raise BadInput(
                f"Another process is writing to the run {folder}; wait for it or choose another --out."
            ) from None
        try:
            if (folder / MANIFEST).exists():
                manifest = read_manifest(folder)
                _refuse_changes(folder, manifest["identity"], identity)
            else:
                manifest = {**manifest, "identity": dict(identity)}
                _write_manifest(folder, manifest)
            return cls(folder, manifest, lock=lock)
        except BaseException:
            lock.close()
            raise

    @classmethod
    def read(cls, folder: Path) -> RunStore:
        """Open a finished or unfinished run for reading."""
        manifest = read_manifest(folder)
        if not (folder / JOURNAL).exists():
            raise BadInput(f"{folder} holds a manifest but no journal: the run never started.")
        return cls(folder, manifest)

    def add(self, number: int, record: Record) -> None:
        """Save one finished example, in one transaction."""
        with self._saving():
            self._db.execute(
                "INSERT OR REPLACE INTO records VALUES (?, ?, ?, ?)",
                (record.attack, record.example_id, number, record.to_json()),
            )

    def spend(self, **amounts: float) -> None:
        """Add to the run's effort counters (forwards, seconds ...), which depend on the schedule."""
        with self._saving():
            for name, value in amounts.items():
                self._db.execute(
                    "INSERT INTO effort VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = value + excluded.value",
                    (name, value),
                )

    def effort(self) -> dict[str, float]:
        """What the run has cost so far."""
        return dict(self._db.execute("SELECT name, value FROM effort ORDER BY name"))

    def done(self) -> set[tuple[str, str]]:
        """Attack and example id of everything finished."""
        return set(self._db.execute("SELECT attack, example FROM records"))

    def __len__(self) -> int:
        return int(self._db.execute("SELECT count(*) FROM records").fetchone()[0])

    def records(self) -> Iterator[Record]:
        """All records, by attack in the order asked for and then in the order of the data."""
        attacks = list(self.manifest.get("config", {}).get("attacks", []))
        known = [row[0] for row in self._db.execute("SELECT DISTINCT attack FROM records ORDER BY attack")]
        for attack in [a for a in attacks if a in known] + [a for a in known if a not in attacks]:
            rows = self._db.execute("SELECT record FROM records WHERE attack = ? ORDER BY number, example", (attack,))
            for (line,) in rows:
                yield Record.from_json(line)

    def close(self) -> None:
        """Close the journal and let others write."""
        self._db.close()
        if self._lock is not None:
            self._lock.close()

    @contextmanager
    def _saving(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise MohsError(
                f"The run {self.folder} cannot be saved ({error}); what was finished before is kept. "
                "Make room or repair the folder, then run the same command again."
            ) from error


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a run folder."""
    try:
        manifest = yaml.safe_load((folder / MANIFEST).read_text("utf-8"))
    except FileNotFoundError:
        raise BadInput(f"{folder} is not a run: there is no {MANIFEST} in it.") from None
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise BadInput(f"{folder / MANIFEST} cannot be read ({' '.join(str(error).split())}).") from error
    if not isinstance(manifest, dict) or "config" not in manifest or "identity" not in manifest:
        raise BadInput(f"{folder / MANIFEST} is not a run's manifest.")
    return manifest


def _write_manifest(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Write beside and rename, so that a kill leaves either no manifest or a whole one."""
    beside = folder / f"{MANIFEST}.new"
    try:
        with beside.open("w", encoding="utf-8") as file:
            yaml.safe_dump(dict(manifest), file, sort_keys=False, allow_unicode=True)
            file.flush()
            os.fsync(file.fileno())
        beside.rename(folder / MANIFEST)
    except OSError as error:
        raise BadInput(f"The run folder {folder} cannot be written ({error.strerror}).") from error


def _refuse_changes(folder: Path, old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
    lines = [
        f"  {key}: {old.get(key)!r} in the folder, {new.get(key)!r} asked for"
        for key in dict.fromkeys([*old, *new])
        if old.get(key) != new.get(key)
    ]
    if lines:
        difference = "\n".join(lines)
        raise BadInput(
            f"{folder} holds a run that was asked for differently:\n{difference}\n"
            "Ask for the same thing to go on with it, or choose another --out."
        )
