"""The desk hands items out and takes answers in, each in one transaction.

So two people at once never give more judgements for an item than the design wants, an abandoned item comes back, and a
double submit counts once.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from mohs.studies.batches import Batches
from mohs.studies.database import Cursor
from mohs.studies.item import COUNTED, ENDED, Annotator, Item, Role, State
from mohs.studies.study import ITEM, Study

_RENEWED = 0.9  # of the time that an item is held must be left, or looking at it holds the batch for longer


class Phase(StrEnum):
    """What an annotator sees next."""

    CONSENT = "consent"
    TASK = "task"
    REST = "rest"  # a batch is done; another can be started
    WAIT = "wait"  # others hold what is left
    END = "end"


class Taken(StrEnum):
    """What became of an answer."""

    KEPT = "kept"
    CHANGED = "changed"  # it replaced the annotator's own
    REPEATED = "repeated"  # it was there already: a double submit
    GONE = "gone"  # the item was handed to somebody else in the meantime
    REFUSED = "refused"  # not this annotator's item, or no such answer


@dataclass(frozen=True)
class Task:
    """An item for one annotator, as they see it."""

    number: int  # of the item, which means something only together with the annotator
    item: Item
    statement: int
    swapped: bool
    place: int  # in the batch, from 1
    of: int  # items in the batch
    answer: int | None = None  # what they answered, if they look at it again

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts in the order shown."""
        return self.item.texts[::-1] if self.swapped else self.item.texts


@dataclass(frozen=True)
class Feedback:
    """After a training item: what was answered, and what was right."""

    item: Item
    answer: int
    right: bool


@dataclass(frozen=True)
class Standing:
    """Where an annotator is."""

    phase: Phase
    annotator: Annotator
    task: Task | None = None
    back: int | None = None  # the item before this one, or the last one at rest, whose answer can still be changed
    feedback: Feedback | None = None
    done: int = 0  # items answered, without training; controls count, or they would give themselves away
    training: tuple[int, int] | None = None  # training items right, and answered


