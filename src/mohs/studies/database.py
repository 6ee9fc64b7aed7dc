"""The database of a study: transactions on SQLite in a folder, or on PostgreSQL (see `connecting`).

A transaction that writes is done when it returns: SQLite runs in WAL mode with synchronous=FULL, PostgreSQL with its
defaults, so what was acknowledged survives a kill and a loss of power.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

from mohs.errors import MohsError
from mohs.studies.connecting import FILE, WAIT, Folder, Server, Store, is_address, said

__all__ = ["FILE", "Cursor", "Database", "is_address", "passing"]

_TRIES = 8  # of a transaction that PostgreSQL ended because of another one
_MOST = 16  # connections at a time; PostgreSQL has 100 for everybody

Values = Sequence[Any]
Row = tuple[Any, ...]
T = TypeVar("T")


class Cursor:
    """Statements inside of one transaction. Values are given apart from the statement, as `?`."""

    def __init__(self, raw: Any, postgres: bool) -> None:
        self._raw = raw
        self.postgres = postgres

    def _written(self, statement: str) -> str:
        if self.postgres:
            return statement.replace("?", "%s")
        return statement.replace(" FOR UPDATE", "")

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
    """Connections to one study. A transaction borrows one; threads come and go, and connections stay."""

    def __init__(self, place: str, *, create: bool = False) -> None:
        self._store: Store = Server.at(place, create) if is_address(place) else Folder.at(place, create)
        self.place = self._store.place
        self.postgres = self._store.postgres
        self._idle: list[Any] = []
        self._free = threading.BoundedSemaphore(_MOST)
        self._gate = threading.Lock()  # SQLite has one writer; waiting here is shorter than in its own loop
        self._closed = False
        self._idle.append(self._store.connect())

    def close(self) -> None:
        """Close all connections; those in use are closed when their transactions end."""
        self._closed = True
        while self._idle:
            _close(self._idle.pop())

    def read(self, work: Callable[[Cursor], T]) -> T:
        """Carry out a function that only reads; it sees one state of the database."""
        return self._tried((self._store.read_only(),), work)

    def write(self, work: Callable[[Cursor], T], *, durable: bool = True) -> T:
        """Carry out a function that writes: all of it is kept, or nothing.

        PostgreSQL may end a transaction because of another one; then the function is called again. Without `durable` a
        loss of power may take it back, but never without everything after it; a killed process loses nothing.
        """
        begin = self._store.begin(durable)
        if self.postgres:
            return self._tried(begin, work)
        with self._waited(self._gate):
            return self._tried(begin, work)

    def _tried(self, begin: Sequence[str], work: Callable[[Cursor], T]) -> T:
        for left in reversed(range(_TRIES)):
            try:
                with self._waited(self._free), self._transaction(begin) as cursor:
                    return work(cursor)
            except Exception as error:
                if not passing(error):
                    raise
                if not left:
                    raise self._unusable(error) from error
        raise AssertionError("the last try returns or raises")

    @contextmanager
    def _waited(self, lock: Any) -> Iterator[None]:
        if not lock.acquire(timeout=WAIT):
            raise MohsError(f"The study {self.place} cannot be used (others have kept it busy for {WAIT} seconds).")
        try:
            yield
        finally:
            lock.release()

    @contextmanager
    def _transaction(self, begin: Sequence[str]) -> Iterator[Cursor]:
        connection = self._begun(begin)
        raw = connection.cursor()
        try:
            yield Cursor(raw, self.postgres)
            raw.execute("COMMIT")
        except BaseException as error:
            try:
                raw.execute("ROLLBACK")
            except Exception:
                _close(connection)  # SQLite ends some transactions by itself; a new connection costs little
            else:
                self._give_back(connection)
            if self._store.is_fault(error) and not passing(error):
                raise self._unusable(error) from error
            raise
        self._give_back(connection)

    def _begun(self, begin: Sequence[str]) -> Any:
        """A connection with a new transaction. Those that a restart of the server has cut are replaced."""
        while True:
            try:
                connection, kept = self._idle.pop(), True
            except IndexError:
                connection, kept = self._store.connect(), False
            try:
                for statement in begin:
                    connection.execute(statement)
                return connection
            except BaseException as error:
                stale = kept and self._store.is_stale(connection)
                _close(connection)
                if stale:
                    continue
                if self._store.is_fault(error):
                    raise self._unusable(error) from error
                raise

    def _give_back(self, connection: Any) -> None:
        self._idle.append(connection)
        if self._closed:
            self.close()

    def _unusable(self, error: BaseException) -> MohsError:
        return MohsError(f"The study {self.place} cannot be used ({said(error)}).")


def passing(error: BaseException) -> bool:
    """Whether PostgreSQL ended a transaction because of another one, so that it should be tried again."""
    return getattr(error, "sqlstate", None) in ("40001", "40P01")


def _close(connection: Any) -> None:
    with suppress(Exception):
        connection.close()
