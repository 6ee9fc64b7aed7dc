"""A study: its design, items, annotators and judgements in one database."""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from mohs.errors import BadInput
from mohs.studies.database import Cursor, Database, is_address
from mohs.studies.design import Design, design_of
from mohs.studies.item import COUNTED, PEOPLE, Annotator, Item, Judgement, Kind, Role, State
from mohs.studies.sense import rule_fault

FORMAT = "mohs-study-1"
_TABLES = (
    "CREATE TABLE study (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE items (number INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, question TEXT NOT NULL, "
    "kind TEXT NOT NULL, source TEXT NOT NULL, role TEXT NOT NULL, content TEXT NOT NULL, "
    "room INTEGER CHECK (room >= 0))",
    "CREATE INDEX items_with_room ON items (number) WHERE room > 0",
    "CREATE TABLE annotators (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, "
    "token TEXT UNIQUE, state TEXT NOT NULL, statement INTEGER NOT NULL, named INTEGER NOT NULL, "
    "batch INTEGER NOT NULL, made DOUBLE PRECISION NOT NULL, agreed DOUBLE PRECISION)",
    "CREATE TABLE judgements (item INTEGER NOT NULL REFERENCES items, annotator INTEGER NOT NULL "
    "REFERENCES annotators, batch INTEGER NOT NULL, place INTEGER NOT NULL, statement INTEGER NOT NULL, "
    "swapped INTEGER NOT NULL, expires DOUBLE PRECISION NOT NULL, shown DOUBLE PRECISION, "
    "spent DOUBLE PRECISION NOT NULL, answer INTEGER, seconds DOUBLE PRECISION, at DOUBLE PRECISION, "
    "PRIMARY KEY (item, annotator))",
    "CREATE TABLE lost (item INTEGER NOT NULL, annotator INTEGER NOT NULL, batch INTEGER NOT NULL, "
    "statement INTEGER NOT NULL, swapped INTEGER NOT NULL, PRIMARY KEY (item, annotator))",
    "CREATE INDEX judgements_of ON judgements (annotator, batch)",
    "CREATE INDEX judgements_open ON judgements (expires) WHERE answer IS NULL",
)


class Invitation(NamedTuple):
    """An annotator and the secret part of their link, which is shown once: the database has only its hash."""

    name: str
    token: str


@dataclass(frozen=True)
class Part:
    """Judgements made elsewhere by annotators of one kind. aside: they do not count, and neither do the annotators."""

    judgements: Sequence[Judgement]
    kind: Kind
    named: bool = True
    aside: bool = False