class Desk:
    """The desk of one study. clock: seconds since 1970, for tests."""

    def __init__(self, study: Study, clock: Callable[[], float] = time.time) -> None:
        self.study = study
        self._db = study.database
        self._design = study.design
        self._clock = clock
        self._batches = Batches(study, clock)

    def at(self, annotator: int) -> Standing:
        """Where an annotator is; the time they see an item begins to count."""
        return self._db.write(lambda c: self._at(c, annotator), durable=False)

    def agree(self, annotator: int) -> Standing:
        """The annotator agrees to take part, and gets their first batch."""

        def work(cursor: Cursor) -> Standing:
            person = self._locked(cursor, annotator)
            if person.state is State.INVITED:
                self._state(cursor, annotator, State.TRAINING if self._design.training else State.WORKING)
                cursor.do("UPDATE annotators SET agreed = ? WHERE number = ?", self._clock(), annotator)
                self._begin(cursor, annotator)
            return self._at(cursor, annotator)

        return self._db.write(work)

    def more(self, annotator: int) -> Standing:
        """The annotator asks for another batch."""

        def work(cursor: Cursor) -> Standing:
            person = self._locked(cursor, annotator)
            if person.state is State.FINISHED:  # others may have left something behind since
                self._state(cursor, annotator, State.WORKING)
                person = self._locked(cursor, annotator)
            if person.state in (State.TRAINING, State.WORKING) and not self._open(cursor, annotator):
                self._begin(cursor, annotator)
            return self._at(cursor, annotator)

        return self._db.write(work, durable=False)

    def answer(self, annotator: int, item: int, value: int) -> Taken:
        """Take an answer. What this returns is kept, whatever happens to the process afterwards."""
        return self._db.write(lambda c: self._answered(c, annotator, item, value))

    def look_back(self, annotator: int, item: int) -> Task | None:
        """An item of the current batch that was answered, to change the answer; None if it cannot be changed."""
        return self._db.read(lambda c: self._changeable(c, annotator, item))

    def before(self, annotator: int, item: int) -> int | None:
        """The item before one that is looked at again; None if it is the first."""
        return self._db.read(lambda c: self._before(c, annotator, item))

    def pause(self, annotator: int) -> None:
        """The annotator pauses: the time until they see the item again does not count."""
        now = self._clock()
        self._db.write(
            lambda c: c.do(
                "UPDATE judgements SET spent = spent + CASE WHEN shown < ? THEN ? - shown ELSE 0 END, shown = NULL "
                "WHERE annotator = ? AND answer IS NULL AND shown IS NOT NULL",
                *(now, now, annotator),
            ),
            durable=False,
        )

    def withdraw(self, annotator: int) -> None:
        """The annotator leaves. What they answered stays; what they hold goes to others."""

        def work(cursor: Cursor) -> None:
            if self._locked(cursor, annotator).state not in ENDED:
                self._state(cursor, annotator, State.WITHDRAWN)
            self._batches.release(cursor, "annotator = ?", annotator)

        self._db.write(work)

    # Each of these is a part of a transaction.

    def _locked(self, cursor: Cursor, annotator: int) -> Annotator:
        found = self.study.locked(cursor, annotator)
        assert found is not None, "the annotator was found by a link"
        return found

    def _state(self, cursor: Cursor, annotator: int, state: State) -> None:
        cursor.do("UPDATE annotators SET state = ? WHERE number = ?", str(state), annotator)

    def _begin(self, cursor: Cursor, annotator: int) -> None:
        """The next batch. Who has nothing left to train on has been trained."""
        person = self._locked(cursor, annotator)
        if self._batches.begin(cursor, person) or person.state is not State.TRAINING:
            return
        self._qualify(cursor, annotator)
        person = self._locked(cursor, annotator)
        if person.state is State.WORKING:
            self._batches.begin(cursor, person)

    def _open(self, cursor: Cursor, annotator: int) -> list[tuple[int, float | None, float]]:
        """What an annotator holds, in the order of the batch: item, since when they see it, until when it is theirs.

        Until the transaction ends nobody can take it from them.
        """
        rows = cursor.all(
            "SELECT item, shown, expires, batch, place FROM judgements WHERE annotator = ? AND answer IS NULL "
            "ORDER BY item FOR UPDATE",
            annotator,
        )
        return [(item, shown, expires) for item, shown, expires, *_ in sorted(rows, key=lambda row: row[3:])]

    def _at(self, cursor: Cursor, annotator: int) -> Standing:
        person = self._locked(cursor, annotator)
        if person.state is State.INVITED:
            return Standing(Phase.CONSENT, person)
        done = self._done(cursor, annotator)
        training = self._trained(cursor, annotator) if self._design.training else None
        if person.state in ENDED:
            return Standing(Phase.END, person, done=done, training=training)
        held = self._open(cursor, annotator)
        feedback = self._feedback(cursor, annotator) if self._design.training else None
        if not held:
            phase = self._idle(cursor, person)
            back = None if phase is Phase.END else self._before(cursor, annotator, None)
            return Standing(phase, self._locked(cursor, annotator), None, back, feedback, done, training)
        number, shown, expires = held[0]
        now = self._clock()
        if shown is None:
            cursor.do("UPDATE judgements SET shown = ? WHERE annotator = ? AND item = ?", now, annotator, number)
        if expires < now + _RENEWED * self._batches.hold:  # who works on a batch keeps all of it
            until = now + self._batches.hold
            cursor.do("UPDATE judgements SET expires = ? WHERE annotator = ? AND answer IS NULL", until, annotator)
        task = self._task(cursor, annotator, number)
        back = self._before(cursor, annotator, number)
        return Standing(Phase.TASK, person, task, back, feedback, done, training)

    def _before(self, cursor: Cursor, annotator: int, item: int | None) -> int | None:
        """The item before one of the current batch, or its last one, if its answer can still be changed."""
        row = cursor.one(
            "SELECT j.item FROM judgements j JOIN items i ON i.number = j.item "
            "JOIN annotators a ON a.number = j.annotator AND a.batch = j.batch "
            "WHERE j.annotator = ? AND j.answer IS NOT NULL AND i.role <> ? AND j.place < coalesce("
            "(SELECT k.place FROM judgements k WHERE k.annotator = j.annotator AND k.item = ?), 1000000) "
            "ORDER BY j.place DESC LIMIT 1",
            annotator,
            str(Role.TRAINING),
            item,
        )
        return None if row is None else int(row[0])

    def _done(self, cursor: Cursor, annotator: int) -> int:
        row = cursor.one(
            "SELECT count(*) FROM judgements j JOIN items i ON i.number = j.item "
            "WHERE j.annotator = ? AND j.answer IS NOT NULL AND i.role <> ?",
            annotator,
            str(Role.TRAINING),
        )
        assert row is not None
        return int(row[0])

    def _idle(self, cursor: Cursor, person: Annotator) -> Phase:
        """Without an open item: whether there is more to judge, now, later or never."""
        if person.state is State.TRAINING:
            return Phase.REST
        if self._batches.candidates(cursor, person.number, at_most=1):
            return Phase.REST
        held = cursor.one(
            "SELECT 1 FROM judgements j JOIN items i ON i.number = j.item WHERE j.answer IS NULL "
            "AND i.room IS NOT NULL AND NOT EXISTS "
            "(SELECT 1 FROM judgements k WHERE k.item = j.item AND k.annotator = ?) LIMIT 1",
            person.number,
        )
        if held is not None:
            return Phase.WAIT
        self._state(cursor, person.number, State.FINISHED)
        return Phase.END

    def _task(self, cursor: Cursor, annotator: int, number: int) -> Task:
        row = cursor.one(
            "SELECT statement, swapped, place, answer, "
            "(SELECT count(*) FROM judgements k WHERE k.annotator = j.annotator AND k.batch = j.batch) "
            "FROM judgements j WHERE annotator = ? AND item = ?",
            annotator,
            number,
        )
        item = cursor.one(f"SELECT {ITEM} FROM items WHERE number = ?", number)
        assert row is not None
        assert item is not None
        return Task(number, Item.of(*item), row[0], bool(row[1]), row[2], row[4], row[3])

    def _feedback(self, cursor: Cursor, annotator: int) -> Feedback | None:
        """About the last answer, if it was about a training item."""
        row = cursor.one(
            "SELECT item, answer, statement FROM judgements WHERE annotator = ? AND answer IS NOT NULL "
            "ORDER BY batch DESC, place DESC LIMIT 1",
            annotator,
        )
        if row is None:
            return None
        found = cursor.one(f"SELECT {ITEM} FROM items WHERE number = ?", row[0])
        assert found is not None
        item = Item.of(*found)
        if item.role is not Role.TRAINING:
            return None
        return Feedback(item, row[1], self._right(item, row[1], row[2]))

    def _right(self, item: Item, answer: int, statement: int) -> bool:
        return self._design.question(item.question).said(answer, statement) in item.expected

    def _trained(self, cursor: Cursor, annotator: int) -> tuple[int, int]:
        rows = cursor.all(
            "SELECT j.answer, j.statement, i.key, i.question, i.kind, i.role, i.content FROM judgements j "
            "JOIN items i ON i.number = j.item WHERE j.annotator = ? AND j.answer IS NOT NULL AND i.role = ?",
            annotator,
            str(Role.TRAINING),
        )
        return sum(self._right(Item.of(*row[2:]), row[0], row[1]) for row in rows), len(rows)

    def _answered(self, cursor: Cursor, annotator: int, item: int, value: int) -> Taken:
        person = self._locked(cursor, annotator)
        row = cursor.one(
            "SELECT answer, shown, spent FROM judgements WHERE annotator = ? AND item = ? FOR UPDATE", annotator, item
        )
        found = cursor.one(f"SELECT {ITEM} FROM items WHERE number = ?", item)
        if found is None or person.state in (State.ASIDE, State.INVITED, State.WITHDRAWN):
            return Taken.REFUSED
        asked = Item.of(*found)
        if value not in self._design.question(asked.question).values:
            return Taken.REFUSED
        if row is None:
            return self._late(cursor, annotator, item, value)
        now = self._clock()
        answer, shown, spent = row
        if answer is None:
            seconds = spent + (max(0.0, now - shown) if shown is not None else 0.0)  # clocks are set back at times
            self._keep(cursor, annotator, item, value, seconds, now)
            if asked.role is Role.TRAINING:
                self._qualify(cursor, annotator)
            return Taken.KEPT
        if answer == value or self._changeable(cursor, annotator, item) is None:
            return Taken.REPEATED
        self._keep(cursor, annotator, item, value, None, now)
        return Taken.CHANGED

    def _keep(self, cursor: Cursor, annotator: int, item: int, value: int, seconds: float | None, now: float) -> None:
        cursor.do(
            "UPDATE judgements SET answer = ?, seconds = coalesce(?, seconds), at = ?, shown = NULL "
            "WHERE annotator = ? AND item = ?",
            value,
            seconds,
            now,
            annotator,
            item,
        )

    def _late(self, cursor: Cursor, annotator: int, item: int, value: int) -> Taken:
        """An answer about an item that was taken back: it counts if nobody else has got its place."""
        row = cursor.one("SELECT batch, statement, swapped FROM lost WHERE annotator = ? AND item = ?", annotator, item)
        if row is None:
            return Taken.REFUSED
        role = cursor.one("SELECT role FROM items WHERE number = ?", item)
        limited = role is not None and role[0] in COUNTED
        if limited and not cursor.do("UPDATE items SET room = room - 1 WHERE number = ? AND room > 0", item):
            return Taken.GONE
        now = self._clock()
        cursor.do(
            "INSERT INTO judgements (item, annotator, batch, place, statement, swapped, expires, spent, answer, at) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            *(item, annotator, row[0], 0, row[1], row[2], now, 0.0, value, now),
        )
        cursor.do("DELETE FROM lost WHERE annotator = ? AND item = ?", annotator, item)
        return Taken.KEPT

    def _changeable(self, cursor: Cursor, annotator: int, item: int) -> Task | None:
        row = cursor.one(
            "SELECT j.batch, i.role, a.batch, a.state FROM judgements j JOIN items i ON i.number = j.item "
            "JOIN annotators a ON a.number = j.annotator "
            "WHERE j.annotator = ? AND j.item = ? AND j.answer IS NOT NULL",
            annotator,
            item,
        )
        if row is None or row[0] != row[2] or row[1] == Role.TRAINING or row[3] != State.WORKING:
            return None
        return self._task(cursor, annotator, item)

    def _qualify(self, cursor: Cursor, annotator: int) -> None:
        """After the last training item: who got enough right goes on."""
        training = self._design.training
        assert training is not None
        if self._open(cursor, annotator):
            return
        right, answered = self._trained(cursor, annotator)
        enough = right >= training.least * answered - 1e-9
        self._state(cursor, annotator, State.WORKING if enough else State.FAILED)
