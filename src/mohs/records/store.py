"""The run folder: a manifest with the settings of the run, and a journal with one transaction per finished example."""

from __future__ import annotations

import fcntl
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from random import Random
from types import NoneType
from typing import IO, Any

import yaml

from mohs.assets.writing import opened_for_writing, refuse_link, refuse_special
from mohs.errors import BadInput, MohsError
from mohs.records.integrity import (
    VERSION,
    Damaged,
    Line,
    Tally,
    checksum_of,
    checksum_of_manifest,
    effort_checksum,
    is_damage,
    salvage,
    tallies,
    verified,
    version_of,
)
from mohs.records.limited_yaml import read_yaml
from mohs.records.record import Record
from mohs.text.addresses import endpoint_fingerprint, without_credentials

MANIFEST, JOURNAL, LOCK = "manifest.yaml", "journal.sqlite", "lock"
BARE: Mapping[str, Any] = {"config": {}, "identity": {}, "tasks": [], "command": ""}  # a manifest that says nothing
_RUNS_NAMED_IN_A_MESSAGE = 5
_UNFINISHED_MANIFEST = f"{MANIFEST}.new"  # left over only by a kill

_NOT_ALWAYS_NOTED = ("victim_origin",)  # parts of an identity that folders of earlier versions do not have

_NOT_WRITABLE = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN)

_TABLES = (
    "CREATE TABLE IF NOT EXISTS records (attack TEXT NOT NULL, example TEXT NOT NULL, number INTEGER NOT NULL, "
    "record TEXT NOT NULL, checksum TEXT, PRIMARY KEY (attack, example)) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS effort (name TEXT PRIMARY KEY, value REAL NOT NULL) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS tally (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    f"PRAGMA user_version = {VERSION}",
)


class NotStarted(BadInput):
    """A run that was cut off before its journal was made: there is nothing to read yet."""


