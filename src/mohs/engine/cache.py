"""A cache of model answers on disk, so that a second run or another attack does not query the model again."""

from __future__ import annotations

import hashlib
import json
import secrets
import sqlite3
from bisect import insort
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mohs.errors import BadInput

_ITEMS_PER_QUERY = 500  # SQLite allows 999 parameters in its oldest builds
_SAMPLE = 32  # items of a model that are asked again before its answers are used
_PARTS_COMPARED = 3  # a file may hold answers of several models under one name; the newest are tried

_TABLES = """
CREATE TABLE IF NOT EXISTS answers (key BLOB PRIMARY KEY, answer TEXT) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS samples (
    model TEXT, part INTEGER, key BLOB, item TEXT, answer TEXT, PRIMARY KEY (model, part, key)
) WITHOUT ROWID;
"""


@dataclass
class _Part:
    """The answers of one model in a file, as it answers now."""

    model: str
    number: int  # rises, and is never used again
    valid: Callable[[Any], bool]
    sample: list[bytes] = field(default_factory=list)  # the least keys: a random choice of the items asked

    @property
    def name(self) -> str:
        return f"{self.model}/{self.number}"


class AnswerCache:
    """A SQLite table of (model fingerprint, item) -> answer. Items and answers must be JSON values.

    A fingerprint cannot see everything that a model's answers depend on. So `settle` asks a sample of the items again,
    and a model that answers differently gets a new part of the file.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = path
        self._parts: dict[str, _Part] = {}
        try:
            if path != ":memory:":
                Path(path).parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(path, isolation_level=None, timeout=30)
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=NORMAL")
            self._db.executescript(_TABLES)
            columns = [row[1] for row in self._db.execute("PRAGMA table_info(answers)")]
        except (sqlite3.Error, OSError) as error:
            raise BadInput(
                f"The answer cache {path} cannot be opened ({error}); delete it or name another file."
            ) from error
        if columns != ["key", "answer"]:
            self._db.close()
            raise BadInput(f"The file {path} is not an answer cache; name another file.")

    def settle(
        self,
        fingerprint: str,
        first: Sequence[Any],
        ask: Callable[[list[Any]], Sequence[Any]],
        same: Callable[[Any, Any], bool],
        valid: Callable[[Any], bool],
        code: str = "",
    ) -> None:
        """Find the part of the file with the answers of this model: it must answer a sample of the items as before.

        If there is none, a new part begins with the `first` items. code: what else tells two models apart. valid:
        what an answer of this model must obey; others in the file are ignored.
        """
        model = f"{fingerprint}/{code}"
        with self._reading():
            found = self._db.execute("SELECT DISTINCT part FROM samples WHERE model = ? ORDER BY part DESC", (model,))
            numbers = [int(row[0]) for row in found.fetchmany(_PARTS_COMPARED)]
        fitting = []
        for number in numbers:
            part = _Part(model, number, valid)
            known = self._sample(part)
            now = ask(list(known)) if known else []
            if known and all(new is not None and same(old, new) for old, new in zip(known.values(), now, strict=True)):
                fitting.append(part)
        if fitting:
            self._parts[fingerprint] = max(fitting, key=lambda part: len(part.sample))  # the newest of the fullest
            return
        newest = max(numbers, default=0) >> 32
        self._parts[fingerprint] = _Part(model, (newest + 1 << 32) + secrets.randbits(32), valid)
        answers = zip(first, ask(list(first)), strict=True)
        self.put(fingerprint, {item: answer for item, answer in answers if answer is not None})

    def get(self, fingerprint: str, items: Sequence[Any]) -> dict[Any, Any]:
        """The cached answers for these items. What cannot be an answer of this model is left out."""
        part = self._parts.get(fingerprint)
        keys = {_key(part.name if part else fingerprint, item): item for item in items}
        found: dict[bytes, Any] = {}
        ordered = list(keys)
        with self._reading():
            for start in range(0, len(ordered), _ITEMS_PER_QUERY):
                some = ordered[start : start + _ITEMS_PER_QUERY]
                marks = ",".join("?" * len(some))
                for key, text in self._db.execute(f"SELECT key, answer FROM answers WHERE key IN ({marks})", some):
                    answer = _unsealed(bytes(key), text)
                    if answer is not None and (part is None or part.valid(answer)):
                        found[bytes(key)] = answer
        return {item: found[key] for key, item in keys.items() if key in found}

    def put(self, fingerprint: str, answers: Mapping[Any, Any]) -> None:
        """Store answers in one transaction. A write error ends the run; it is never a silent miss."""
        part = self._parts.get(fingerprint)
        rows = {_key(part.name if part else fingerprint, item): item for item in answers}
        try:
            self._db.execute("BEGIN")
            told = ((key, _sealed(key, answers[item])) for key, item in rows.items())
            self._db.executemany("INSERT OR REPLACE INTO answers VALUES (?, ?)", told)
            if part is not None:
                for key, item in rows.items():
                    self._take(part, key, item, answers[item])
            self._db.execute("COMMIT")
        except sqlite3.Error as error:
            raise BadInput(
                f"The answer cache {self.path} cannot be written ({error}); make room or name another file, then run "
                "the same command again."
            ) from error

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def _take(self, part: _Part, key: bytes, item: Any, answer: Any) -> None:
        """Put an item into the sample if its key, which is as good as random, is among the least."""
        if key in part.sample or (len(part.sample) >= _SAMPLE and key > part.sample[-1]):
            return
        row = (part.model, part.number, key, json.dumps(item), json.dumps(answer))
        self._db.execute("INSERT OR REPLACE INTO samples VALUES (?, ?, ?, ?, ?)", row)
        insort(part.sample, key)
        if len(part.sample) > _SAMPLE:
            last = (part.model, part.number, part.sample.pop())
            self._db.execute("DELETE FROM samples WHERE model = ? AND part = ? AND key = ?", last)

    def _sample(self, part: _Part) -> dict[Any, Any]:
        """The items of a part's sample with their answers; empty if one is damaged."""
        with self._reading():
            rows = self._db.execute(
                "SELECT key, item, answer FROM samples WHERE model = ? AND part = ? ORDER BY key LIMIT ?",
                (part.model, part.number, _SAMPLE),
            ).fetchall()
        known = {}
        for key, text, told in rows:
            item, answer = _read(text), _read(told)
            if item is None or answer is None or not part.valid(answer) or _key(part.name, item) != key:
                return {}
            part.sample.append(bytes(key))
            known[item] = answer
        return known

    @contextmanager
    def _reading(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OverflowError, TypeError, ValueError) as error:
            raise BadInput(
                f"The answer cache {self.path} is damaged ({error}); delete it and run the same command again."
            ) from error


def _key(fingerprint: str, item: Any) -> bytes:
    return hashlib.blake2b(f"{fingerprint}\0{json.dumps(item)}".encode(), digest_size=16).digest()


def _sealed(key: bytes, answer: Any) -> str:
    """An answer as it stands in the file: with a checksum, so that a damaged or exchanged one is seen."""
    text = json.dumps(answer)
    return f"{text} {_checksum(key, text)}"


def _unsealed(key: bytes, text: Any) -> Any:
    """The answer that was sealed; None if it is not what was written. Earlier versions wrote no checksum."""
    if not isinstance(text, str):
        return None
    answer, _, told = text.rpartition(" ")
    return _read(answer) if told == _checksum(key, answer) else None


def _checksum(key: bytes, text: str) -> str:
    return hashlib.blake2b(key + text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _read(text: Any) -> Any:
    """A value that was written as JSON; None if it is none."""
    try:
        return _frozen(json.loads(text))
    except (TypeError, ValueError, RecursionError):
        return None


def _frozen(value: Any) -> Any:
    return tuple(_frozen(part) for part in value) if isinstance(value, list) else value
