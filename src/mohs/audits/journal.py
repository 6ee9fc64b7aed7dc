"""audit.jsonl: what was measured of each adversarial example. A second audit reads it instead of measuring again."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from mohs.assets.writing import opened_for_writing, refuse_special
from mohs.audits.gauges import Taken
from mohs.errors import MohsError
from mohs.records import Record
from mohs.records.integrity import checksum_of

JOURNAL = "audit.jsonl"
Key = tuple[str, str, str]  # attack, example, digest of both texts
_NAMES = (  # of a line's parts, besides its checksum
    *("attack", "example_id", "text", "measures"),
    *("rules_introduced", "rules_before", "rules_after", "made_by"),
)


def key_of(record: Record) -> Key:
    """Under what an example is kept. Its texts count: a run folder can be replaced by another run."""
    whole = json.dumps([record.original, record.perturbed], ensure_ascii=True)
    return record.attack, record.example_id, hashlib.sha256(whole.encode()).hexdigest()[:16]


@dataclass
class Line:
    """Everything known of one example: values, what made each of them, and rules of grammar."""

    values: dict[str, float] = field(default_factory=dict)
    made_by: dict[str, str] = field(default_factory=dict)  # by name of the value: the services and their fingerprints
    rules_before: tuple[str, ...] | None = None
    rules_after: tuple[str, ...] | None = None

    def has(self, names: Iterable[str], made_by: str) -> bool:
        """Whether these values are known, and made by these services."""
        return all(self.made_by.get(name) == made_by for name in names)

    def add(self, taken: Taken, made_by: str) -> None:
        """Keep what was measured."""
        for name, value in taken.values.items():
            self.values[name], self.made_by[name] = value, made_by
        if taken.rules_before is not None:
            self.rules_before, self.rules_after = taken.rules_before, taken.rules_after

    def merge(self, other: Line) -> None:
        """Take over what a later line says."""
        self.values |= other.values
        self.made_by |= other.made_by
        if other.rules_before is not None:
            self.rules_before, self.rules_after = other.rules_before, other.rules_after

    def taken(self, names: Iterable[str]) -> Taken:
        """The values of these names."""
        found = {name: self.values[name] for name in names if name in self.values}
        return Taken(found, self.rules_before, self.rules_after)

    def to_json(self, key: Key) -> str:
        """One line of JSON; an undefined value is null."""
        before, after = Counter(self.rules_before or ()), Counter(self.rules_after or ())
        known = self.rules_before is not None
        row = {
            "attack": key[0],
            "example_id": key[1],
            "text": key[2],
            "measures": {name: value if math.isfinite(value) else None for name, value in self.values.items()},
            "rules_introduced": dict(sorted((after - before).items())) if known else None,
            "rules_before": list(self.rules_before or ()) if known else None,
            "rules_after": list(self.rules_after or ()) if known else None,
            "made_by": self._by_maker(),
        }
        return json.dumps({**row, "checksum": _checksum(row)}, ensure_ascii=True)

    def _by_maker(self) -> dict[str, list[str]]:
        """The names of the values by what made them."""
        found: dict[str, list[str]] = {}
        for name, by in self.made_by.items():
            found.setdefault(by, []).append(name)
        return found

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Line:
        """Read back what to_json wrote. Lines of earlier versions have no checksum."""
        parts = {name: value for name, value in row.items() if name != "checksum"}
        if tuple(parts) != _NAMES or ("checksum" in row and row["checksum"] != _checksum(parts)):
            raise ValueError("it is not what was written")
        values = {str(name): math.nan if v is None else float(v) for name, v in row["measures"].items()}
        made_by = {str(name): str(by) for by, names in row["made_by"].items() for name in names}
        rules = [None if row[side] is None else tuple(map(str, row[side])) for side in ("rules_before", "rules_after")]
        if not made_by.keys() <= values.keys():
            raise ValueError("a value is missing")
        return cls(values, made_by, *rules)


def _checksum(row: Mapping[str, Any]) -> str:
    return checksum_of(json.dumps(row, ensure_ascii=True))


class Journal:
    """The lines of one run folder. New ones are written as soon as they are measured. Without a folder: memory only."""

    def __init__(self, folder: Path | None) -> None:
        self.lines: dict[Key, Line] = {}
        self.broken = 0  # lines that could not be read
        self._path = folder / JOURNAL if folder else None
        self._file: IO[str] | None = None
        self._surplus = 0  # lines beyond the first of an example
        self._cut = False  # the last line has no end
        if self._path is not None and self._path.exists():
            self._read(self._path)

    def _read(self, path: Path) -> None:
        refuse_special(path)
        try:
            text = path.read_text("utf-8", errors="replace")
        except OSError as error:
            raise MohsError(f"{path} cannot be read ({error.strerror}); move it away to measure again.") from error
        self._cut = bool(text) and not text.endswith("\n")
        for line in text.split("\n"):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
                key = str(row["attack"]), str(row["example_id"]), str(row["text"])
                found = Line.from_row(row)
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
                self.broken += 1
                continue
            self._surplus += key in self.lines
            self.lines.setdefault(key, Line()).merge(found)

    def line(self, key: Key) -> Line:
        """What is known of an example."""
        return self.lines.get(key, Line())

    def write(self, key: Key, taken: Taken, made_by: str) -> None:
        """Keep what was measured of an example, on disk if there is a folder: a line with the new values alone."""
        self._surplus += key in self.lines
        line = Line()
        line.add(taken, made_by)
        self.lines.setdefault(key, Line()).merge(line)
        if self._path is None:
            return
        try:
            if self._file is None:
                self._file = opened_for_writing(self._path, "a", encoding="utf-8")
                if self._cut:
                    self._file.write("\n")
            self._file.write(line.to_json(key) + "\n")
            self._file.flush()
        except OSError as error:
            raise MohsError(
                f"{self._path} cannot be written ({error.strerror}); make room, then audit again."
            ) from error

    def close(self, wanted: Iterable[Key] | None = None) -> None:
        """Close the file. With `wanted`, leave one whole line for each of these examples, in this order."""
        if self._file is not None:
            self._file.close()
            self._file = None
        if wanted is None or self._path is None:
            return
        keys = [key for key in wanted if key in self.lines]
        if not self.broken and not self._surplus and list(self.lines) == keys:
            return
        beside = self._path.with_name(f"{JOURNAL}.part")
        try:
            with opened_for_writing(beside, encoding="utf-8") as file:
                file.writelines(self.lines[key].to_json(key) + "\n" for key in keys)
                file.flush()
                os.fsync(file.fileno())
            beside.replace(self._path)
        except OSError as error:
            raise MohsError(
                f"{self._path} cannot be written ({error.strerror}); make room, then audit again."
            ) from error