class _Plain(yaml.SafeDumper):
    """YAML without anchors: repeated values are written out in full."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


class RunStore:
    """Records on disk, or in memory without a folder. They are added one by one; a kill at any moment is safe."""

    def __init__(
        self,
        folder: Path | None,
        manifest: Mapping[str, Any],
        *,
        lock: IO[str] | None = None,
        asked: Mapping[str, Any] | None = None,  # what a new manifest would hold
    ) -> None:
        self.folder = folder
        self.manifest = dict(manifest)
        self._lock = lock
        self._tally = Tally()
        self.checked = folder is None  # whether the manifest is known to be as it was written
        self._version = VERSION
        writing = folder is None or lock is not None
        with self._saving() if writing else self._reading():
            self._db = _connect(folder, reading=lock is None)
        try:
            with self._saving() if writing else self._reading():
                self._check(writing, asked or {})
        except BaseException:
            self._db.close()
            raise

    @classmethod
    def open(cls, folder: Path | None, manifest: Mapping[str, Any], identity: Mapping[str, Any]) -> RunStore:
        """Start a run, or resume the one in the folder if its settings are the same.

        `identity` is the part of the manifest that must be equal to resume.
        """
        if folder is None:
            return cls(None, {**manifest, "identity": dict(identity)})
        try:
            if folder.exists() and not folder.is_dir():
                raise BadInput(f"{folder} is a file; --out names a folder for the run.")
            if folder.is_dir() and not (folder / MANIFEST).exists():
                foreign = sorted({p.name for p in folder.iterdir()} - {LOCK, _UNFINISHED_MANIFEST})
                if foreign:
                    raise BadInput(
                        f"{folder} holds other files ({foreign[0]}) and no run; choose a new folder with --out."
                    )
            folder.mkdir(parents=True, exist_ok=True)
            lock = opened_for_writing(folder / LOCK)
        except OSError as error:
            raise _unwritable(folder, error) from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.close()
            raise BadInput(
                f"Another process is writing to the run {folder}; wait for it or choose another --out."
            ) from None
        except OSError as error:
            lock.close()
            raise _unwritable(folder, error) from error
        try:
            asked = manifest
            if (folder / MANIFEST).exists():
                manifest = read_manifest(folder)
                _refuse_changes(folder, manifest["identity"], identity)
            else:
                manifest = {**manifest, "identity": dict(identity)}
                _write_manifest(folder, manifest)
            return cls(folder, manifest, lock=lock, asked=asked)
        except BaseException:
            lock.close()
            raise

    @classmethod
    def read(cls, folder: Path) -> RunStore:
        """Open a finished or unfinished run for reading."""
        manifest = read_manifest(folder)
        if not (folder / JOURNAL).exists():
            raise NotStarted(f"{folder} holds a manifest but no journal: the run never started; start it again.")
        return cls(folder, manifest)

    def _check(self, writing: bool, asked: Mapping[str, Any]) -> None:
        """See that the journal is whole. For writing, bring it to the newest version; missing records may be missing.

        They are only searched for again, so a run with missing records can be resumed, but not exported.
        """
        db = self._db
        version = version_of(db)
        if version is None and not writing:
            raise NotStarted(
                f"{self.folder} holds a manifest and an empty journal: the run never started; start it again."
            )
        if version is not None:
            self._tally = verified(db, version, complete=not writing)
            self._version = version
        manifest = None if self.folder is None else checksum_of_manifest(_raw_manifest(self.folder))
        told = tallies(db).get("manifest") if version else None
        if not writing:
            if told not in (None, manifest):
                assert self.folder is not None
                raise BadInput(
                    f"{self.folder / MANIFEST} is not what the run wrote; restore it from a copy, or run the same "
                    f"command again to check it ({self._readable()})."
                )
            self.checked = told is not None
            return
        if self.folder is not None and told not in (None, manifest):
            self._accept(self.folder, asked)
            told = manifest = checksum_of_manifest(_raw_manifest(self.folder))
        self.checked = version is None or told == manifest
        with self._transaction():
            if version == 0:
                db.execute("ALTER TABLE records ADD COLUMN checksum TEXT")
            for statement in _TABLES:
                db.execute(statement)
            if version == 0:
                for row in db.execute("SELECT attack, example, number, record FROM records").fetchall():
                    key = (checksum_of(*row), *row[:2])
                    db.execute("UPDATE records SET checksum = ? WHERE attack = ? AND example = ?", key)
            self._note("records", self._tally)
            if version == 0:
                self._note("effort", effort_checksum(db))
            if manifest is not None:
                self._note("manifest", manifest)
        self._version = VERSION

    def _accept(self, folder: Path, asked: Mapping[str, Any]) -> None:
        """Accept a manifest that was edited if its settings are those asked for; what else it holds is written anew."""
        new, old = asked.get("config", {}), self.manifest["config"]
        odd = [key for key in old if key in new and key != "data" and old[key] != new[key]]
        odd += [key for key in ("command", "tasks") if self.manifest.get(key) != asked.get(key)]
        if odd:
            raise BadInput(
                f"{folder / MANIFEST} is not what the run wrote ({odd[0]} differs); restore it from a copy or choose "
                f"another --out ({self._readable()})."
            )
        self.manifest = {**asked, "config": old, "identity": self.manifest["identity"]}
        _write_manifest(folder, self.manifest)

    def add(self, number: int, record: Record) -> None:
        """Save one finished example, in one transaction."""
        self.add_line((record.attack, record.example_id, number, record.to_json()))

    def add_line(self, line: Line) -> None:
        """Save a record as it stands in a journal."""
        self.add_lines([line])

    def add_lines(self, lines: Iterable[Line]) -> None:
        """Save records as they stand in a journal, in one transaction: all of them, or none after a kill."""
        tally = replace(self._tally)
        with self._saving(), self._transaction():
            for line in lines:
                key, checksum = line[:2], checksum_of(*line)
                old = self._db.execute("SELECT checksum FROM records WHERE attack = ? AND example = ?", key).fetchone()
                if old is not None:
                    tally.add(old[0], -1)
                self._db.execute("INSERT OR REPLACE INTO records VALUES (?, ?, ?, ?, ?)", (*line, checksum))
                tally.add(checksum)
            self._note("records", tally)
        self._tally = tally

    def _note(self, name: str, value: object) -> None:
        self._db.execute("INSERT OR REPLACE INTO tally VALUES (?, ?)", (name, str(value)))

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._db.execute("COMMIT")
        except BaseException:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise

    def spend(self, **amounts: float) -> None:
        """Add to the run's effort counters (forwards, seconds ...), which depend on the schedule."""
        with self._saving(), self._transaction():
            for name, value in amounts.items():
                self._db.execute(
                    "INSERT INTO effort VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = value + excluded.value",
                    (name, value),
                )
            self._note("effort", effort_checksum(self._db))

    def effort(self) -> dict[str, float]:
        """What the run has cost so far."""
        with self._reading():
            found = dict(self._db.execute("SELECT name, value FROM effort ORDER BY name"))
            if not all(isinstance(name, str) and isinstance(value, float) for name, value in found.items()):
                raise Damaged("its effort is not what was written")
            return found

    def done(self) -> set[tuple[str, str]]:
        """Attack and example id of every finished example. Errors do not count: they are tried again."""
        with self._reading():
            return set(self._db.execute("SELECT attack, example FROM records WHERE record ->> 'outcome' != 'error'"))

    def __len__(self) -> int:
        with self._reading():
            return int(self._db.execute("SELECT count(*) FROM records").fetchone()[0])

    def records(self, kind: type | None = None) -> Iterator[Record]:
        """All records, sorted by attack in the order of the command, then in the order of the data.

        kind: the class of their findings; without it the findings stay dictionaries.
        """
        tasks = list(self.manifest.get("tasks") or ())
        place = {attack: number for number, attack in reversed(list(enumerate(tasks)))}
        with self._reading():
            known = [row[0] for row in self._db.execute("SELECT DISTINCT attack FROM records ORDER BY attack")]
            for attack in sorted(known, key=lambda name: place.get(name, len(place))):
                rows = self._db.execute(
                    "SELECT record FROM records WHERE attack = ? ORDER BY number, example", (attack,)
                )
                for (line,) in rows:
                    yield _record(line, kind)

    def lines(self) -> Iterator[Line]:
        """All records as they stand in the journal, in its order."""
        with self._reading():
            for line in self._db.execute("SELECT attack, example, number, record FROM records"):  # noqa: UP028
                yield line  # `yield from` would close the cursor, perhaps after the journal

    def shuffled(self, random: Random) -> Iterator[Record]:
        """The records in random order, with findings as dictionaries."""
        with self._reading():
            keys = self._db.execute("SELECT attack, example FROM records ORDER BY attack, example").fetchall()
            random.shuffle(keys)
            for key in keys:
                for (line,) in self._db.execute("SELECT record FROM records WHERE attack = ? AND example = ?", key):
                    yield _record(line)

    def close(self) -> None:
        """Close the journal and release the lock."""
        self._db.close()
        if self._lock is not None:
            self._lock.close()

    @contextmanager
    def _saving(self) -> Iterator[None]:
        try:
            yield
        except Damaged as fault:
            raise self._damaged(fault) from fault
        except sqlite3.Error as error:
            if is_damage(error):
                raise self._damaged(error) from error
            raise MohsError(
                f"The run {self.folder} cannot be saved ({error}); everything finished before is kept. "
                "Make room or repair the folder, then run the same command again."
            ) from error

    @contextmanager
    def _reading(self) -> Iterator[None]:
        try:
            yield
        except Damaged as fault:
            raise self._damaged(fault) from fault
        except sqlite3.Error as error:
            if is_damage(error):
                raise self._damaged(error) from error
            raise MohsError(
                f"The run {self.folder} cannot be read ({error}); restore the folder from a copy or run again with "
                "another --out."
            ) from error

    def _damaged(self, fault: Exception) -> MohsError:
        if self.folder is None:
            return MohsError(f"The records in memory cannot be read ({fault}).")
        return MohsError(
            f"{self.folder / JOURNAL} is damaged ({fault}); restore it from a copy or run again with another --out "
            f"({self._readable()})."
        )

    def _readable(self) -> str:
        """What can still be read, in words."""
        assert self.folder is not None
        found = len(salvage(self.folder / JOURNAL).lines)
        return f"`mohs export {self.folder} --salvage` writes the {found} records that can still be read"


