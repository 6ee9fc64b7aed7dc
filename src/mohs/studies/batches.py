"""Batches: which items an annotator gets next, and what happens to those that were not answered in time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from mohs.studies.database import Cursor
from mohs.studies.item import Annotator, Role, State
from mohs.studies.study import Study

_LOOKED_AT = 2000  # items with room from which a batch is chosen


class Batches:
    """The batches of one study. Every method is a part of a transaction."""

    def __init__(self, study: Study, clock: Callable[[], float]) -> None:
        self.hold = study.design.minutes * 60  # seconds
        self._study = study
        self._design = study.design
        self._clock = clock
        self._questions: dict[int, str] = {}  # of items, which never change

    def release(self, cursor: Cursor, which: str, *values: Any) -> None:
        """Take back open items; those of main and accuracy items go to somebody else."""
        self._study.one_at_a_time(cursor)
        rows = cursor.all(
            f"SELECT item, annotator, batch, statement, swapped FROM judgements WHERE answer IS NULL AND {which}",
            *values,
        )
        for item, annotator, *rest in sorted(rows):
            gone = cursor.do(  # asked again, since its annotator may have answered or looked at it in the meantime
                f"DELETE FROM judgements WHERE item = ? AND annotator = ? AND answer IS NULL AND {which}",
                *(item, annotator, *values),
            )
            if gone:
                self._study.make_room(cursor, item)
                cursor.do("DELETE FROM lost WHERE item = ? AND annotator = ?", item, annotator)
                cursor.do("INSERT INTO lost VALUES (?, ?, ?, ?, ?)", item, annotator, *rest)

    def candidates(self, cursor: Cursor, annotator: int, at_most: int) -> list[tuple[int, str, str]]:
        """Items that an annotator may still judge, in the study's order: number, group and source."""
        rows = cursor.all(
            "SELECT i.number, i.kind, i.source FROM items i WHERE i.room > 0 AND NOT EXISTS "
            "(SELECT 1 FROM judgements j WHERE j.item = i.number AND j.annotator = ?) ORDER BY i.number LIMIT ?",
            annotator,
            at_most,
        )
        return [(int(number), str(kind), str(source)) for number, kind, source in rows]

    def begin(self, cursor: Cursor, person: Annotator) -> bool:
        """Reserve the next batch for an annotator. Returns whether there was anything for them.

        What nobody else can be waiting for is not taken back from others: training items, which everybody has alone.
        """
        now = self._clock()
        self.release(
            cursor,
            "expires < ? AND annotator <> ? AND NOT EXISTS "
            "(SELECT 1 FROM items i WHERE i.number = judgements.item AND i.role = ?)",
            *(now, person.number, str(Role.TRAINING)),
        )
        if person.state is State.TRAINING:
            chosen, controls = self._training_items(cursor, person.number), []
        else:
            chosen = self._reserved(cursor, person.number)
            controls = self._controls(cursor, person.number) if chosen else []
        if not chosen:
            return False
        row = cursor.one("SELECT batch FROM annotators WHERE number = ?", person.number)
        assert row is not None
        batch = int(row[0]) + 1
        chance = Random(f"{self._study.seed}/batch/{person.number}/{batch}")
        for control in controls:
            chosen.insert(chance.randrange(len(chosen) + 1), control)
        rows = [
            (
                item,
                person.number,
                batch,
                place,
                self._statement(cursor, item, person),
                int(self._design.shuffled and chance.random() < 0.5),
                now + self.hold,
                0.0,
            )
            for place, item in enumerate(chosen, 1)
        ]
        cursor.many(
            "INSERT INTO judgements (item, annotator, batch, place, statement, swapped, expires, spent) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            rows,
        )
        cursor.do("UPDATE annotators SET batch = ? WHERE number = ?", batch, person.number)
        return True

    def _statement(self, cursor: Cursor, item: int, person: Annotator) -> int:
        if item not in self._questions:
            row = cursor.one("SELECT question FROM items WHERE number = ?", item)
            assert row is not None
            self._questions[item] = str(row[0])
        return person.statement % len(self._design.question(self._questions[item]).statements)

    def _training_items(self, cursor: Cursor, annotator: int) -> list[int]:
        rows = [
            row[0] for row in cursor.all("SELECT number FROM items WHERE role = ? ORDER BY number", str(Role.TRAINING))
        ]
        training = self._design.training
        assert training is not None
        chance = Random(f"{self._study.seed}/training/{annotator}")
        had = {row[0] for row in cursor.all("SELECT item FROM judgements WHERE annotator = ?", annotator)}
        return [row for row in chance.sample(rows, min(training.items, len(rows))) if row not in had]

    def _controls(self, cursor: Cursor, annotator: int) -> list[int]:
        """The next controls that an annotator has not seen; they come in another order for each."""
        rows = [
            row[0]
            for row in cursor.all(
                "SELECT number FROM items i WHERE role = ? AND NOT EXISTS "
                "(SELECT 1 FROM judgements j WHERE j.item = i.number AND j.annotator = ?) ORDER BY number",
                str(Role.CONTROL),
                annotator,
            )
        ]
        return Random(f"{self._study.seed}/controls/{annotator}").sample(rows, len(rows))[
            : self._design.controls_a_batch
        ]

    def _reserved(self, cursor: Cursor, annotator: int) -> list[int]:
        """Items for a batch, each with one place taken: of one group, and of different sources if there are enough."""
        found = self.candidates(cursor, annotator, _LOOKED_AT)
        if not found:
            return []
        if self._design.same_group:
            found = [one for one in found if one[1] == found[0][1]]
        seen = {
            row[0]
            for row in cursor.all(
                "SELECT i.source FROM judgements j JOIN items i ON i.number = j.item WHERE j.annotator = ?", annotator
            )
        }
        taken: list[int] = []
        for number in _spread(found, seen):
            if len(taken) == self._design.batch:
                break
            if cursor.do("UPDATE items SET room = room - 1 WHERE number = ? AND room > 0", number):
                taken.append(number)
        return taken


def _spread(found: Sequence[tuple[int, str, str]], seen: set[str]) -> list[int]:
    """Items of sources that were not seen first, then the others."""
    first: list[int] = []
    others: list[int] = []
    known = set(seen)
    for number, _, source in found:
        (others if source in known else first).append(number)
        known.add(source)
    return first + others
