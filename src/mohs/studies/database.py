"""The database of a study: SQLite in a folder, or PostgreSQL. The few differences between them are here.

A transaction that writes is done when it returns: SQLite runs in WAL mode with synchronous=FULL, PostgreSQL with its
defaults, so what was acknowledged survives a kill and a loss of power.
"""

from __future__ import annotations

import re
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from mohs.assets.writing import refuse_link, refuse_special
from mohs.errors import BadInput, MohsError
from mohs.text.addresses import without_credentials

FILE = "study.sqlite"
_SCHEMES = ("postgresql", "postgres")
_TRIES = 8  # of a transaction that PostgreSQL ended because of another one
_WAIT = 60  # seconds for the lock of another process

Values = Sequence[Any]
Row = tuple[Any, ...]
T = TypeVar("T")


def is_address(place: str) -> bool:
    """Whether a study's place is a database server rather than a folder."""
    return place.split("://")[0] in _SCHEMES and "://" in place


class Cursor:
    """Statements inside of one transaction. Values are given apart from the statement, as `?`."""

    def __init__(self, raw: Any, postgres: bool) -> None:
        self._raw = raw
        self.postgres = postgres

    def _written(self, statement: str) -> str:
        if self.postgres:
            return statement.replace("?", "%s")
        return statement.replace(" FOR UPDATE SKIP LOCKED", "").replace(" FOR UPDATE", "")

    def do(self, statement: str, *values: Any) -> int:
        """Carry a statement out; returns how many rows it changed."""
        return int(self._raw.execute(self._written(statement), values).rowcount)

    def all(self, statement: str, *values: Any) -> list[Row]:
        """All rows of an answer."""
        return [tuple(row) for row in self._raw.execute(self._written(statement), values).fetchall()]

    def one(self, statement: str, *values: Any) -> Row | None:
        """The first row, or None."""
        row = self._raw.execute(self._written(statement), values).fetchone()
        return None if row is None else tuple(row)

    def many(self, statement: str, rows: Iterable[Values]) -> None:
        """Carry a statement out for each row of values."""
        self._raw.executemany(self._written(statement), list(rows))