def salvaged(folder: Path) -> tuple[RunStore, int | None]:
    """The intact records of a run in memory, with its manifest if that can be read, and how many were lost.

    None: nobody can tell how many there were.
    """
    if not (folder / JOURNAL).is_file():
        raise BadInput(f"{folder / JOURNAL} does not exist, so there is nothing to salvage; name a run folder.")
    manifest = dict(BARE)
    with suppress(MohsError):
        manifest = read_manifest(folder)
    found = salvage(folder / JOURNAL)
    store = RunStore(None, manifest)
    for line in found.lines.values():
        store.add_line(line)
    return store, found.lost


def _record(line: str, kind: type | None = None) -> Record:
    try:
        return Record.from_json(line, kind)
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError) as error:
        raise Damaged(f"a record cannot be read: {type(error).__name__} {error}") from error


def _connect(folder: Path | None, *, reading: bool) -> sqlite3.Connection:
    place = ":memory:" if folder is None else (folder / JOURNAL).absolute().as_uri()
    if folder is not None:
        linked = reading and (folder / JOURNAL).is_symlink()  # nothing is written then
        refuse_link(*(folder / f"{JOURNAL}{end}" for end in ("-wal", "-shm")), *([] if linked else [folder / JOURNAL]))
        if linked:
            return _only_read(folder, place)
    try:
        return _set_up(place, keep=folder is not None)
    except sqlite3.OperationalError as error:
        if not reading or folder is None or error.sqlite_errorcode & 0xFF not in _NOT_WRITABLE:
            raise
        return _only_read(folder, place)


