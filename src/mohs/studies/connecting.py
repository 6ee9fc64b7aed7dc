"""Where a study can be kept, and what differs between the places: a folder with SQLite, or a PostgreSQL server."""

from __future__ import annotations

import os
import re
import sqlite3
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from mohs.assets.writing import refuse_link, refuse_special
from mohs.errors import BadInput
from mohs.text.addresses import without_credentials

FILE = "study.sqlite"
WAIT = 30  # seconds for the lock of somebody else
_OWN_FILES = (FILE, f"{FILE}-wal", f"{FILE}-shm", f"{FILE}-journal")
_SCHEMES = ("postgresql", "postgres")
_LIMITS = (  # a server or a program that vanishes without a word does not stop everybody else for ever
    "SET lock_timeout = '30s'",
    "SET idle_in_transaction_session_timeout = '60s'",
    # What was acknowledged is kept, also where the database was set up otherwise.
    "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'",
)


def is_address(place: str) -> bool:
    """Whether a study's place is a database server rather than a folder."""
    return place.split("://")[0] in _SCHEMES and "://" in place


class Store(Protocol):
    """Opens connections to one study."""

    @property
    def postgres(self) -> bool:
        """Whether this is PostgreSQL."""

    @property
    def place(self) -> str:
        """Where the study is, without a password."""

    def connect(self) -> Any:
        """A new connection."""

    def read_only(self) -> str:
        """The statements that begin a transaction that reads: it sees one state of the database."""

    def begin(self, durable: bool) -> tuple[str, ...]:
        """The statements that begin a transaction that writes. durable: it survives a loss of power once it is done."""

    def is_fault(self, error: BaseException) -> bool:
        """Whether the database is at fault (full, locked, gone or damaged), and not the statement."""

    def is_stale(self, connection: Any) -> bool:
        """Whether the other end of a connection has gone, as after a restart of the server."""


@dataclass(frozen=True)
class Folder:
    """A folder with an SQLite file."""

    path: Path
    place: str
    postgres: bool = False

    @classmethod
    def at(cls, place: str, create: bool) -> Folder:
        """For a folder. create: it may be new, and a file from a start that was cut off is gone on with."""
        folder = Path(place).expanduser()
        path = folder / FILE
        if create:
            _prepare(folder)
        elif not path.exists():
            raise BadInput(f"{folder} holds no study; make one with `mohs study new {folder}`.")
        for name in _OWN_FILES:
            refuse_link(folder / name)
            refuse_special(folder / name)
        if create:
            _only_mine(path)
        return cls(path, place)

    def connect(self) -> Any:
        """A new connection."""
        try:
            found = sqlite3.connect(self.path, timeout=WAIT, isolation_level=None, check_same_thread=False)
        except sqlite3.Error as error:
            raise BadInput(f"{self.path} cannot be opened as a study ({error}).") from error
        try:
            found.execute("PRAGMA journal_mode = WAL")
            found.execute("PRAGMA synchronous = FULL")
            found.execute("PRAGMA foreign_keys = ON")
        except sqlite3.Error as error:
            found.close()
            raise BadInput(f"{self.path} cannot be opened as a study ({error}).") from error
        return found

    def read_only(self) -> str:
        """A transaction that reads."""
        return "BEGIN"

    def begin(self, durable: bool) -> tuple[str, ...]:
        """A transaction that writes. Without `durable` its pages reach the disk with the next one that is."""
        return f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}", "BEGIN IMMEDIATE"

    def is_fault(self, error: BaseException) -> bool:
        """Whether the file is at fault."""
        return isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.IntegrityError)

    def is_stale(self, connection: Any) -> bool:
        """A file has no other end."""
        return False


def _prepare(folder: Path) -> None:
    """Make the folder. What belongs to others is refused; whether a study is there already shows inside the file."""
    try:
        if folder.exists() and not folder.is_dir():
            raise BadInput(f"{folder} is a file; name a new folder for the study.")
        folder.mkdir(parents=True, exist_ok=True)
        found = sorted(path.name for path in folder.iterdir())
    except OSError as error:
        raise BadInput(f"{folder} cannot be written ({error.strerror or error}).") from error
    own = _OWN_FILES if FILE in found else ()
    if foreign := [name for name in found if name not in own]:
        what = "beside a study" if own else "and no study"
        raise BadInput(f"{folder} holds other files ({foreign[0]}) {what}; name a new folder.")


def _only_mine(path: Path) -> None:
    """Make the file, for its owner alone: it holds the key of the organiser's token. SQLite's other files follow it."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    except OSError as error:
        raise BadInput(f"{path} cannot be written ({error.strerror or error}).") from error


@dataclass(frozen=True)
class Server:
    """A schema of a PostgreSQL database."""

    address: str = field(repr=False)
    schema: str
    place: str
    create: bool
    postgres: bool = True

    @classmethod
    def at(cls, place: str, create: bool) -> Server:
        """For an address: `?study=NAME` in it puts several studies into one database."""
        parts = urlsplit(place)
        options = dict(parse_qsl(parts.query))
        name = options.pop("study", "study")
        if not re.fullmatch(r"[a-z][a-z0-9_]{0,40}", name):
            raise BadInput(f"The study is called {name!r}; use small letters, digits and underscores.")
        address = urlunsplit(parts._replace(query=urlencode(options)))
        hidden = without_credentials(address)
        return cls(address, f"mohs_{name}", f"{hidden}{'&' if '?' in hidden else '?'}study={name}", create)

    def connect(self) -> Any:
        """A new connection."""
        try:
            import psycopg
            from psycopg import sql
        except ImportError as error:
            raise BadInput("A study on PostgreSQL needs psycopg; pip install 'mohs[postgres]'.") from error
        found = None
        try:
            found = psycopg.connect(self.address, autocommit=True, connect_timeout=10, tcp_user_timeout=WAIT * 1000)
            schema = sql.Identifier(self.schema)
            if self.create:
                with suppress(psycopg.errors.IntegrityError):  # somebody else made it at this moment
                    found.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(schema))
            found.execute(sql.SQL("SET search_path TO {}").format(schema))
            found.execute("SET client_encoding TO 'UTF8'")
            for statement in _LIMITS:
                found.execute(statement)
        except psycopg.Error as error:
            if found is not None:
                found.close()
            raise BadInput(
                f"The study {self.place} cannot be opened ({said(error)}); check the address, and that the server runs."
            ) from error
        return found

    def read_only(self) -> str:
        """A transaction that reads."""
        return "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

    def begin(self, durable: bool) -> tuple[str, ...]:
        """A transaction that writes."""
        return ("BEGIN",) if durable else ("BEGIN; SET LOCAL synchronous_commit = off",)

    def is_fault(self, error: BaseException) -> bool:
        """Whether the server is at fault; a schema that somebody removed counts as well."""
        from psycopg import errors

        kinds = errors.OperationalError, errors.InterfaceError, errors.InternalError, errors.UndefinedTable
        return isinstance(error, kinds)

    def is_stale(self, connection: Any) -> bool:
        """Whether the server has closed the connection."""
        return bool(connection.closed)


def said(error: BaseException) -> str:
    """What a database said, in one line and without passwords."""
    return without_credentials(" ".join(str(error).split())[:300]) or type(error).__name__
