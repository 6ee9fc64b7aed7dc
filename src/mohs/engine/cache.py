"""A cache of model answers on disk, so that a second run or another attack does not query the model again."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mohs.errors import BadInput

_ITEMS_PER_QUERY = 500  # SQLite allows 999 parameters in its oldest builds


class AnswerCache:
    """A SQLite table of (model fingerprint, item) -> answer. Items and answers must be JSON values."""

    def __init__(self, path: Path | str) -> None:
        self.path = path
        try:
            if path != ":memory:":
                Path(path).parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(path, isolation_level=None, timeout=30)
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=NORMAL")
            self._db.execute("CREATE TABLE IF NOT EXISTS answers (key BLOB PRIMARY KEY, answer TEXT) WITHOUT ROWID")
            columns = [row[1] for row in self._db.execute("PRAGMA table_info(answers)")]
        except (sqlite3.Error, OSError) as error:
            raise BadInput(f"The answer cache {path} cannot be opened ({error}); name another file.") from error
        if columns != ["key", "answer"]:
            self._db.close()
            raise BadInput(f"The file {path} is not an answer cache; name another file.")

    def get(self, fingerprint: str, items: Sequence[Any]) -> dict[Any, Any]:
        """The cached answers for these items."""
        keys = {_key(fingerprint, item): item for item in items}
        found: dict[bytes, Any] = {}
        ordered = list(keys)
        for start in range(0, len(ordered), _ITEMS_PER_QUERY):
            part = ordered[start : start + _ITEMS_PER_QUERY]
            marks = ",".join("?" * len(part))
            rows = self._db.execute(f"SELECT key, answer FROM answers WHERE key IN ({marks})", part)
            found.update((bytes(key), _frozen(json.loads(answer))) for key, answer in rows)
        return {item: found[key] for key, item in keys.items() if key in found}

    def put(self, fingerprint: str, answers: Mapping[Any, Any]) -> None:
        """Store answers in one transaction. A write error ends the run; it is never a silent miss."""
        rows = [(_key(fingerprint, item), json.dumps(answer)) for item, answer in answers.items()]
        try:
            self._db.execute("BEGIN")
            self._db.executemany("INSERT OR IGNORE INTO answers VALUES (?, ?)", rows)
            self._db.execute("COMMIT")
        except sqlite3.Error as error:
            raise BadInput(f"The answer cache {self.path} cannot be written ({error}).") from error

    def close(self) -> None:
        """Close the file."""
        self._db.close()


def _key(fingerprint: str, item: Any) -> bytes:
    return hashlib.blake2b(f"{fingerprint}\0{json.dumps(item)}".encode(), digest_size=16).digest()


def _frozen(value: Any) -> Any:
    return tuple(_frozen(part) for part in value) if isinstance(value, list) else value