class _Dry(Exception):
    """Ends a transaction of which nothing is to be kept."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self.count = count


@dataclass(frozen=True)
class Progress:
    """How far a study is. Judgements are those that count, of people, about main items."""

    items: int  # main items
    complete: int  # of these, with as many judgements as the design wants
    judgements: int
    wanted: int
    annotators: int  # people
    by_state: dict[str, int]


class Study:
    """A study. Also a context manager, which closes the database at the end."""

    def __init__(self, database: Database) -> None:
        self._db = database
        told = dict(self._db.read(_facts))
        if told.get("format") != FORMAT:
            raise BadInput(f"{database.place} holds no study that this version reads ({told.get('format')!r}).")
        self.place = database.place
        self.design: Design = design_of(told["design"], f"of {database.place}")
        self.source: dict[str, Any] = json.loads(told["source"])
        self.seed: int = int(told["seed"])
        self._secret = bytes.fromhex(told["secret"])

    @classmethod
    def create(cls, place: str | Path, design: Design, items: Iterable[Item], *, seed: int = 0, **source: Any) -> Study:
        """Make a study. The items are put into a random order, which the seed decides.

        It is there as a whole or not at all: if this was cut off before, it can be called again for the same place.
        source: what the study was made from, for the report.
        """
        rows = list(items)
        if len({item.key for item in rows}) < len(rows):
            raise BadInput("Two items of the study have the same key.")
        if not any(item.role is Role.MAIN for item in rows):
            raise BadInput("The study has no items to judge.")
        for item in rows:
            design.question(item.question)
        if fault := rule_fault(design):
            raise BadInput(f"The design {design.name}: {fault}.")
        rows.sort(key=lambda item: item.key)
        Random(f"{seed}/study/order").shuffle(rows)
        database = Database(str(place), create=True)
        told = {
            "format": FORMAT,
            "design": design.to_yaml(),
            "source": json.dumps(source),
            "seed": str(seed),
            "secret": secrets.token_hex(16),
        }

        def fill(cursor: Cursor) -> None:
            if cursor.postgres:
                cursor.one("SELECT pg_advisory_xact_lock(hashtext(current_schema()))")  # two starts at once
            if _there(cursor):
                remedy = "name another one with ?study=NAME" if cursor.postgres else "name a new folder"
                raise BadInput(f"{database.place} already holds a study; {remedy}, or go on with that one.")
            for statement in _TABLES:
                cursor.do(statement)
            cursor.many("INSERT INTO study VALUES (?, ?)", list(told.items()))
            _add_items(cursor, rows, design, 1)

        try:
            database.write(fill)
        except BaseException:
            database.close()
            raise
        return cls(database)

    @classmethod
    def open(cls, place: str | Path) -> Study:
        """Open a study in a folder or a database."""
        database = Database(str(place))
        try:
            if not database.read(_there):
                raise BadInput(f"{database.place} holds no study; make one with `mohs study new`.")
            return cls(database)
        except BaseException:
            database.close()
            raise

    @property
    def database(self) -> Database:
        """The connections, for the desk that hands items out."""
        return self._db

    @property
    def folder(self) -> Path | None:
        """The study's folder; None on PostgreSQL."""
        return None if is_address(self.place) else Path(self.place).expanduser()

    def code(self, purpose: str) -> str:
        """A short code that only this study can make: for the end of the work, or for the organiser."""
        return hmac.new(self._secret, purpose.encode(), hashlib.sha256).hexdigest()[:20]

    def items(self) -> list[Item]:
        """All items, in the order in which they are handed out."""
        rows = self._db.read(lambda c: c.all(f"SELECT {ITEM} FROM items ORDER BY number"))
        return [Item.of(*row) for row in rows]

    def annotators(self) -> list[Annotator]:
        """Everybody who judges or was invited to."""
        rows = self._db.read(lambda c: c.all(f"SELECT {_ANNOTATOR} FROM annotators ORDER BY number"))
        return [_annotator(row) for row in rows]

    def judgements(self) -> list[Judgement]:
        """All answers, also those of people set aside, models and simulated judges (see `annotators`)."""
        rows = self._db.read(
            lambda c: c.all(
                "SELECT i.key, a.name, j.answer, j.statement, j.swapped, j.seconds, j.at, j.batch FROM judgements j "
                "JOIN items i ON i.number = j.item JOIN annotators a ON a.number = j.annotator "
                "WHERE j.answer IS NOT NULL ORDER BY j.item, j.annotator"
            )
        )
        return [Judgement(row[0], row[1], row[2], row[3], bool(row[4]), *row[5:]) for row in rows]

    def invite(self, names: Sequence[str] = (), n: int = 0) -> list[Invitation]:
        """Add annotators, by these names or so many with numbers, and give the secret of each one's link."""
        return self._db.write(lambda c: self._invited(c, names, n))

    def _invited(self, cursor: Cursor, names: Sequence[str], n: int) -> list[Invitation]:
        self.one_at_a_time(cursor)
        first = _next_annotator(cursor)
        wanted = [*names, *(f"annotator-{number}" for number in range(first + len(names), first + len(names) + n))]
        found = [Invitation(name, secrets.token_urlsafe(24)) for name in wanted]
        for number, one in enumerate(found, first):
            _free(cursor, one.name)
            self._insert(cursor, number, one.name, Kind.PERSON, hash_of(one.token), State.INVITED)
        return found

    def _insert(
        self, cursor: Cursor, number: int, name: str, kind: Kind, token: str | None, state: State, named: bool = True
    ) -> None:
        most = max(len(question.statements) for question in self.design.questions)
        turn, place = divmod(number - 1, most)  # by chance, and yet each is read equally often
        statement = Random(f"{self._secret.hex()}/statement/{turn}").sample(range(most), most)[place]
        row = (number, name, str(kind), token, str(state), statement, int(named), 0, time.time())
        cursor.do(
            "INSERT INTO annotators (number, name, kind, token, state, statement, named, batch, made) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            *row,
        )

    def link_again(self, name: str) -> Invitation:
        """A new link for an annotator who lost theirs; the old one stops working."""
        token = secrets.token_urlsafe(24)
        changed = self._db.write(
            lambda c: c.do(
                "UPDATE annotators SET token = ? WHERE name = ? AND kind = ?", hash_of(token), name, str(Kind.PERSON)
            )
        )
        if not changed:
            raise BadInput(
                f"Nobody called {name!r} was invited to {self.place}; `mohs study status -v` lists everybody."
            )
        return Invitation(name, token)

    def annotator(self, token: str) -> Annotator | None:
        """Who has this link; None if nobody has."""
        row = self._db.read(lambda c: c.one(f"SELECT {_ANNOTATOR} FROM annotators WHERE token = ?", hash_of(token)))
        return None if row is None else _annotator(row)

    def locked(self, cursor: Cursor, number: int) -> Annotator | None:
        """An annotator, whose other requests wait until this transaction ends."""
        row = cursor.one(f"SELECT {_ANNOTATOR} FROM annotators WHERE number = ? FOR UPDATE", number)
        return None if row is None else _annotator(row)

    def set_aside(self, name: str) -> int:
        """Stop counting what an annotator judged, and hand their items to others. Returns how many judgements."""
        return self._db.write(lambda c: self._aside(c, name))

    def _aside(self, cursor: Cursor, name: str) -> int:
        row = cursor.one(f"SELECT {_ANNOTATOR} FROM annotators WHERE name = ? FOR UPDATE", name)
        if row is None:
            raise BadInput(f"There is no annotator {name!r} in {self.place}; `mohs study status -v` lists them.")
        if row[3] == State.ASIDE:
            return 0
        self.one_at_a_time(cursor)
        kind, number = Kind(row[2]), row[0]
        held = cursor.all("SELECT item, answer FROM judgements WHERE annotator = ? ORDER BY item FOR UPDATE", number)
        cursor.do("DELETE FROM judgements WHERE annotator = ? AND answer IS NULL", number)
        cursor.do("UPDATE annotators SET state = ? WHERE number = ?", str(State.ASIDE), number)
        if kind in PEOPLE:
            for item, _ in held:
                self.make_room(cursor, item)
        return sum(answer is not None for _, answer in held)

    def make_room(self, cursor: Cursor, item: int) -> None:
        """After a judgement or a reservation is gone: how many more an item may get.

        Judgements made elsewhere may be more than the design wants, so this counts instead of adding one.
        """
        row = cursor.one("SELECT room FROM items WHERE number = ? FOR UPDATE", item)
        if row is None or row[0] is None:
            return
        people = ", ".join(f"'{kind}'" for kind in PEOPLE)
        taken = cursor.one(
            "SELECT count(*) FROM judgements j JOIN annotators a ON a.number = j.annotator "
            f"WHERE j.item = ? AND a.kind IN ({people}) AND a.state <> ?",
            item,
            str(State.ASIDE),
        )
        assert taken is not None
        cursor.do("UPDATE items SET room = ? WHERE number = ?", max(0, self.design.judges - int(taken[0])), item)

    def one_at_a_time(self, cursor: Cursor) -> None:
        """Wait for others who hand out items or add annotators, until this transaction ends."""
        cursor.one("SELECT value FROM study WHERE name = 'seed' FOR UPDATE")

    def add(
        self,
        judgements: Iterable[Judgement],
        kind: Kind,
        *,
        items: Sequence[Item] = (),
        named: bool = True,
    ) -> int:
        """Add judgements made elsewhere, and items that are not there yet. Returns how many were new.

        A judgement that is there already is left as it is, so that a file can be imported again.
        """
        return self.add_parts([Part(tuple(judgements), kind, named)], items)

    def add_parts(self, parts: Sequence[Part], items: Sequence[Item] = (), *, dry: bool = False) -> int:
        """Add judgements of several kinds: all or nothing. dry: nothing, and only say how many would be new."""

        def work(cursor: Cursor) -> int:
            self.one_at_a_time(cursor)
            self._add_missing(cursor, items)
            count = sum(self._added(cursor, part) for part in parts)
            if dry:
                raise _Dry(count)
            return count

        try:
            return self._db.write(work)
        except _Dry as found:
            return found.count

    def _add_missing(self, cursor: Cursor, items: Sequence[Item]) -> None:
        known = {row[0] for row in cursor.all("SELECT key FROM items")}
        last = cursor.one("SELECT coalesce(max(number), 0) FROM items")
        assert last is not None
        _add_items(cursor, [item for item in items if item.key not in known], self.design, last[0] + 1)

    def _added(self, cursor: Cursor, part: Part) -> int:
        known: dict[str, tuple[int, str, str]] = {
            key: (number, question, role)
            for number, key, question, role in cursor.all("SELECT number, key, question, role FROM items")
        }
        people: dict[str, tuple[int, str, str]] = {
            name: (number, kind, state)
            for number, name, kind, state in cursor.all("SELECT number, name, kind, state FROM annotators")
        }
        following = _next_annotator(cursor)
        there = set(cursor.all("SELECT item, annotator FROM judgements WHERE answer IS NOT NULL"))
        new: list[tuple[Any, ...]] = []
        for one in part.judgements:
            if one.item not in known:
                raise BadInput(f"The study has no item {one.item!r}; import the judgements of this study's items.")
            number, question, role = known[one.item]
            asked = self.design.question(question)
            if one.value not in asked.values or not 0 <= one.statement < len(asked.statements):
                raise BadInput(
                    f"The item {one.item!r} has the answer {one.value!r}, and the answers are "
                    f"{', '.join(map(str, asked.values))}."
                )
            if one.annotator not in people:
                _check_name(one.annotator)
                state = State.ASIDE if part.aside else State.FINISHED
                people[one.annotator] = following, str(part.kind), str(state)
                self._insert(cursor, following, one.annotator, part.kind, None, state, part.named)
                following += 1
            who, own, state_now = people[one.annotator]
            if own != part.kind and not {own, part.kind} <= set(PEOPLE):
                raise BadInput(f"The annotator {one.annotator!r} is of the kind {own}, not {part.kind}; rename them.")
            if (number, who) in there:
                continue
            there.add((number, who))
            held = cursor.do("DELETE FROM judgements WHERE item = ? AND annotator = ? AND answer IS NULL", number, who)
            row = (number, who, one.batch, 0, one.statement, int(one.swapped), time.time(), 0.0)
            new.append((*row, one.value, one.seconds, one.at))
            if own in PEOPLE and role in COUNTED and state_now != State.ASIDE and not held:
                cursor.do("UPDATE items SET room = room - 1 WHERE number = ? AND room > 0", number)
        cursor.many(
            "INSERT INTO judgements (item, annotator, batch, place, statement, swapped, expires, spent, answer, "
            "seconds, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            new,
        )
        return len(new)

    def progress(self) -> Progress:
        """How far the study is."""
        return self._db.read(self._progress)

    def _progress(self, cursor: Cursor) -> Progress:
        people = ", ".join(f"'{kind}'" for kind in PEOPLE)
        row = cursor.one(
            "SELECT count(*), coalesce(sum(CASE WHEN room = 0 AND NOT EXISTS "  # nobody still holds it
            "(SELECT 1 FROM judgements j WHERE j.item = items.number AND j.answer IS NULL) THEN 1 ELSE 0 END), 0) "
            "FROM items WHERE role = ?",
            str(Role.MAIN),
        )
        counted = cursor.one(
            "SELECT count(*) FROM judgements j JOIN items i ON i.number = j.item JOIN annotators a "
            f"ON a.number = j.annotator WHERE j.answer IS NOT NULL AND i.role = ? AND a.kind IN ({people}) "
            "AND a.state <> ?",
            str(Role.MAIN),
            str(State.ASIDE),
        )
        states = cursor.all(
            f"SELECT state, count(*) FROM annotators WHERE kind IN ({people}) GROUP BY state ORDER BY state"
        )
        assert row is not None
        assert counted is not None
        by_state = {str(state): int(count) for state, count in states}
        wanted = int(row[0]) * self.design.judges
        return Progress(int(row[0]), int(row[1]), int(counted[0]), wanted, sum(by_state.values()), by_state)

    def close(self) -> None:
        """Close the database."""
        self._db.close()

    def __enter__(self) -> Study:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Study {self.design.name} in {self.place}>"


