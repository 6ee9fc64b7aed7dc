"""The stages of a build: each has a file of lines, one of what it dropped, and one that says what both hold.

A stage is done again only if its settings, the version or what came before has changed. The file with its facts is
written last, so a build that was killed finds either a whole stage or none.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from mohs import __version__
from mohs.assets.writing import opened_for_writing
from mohs.curation.item import Dropped, Item, digest
from mohs.errors import BadInput, MohsError

STAGES = ("attack", "transfer", "fidelity", "judge", "merge", "split", "write")
_T = TypeVar("_T")
_FORMAT = 3  # raised when a stage does something else with the same settings


@dataclass(frozen=True)
class Outcome:
    """What a stage gives. facts: what later stages and reports want to know besides the items."""

    kept: Sequence[Item]
    dropped: Sequence[Dropped] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)


class StageFolder:
    """The folder `stages` of a build."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, stage: str, ending: str) -> Path:
        """A file of a stage."""
        return self.folder / f"{STAGES.index(stage) + 1:02}-{stage}{ending}"

    def key(self, stage: str, settings: Any) -> str:
        """What the stage depends on: the version, its settings and all that came before.

        Settings of earlier stages count too: a later one may read them (surrogates, classes of attacks), even if the
        texts between them are the same.
        """
        earlier = [self._about(one) for one in STAGES[: STAGES.index(stage)]]
        before = [[one.get("input"), one.get("output")] for one in earlier]
        return digest([_FORMAT, __version__, stage, settings, before])

    def is_done(self, stage: str, key: str) -> bool:
        """Whether the stage was finished with this key, and its files are as they were written."""
        about = self._about(stage)
        return about.get("input") == key and all(
            self.path(stage, ending).is_file() and _hash(self.path(stage, ending)) == about[name]
            for name, ending in (("kept_hash", ".jsonl"), ("dropped_hash", "-dropped.jsonl"))
        )

    def write(self, stage: str, key: str, outcome: Outcome) -> None:
        """Keep what a stage gives; its facts last."""
        self.folder.mkdir(parents=True, exist_ok=True)
        kept = _lines(one.to_row() for one in outcome.kept)
        dropped = _lines(one.to_row() for one in outcome.dropped)
        about = {
            "stage": stage,
            "input": key,
            "kept": len(outcome.kept),
            "kept_hash": hashlib.sha256(kept).hexdigest(),
            "dropped": len(outcome.dropped),
            "dropped_hash": hashlib.sha256(dropped).hexdigest(),
            "reasons": counted(outcome.dropped),
            "facts": dict(outcome.facts),
        }
        about["output"] = digest([about["kept_hash"], about["dropped_hash"], about["facts"]])
        write_whole(self.path(stage, "-dropped.jsonl"), dropped)
        write_whole(self.path(stage, ".jsonl"), kept)
        write_whole(self.path(stage, ".json"), json_text(about))

    def items(self, stage: str) -> list[Item]:
        """What a stage kept."""
        return _read(self.path(stage, ".jsonl"), Item.from_row)

    def dropped(self, stage: str) -> list[Dropped]:
        """What a stage dropped."""
        return _read(self.path(stage, "-dropped.jsonl"), Dropped.from_row)

    def facts(self, stage: str) -> dict[str, Any]:
        """What a stage noted besides its items."""
        return dict(self._about(stage).get("facts", {}))

    def exists(self, stage: str) -> bool:
        """Whether the stage was finished once."""
        return bool(self._about(stage))

    def _about(self, stage: str) -> dict[str, Any]:
        path = self.path(stage, ".json")
        if not path.is_file():
            return {}
        try:
            found = json.loads(path.read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}


def counted(dropped: Iterable[Dropped]) -> dict[str, dict[str, dict[str, int]]]:
    """How many items were dropped for which reason, by task and method."""
    found: dict[str, dict[str, dict[str, int]]] = {}
    for one in dropped:
        reasons = found.setdefault(one.item.task, {}).setdefault(one.item.method, {})
        reasons[one.reason] = reasons.get(one.reason, 0) + 1
    return found


def json_text(value: Any) -> bytes:
    """JSON for people, with sorted keys: equal values give equal bytes."""
    return (json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True) + "\n").encode("utf-8")


def write_whole(path: Path, content: bytes) -> Path:
    """Write a file. An older one stays until the new one is complete."""
    beside = path.with_name(f"{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with opened_for_writing(beside, "wb") as file:
            file.write(content)
        beside.replace(path)
    except OSError as error:
        raise MohsError(f"{path} cannot be written ({error.strerror or error}); make room and build again.") from error
    return path


def _lines(rows: Iterable[Mapping[str, Any]]) -> bytes:
    return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows).encode("utf-8")


def _read(path: Path, of: Callable[[Mapping[str, Any]], _T]) -> list[_T]:
    try:
        return [of(json.loads(line)) for line in path.read_text("utf-8").split("\n") if line]
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise BadInput(f"{path} cannot be read ({error}); delete it and build again.") from error


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