def _only_read(folder: Path, place: str) -> sqlite3.Connection:
    """The journal of a folder that cannot be written. Without a write-ahead log beside it, the journal is complete."""
    log = folder / f"{JOURNAL}-wal"
    whole = "" if log.exists() and log.stat().st_size else "&immutable=1"
    return sqlite3.connect(f"{place}?mode=ro{whole}", uri=True, isolation_level=None, timeout=30)


def _set_up(place: str, *, keep: bool) -> sqlite3.Connection:
    db = sqlite3.connect(place, uri=True, isolation_level=None, timeout=30)
    try:
        if keep:
            db.execute("PRAGMA journal_mode=WAL")
            db.execute("PRAGMA synchronous=NORMAL")
    except BaseException:
        db.close()
        raise
    return db


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a run folder, in the current format."""
    manifest = _raw_manifest(folder)
    _refuse_oddities(folder, manifest)
    return current(manifest)


def _raw_manifest(folder: Path) -> dict[str, Any]:
    """The manifest as it stands in the file."""
    refuse_special(folder / MANIFEST)
    try:
        manifest = read_yaml((folder / MANIFEST).read_text("utf-8"))
    except FileNotFoundError:
        raise BadInput(f"{folder} is not a run: there is no {MANIFEST} in it{_inside(folder)}.") from None
    except (OSError, ValueError, TypeError, RecursionError, yaml.YAMLError) as error:
        fault = " ".join(str(error).split())
        raise BadInput(
            f"{folder / MANIFEST} cannot be read ({fault}); restore it from a copy or choose another --out."
        ) from error
    if not isinstance(manifest, dict) or not all(isinstance(manifest.get(key), dict) for key in ("config", "identity")):
        raise BadInput(f"{folder / MANIFEST} is not a run's manifest; restore it from a copy or choose another --out.")
    return manifest


_KINDS: dict[str, tuple[type, ...]] = {  # of the parts that are used whatever the command; None will do for the others
    "command": (str,),
    "tasks": (list,),
    "facts": (dict,),
    "config.attacks": (list, NoneType),
    "config.labels": (list, NoneType),
    "facts.notes": (list,),
    "facts.shard_examples": (int,),
    "facts.versions": (dict,),
    "identity.examples": (int,),
}


def _refuse_oddities(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Refuse a manifest with parts of another type than any run writes."""
    for name, kinds in _KINDS.items():
        part: Any = manifest
        *above, last = name.split(".")
        for key in above:
            part = part.get(key, {})
        if last in part and not isinstance(part[last], kinds):
            raise BadInput(
                f"{folder / MANIFEST} has {part[last]!r} as {name}, which no run writes; restore it from a copy or "
                "choose another --out."
            )
    texts = [*(manifest.get("tasks") or ()), *(manifest["config"].get("attacks") or ())]
    odd = [text for text in texts if not isinstance(text, str)]
    keys = [key for part in (manifest, manifest["config"], manifest["identity"]) for key in part]
    odd += [key for key in keys if not isinstance(key, str)]
    if odd:
        raise BadInput(
            f"{folder / MANIFEST} has {odd[0]!r} as a name, which no run writes; restore it from a copy or choose "
            "another --out."
        )


def current(manifest: dict[str, Any]) -> dict[str, Any]:
    """A manifest in the current format. Version 0.1.0 listed the tasks of every command in `config.attacks`."""
    if "tasks" not in manifest:
        manifest["tasks"] = list(manifest["config"].get("attacks") or [])
        for part in (manifest["config"], manifest.get("identity", {})):
            if manifest.get("command", "attack") != "attack":
                part.pop("attacks", None)
            if "attack" in part:
                part["attacks"] = part.pop("attack")
    return _without_credentials(manifest)