class Database:
    """Connections to one study, one for each thread."""

    def __init__(self, place: str, *, create: bool = False) -> None:
        self.place = place
        self._own = threading.local()
        self._all: list[Any] = []
        self._gate = threading.Lock()  # SQLite has one writer; waiting here is shorter than in its own loop
        self.postgres = is_address(place)
        if self.postgres:
            self._address, name = _parted(place)
            self._schema = f"mohs_{name}"
            hidden = without_credentials(self._address)
            self.place = f"{hidden}{'&' if '?' in hidden else '?'}study={name}"
        else:
            self._path = _file(Path(place).expanduser(), create)
        self._create = create
        self._connection()

    def close(self) -> None:
        """Close all connections."""
        with self._gate:
            for one in self._all:
                with suppress(Exception):
                    one.close()
            self._all.clear()
            self._own = threading.local()

    def read(self, work: Callable[[Cursor], T]) -> T:
        """Carry out a function that only reads; it sees one state of the database."""
        return self._tried("BEGIN", work)

    def write(self, work: Callable[[Cursor], T]) -> T:
        """Carry out a function that writes: all of it is kept, or nothing.

        PostgreSQL may end a transaction because of another one; then the function is called again.
        """
        if self.postgres:
            return self._tried("BEGIN", work)
        with self._gate:
            return self._tried("BEGIN IMMEDIATE", work)

    def _tried(self, begin: str, work: Callable[[Cursor], T]) -> T:
        for left in reversed(range(_TRIES)):
            try:
                with self._transaction(begin) as cursor:
                    return work(cursor)
            except Exception as error:
                if not left or not passing(error):
                    raise
        raise AssertionError("the last try returns or raises")

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[Cursor]:
        connection = self._connection()
        raw = connection.cursor()
        try:
            raw.execute(begin)
            yield Cursor(raw, self.postgres)
            raw.execute("COMMIT")
        except BaseException as error:
            with suppress(Exception):
                raw.execute("ROLLBACK")
            if self._is_fault(error):
                self._forget(connection)
                raise MohsError(f"The study {self.place} cannot be used ({_said(error)}).") from error
            raise
        finally:
            with suppress(Exception):
                raw.close()

    def _is_fault(self, error: BaseException) -> bool:
        """Whether the database itself is at fault: full, locked, gone or damaged."""
        if isinstance(error, sqlite3.OperationalError | sqlite3.DatabaseError):
            return not isinstance(error, sqlite3.IntegrityError)
        if self.postgres:
            import psycopg

            return isinstance(error, psycopg.OperationalError) and not passing(error)
        return False

    def _forget(self, connection: Any) -> None:
        """Open a new connection next time, for example after the server was restarted."""
        with suppress(Exception):
            connection.close()
        self._own.connection = None

    def _connection(self) -> Any:
        found = getattr(self._own, "connection", None)
        if found is None:
            found = self._own.connection = self._postgres() if self.postgres else self._sqlite()
            self._all.append(found)
        return found

    def _sqlite(self) -> Any:
        try:
            found = sqlite3.connect(self._path, timeout=_WAIT, isolation_level=None, check_same_thread=False)
            found.execute("PRAGMA journal_mode = WAL")
            found.execute("PRAGMA synchronous = FULL")
            found.execute("PRAGMA foreign_keys = ON")
        except sqlite3.Error as error:
            raise BadInput(f"{self._path} cannot be opened as a study ({error}).") from error
        return found

    def _postgres(self) -> Any:
        try:
            import psycopg
            from psycopg import sql
        except ImportError as error:
            raise BadInput("A study on PostgreSQL needs psycopg; pip install 'mohs[postgres]'.") from error
        found = None
        try:
            found = psycopg.connect(self._address, autocommit=True, connect_timeout=10)
            schema = sql.Identifier(self._schema)
            if self._create:
                found.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(schema))
            found.execute(sql.SQL("SET search_path TO {}").format(schema))
            found.execute("SET client_encoding TO 'UTF8'")
        except psycopg.Error as error:
            if found is not None:
                found.close()
            raise BadInput(f"The study {self.place} cannot be opened ({_said(error)}).") from error
        return found


def passing(error: BaseException) -> bool:
    """Whether PostgreSQL ended a transaction because of another one, so that it should be tried again."""
    return getattr(error, "sqlstate", None) in ("40001", "40P01")


def _file(folder: Path, create: bool) -> Path:
    path = folder / FILE
    if create:
        try:
            if folder.exists() and not folder.is_dir():
                raise BadInput(f"{folder} is a file; name a new folder for the study.")
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BadInput(f"{folder} cannot be written ({error.strerror or error}).") from error
        if path.exists():
            raise BadInput(f"{folder} already holds a study; name a new folder, or go on with that one.")
        if foreign := sorted(p.name for p in folder.iterdir()):
            raise BadInput(f"{folder} holds other files ({foreign[0]}) and no study; name a new folder.")
    elif not path.exists():
        raise BadInput(f"{folder} holds no study; make one with `mohs study new --out {folder}`.")
    for name in (path, folder / f"{FILE}-wal", folder / f"{FILE}-shm"):
        refuse_link(name)
        refuse_special(name)
    return path


def _parted(address: str) -> tuple[str, str]:
    """The address for libpq, and the schema: `?study=NAME` in the address puts several studies into one database."""
    parts = urlsplit(address)
    options = dict(parse_qsl(parts.query))
    name = options.pop("study", "study")
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,40}", name):
        raise BadInput(f"The study is called {name!r}; use small letters, digits and underscores.")
    return urlunsplit(parts._replace(query=urlencode(options))), name


def _said(error: BaseException) -> str:
    return without_credentials(" ".join(str(error).split())[:300]) or type(error).__name__