ITEM = "key, question, kind, role, content"
_ANNOTATOR = "number, name, kind, state, statement, named"


def _annotator(row: tuple[Any, ...]) -> Annotator:
    return Annotator(row[0], row[1], Kind(row[2]), State(row[3]), row[4], bool(row[5]))


def hash_of(token: str) -> str:
    """What is stored of a secret link. Secrets are random, so a plain hash is enough."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


def _facts(cursor: Cursor) -> list[tuple[str, str]]:
    return [(name, value) for name, value in cursor.all("SELECT name, value FROM study")]


def _there(cursor: Cursor) -> bool:
    if cursor.postgres:
        found = cursor.one("SELECT to_regclass('study')")
        return found is not None and found[0] is not None
    return cursor.one("SELECT name FROM sqlite_master WHERE type = 'table' AND name = 'study'") is not None


def _add_items(cursor: Cursor, items: Sequence[Item], design: Design, first: int) -> None:
    rows = [
        (
            number,
            item.key,
            item.question,
            item.group,
            item.source,
            str(item.role),
            item.content(),
            design.judges if item.role in COUNTED else None,
        )
        for number, item in enumerate(items, first)
    ]
    cursor.many("INSERT INTO items VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)


def _next_annotator(cursor: Cursor) -> int:
    found = cursor.one("SELECT coalesce(max(number), 0) FROM annotators")
    assert found is not None
    return int(found[0]) + 1


def _free(cursor: Cursor, name: str) -> None:
    _check_name(name)
    if cursor.one("SELECT 1 FROM annotators WHERE name = ?", name) is not None:
        raise BadInput(f"There is an annotator {name!r} already; choose another name, or `--again {name}` for a link.")


def _check_name(name: str) -> None:
    if not name.strip() or len(name) > 80 or not name.isprintable():
        raise BadInput(f"An annotator cannot be called {name[:90]!r}; use 1 to 80 characters that can be printed.")