def _without_credentials(manifest: dict[str, Any]) -> dict[str, Any]:
    """The manifest without the credentials that older versions stored with the address of an endpoint."""
    identity, address = manifest.get("identity", {}), manifest["config"].get("victim")
    if (hidden := without_credentials(address)) != address:
        output = (manifest["config"].get("victim_options") or {}).get("output", "probabilities")
        if identity.get("victim_fingerprint") == endpoint_fingerprint(address, output):
            identity["victim_fingerprint"] = endpoint_fingerprint(hidden, output)
    for part in (manifest["config"], identity, identity.get("services")):
        if isinstance(part, dict):
            part.update({key: without_credentials(part[key]) for key in ("victim", "grammar") if key in part})
    return manifest


def _inside(folder: Path) -> str:
    """The end of a message: the runs inside this folder, newest first, or how to find runs."""
    found = sorted(folder.glob(f"*/{MANIFEST}"), key=lambda path: (-path.stat().st_mtime, path))
    names = [str(path.parent) for path in found[:_RUNS_NAMED_IN_A_MESSAGE]]
    more = f" and {len(found) - _RUNS_NAMED_IN_A_MESSAGE} more" if len(found) > _RUNS_NAMED_IN_A_MESSAGE else ""
    return f"; the runs inside are {', '.join(names)}{more}" if names else "; `mohs runs` lists runs"


def _write_manifest(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Write to a temporary file and rename it, so that a kill leaves no manifest or a complete one."""
    beside = folder / _UNFINISHED_MANIFEST
    lines = yaml.dump(dict(manifest), Dumper=_Plain, sort_keys=False, allow_unicode=True)
    if any(separator in lines for separator in "\x85\u2028\u2029"):  # YAML would read them back as spaces
        lines = yaml.dump(dict(manifest), Dumper=_Plain, sort_keys=False)
    try:
        with opened_for_writing(beside, encoding="utf-8") as file:
            file.write(lines)
            file.flush()
            os.fsync(file.fileno())
        beside.rename(folder / MANIFEST)
    except OSError as error:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
        raise _unwritable(folder, error) from error


def _unwritable(folder: Path, error: OSError) -> BadInput:
    return BadInput(f"The run folder {folder} cannot be written ({error.strerror}); make room or choose another --out.")


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """The keys under which two identities differ.

    Data are the same if their hashes are, wherever the file lies. What older versions did not note is not compared.
    """
    unseen = {key for key in _NOT_ALWAYS_NOTED if key not in old}
    if "data_hash" in old and old["data_hash"] == new.get("data_hash"):
        unseen.add("data")
    return [key for key in dict.fromkeys([*old, *new]) if old.get(key) != new.get(key) and key not in unseen]


def _refuse_changes(folder: Path, old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
    changed = [(key, old.get(key), new.get(key)) for key in differences(old, new)]
    lines = []
    for key, one, other in changed:
        if isinstance(one, dict) and isinstance(other, dict):  # only shared keys: the rest follows from others
            shared = [name for name in one if name in other and one[name] != other[name]]
            lines += [
                f"  {key} of {name}: {one.get(name)!r} in the folder, {other.get(name)!r} asked for"
                for name in shared or ([] if len(changed) > 1 else dict.fromkeys([*one, *other]))
                if one.get(name) != other.get(name)
            ]
        else:
            lines.append(f"  {key}: {one!r} in the folder, {other!r} asked for")
    if changed:
        difference = "\n".join(lines)
        edited = f" {folder / MANIFEST} is not what the run wrote; a copy may help." if _edited(folder) else ""
        raise BadInput(
            f"{folder} holds a run with other settings, or of another victim or data:\n{difference}\n"
            f"Use the same settings to resume it, or choose another --out.{edited}"
        )


def _edited(folder: Path) -> bool:
    """Whether a manifest is known to be another one than the run wrote."""
    place = (folder / JOURNAL).absolute().as_uri()
    with suppress(sqlite3.Error, OSError), closing(_only_read(folder, place)) as db:
        return tallies(db).get("manifest") not in (None, checksum_of_manifest(_raw_manifest(folder)))
    return False
