"""An adversarial text on its way through the stages, and the lines of their files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

Vote = tuple[str, int]  # a judge, and the label that they gave


@dataclass(frozen=True)
class Item:
    """A text. source, benign, original and found_on are empty for examples that people made."""

    id: str  # TASK/METHOD/SOURCE/NUMBER
    task: str
    method: str  # the attack or the set, by its name in the configuration
    label: int
    text: tuple[str, ...]
    original: tuple[str, ...] = ()
    source: str = ""  # the id of the original in the data
    benign: str = ""  # what originals with the same texts have in common
    found_on: tuple[str, ...] = ()  # the surrogates against which the attack found this text
    share_changed: float | None = None
    similarity: float | None = None
    votes: tuple[Vote, ...] = ()
    judged: str = ""  # people, imported, simulated, by definition or nobody; empty before the judges
    rule: str = ""  # of an example that people made: the test, rule or round that it comes from
    part: str = ""  # dev or test; empty before the split

    def to_row(self) -> dict[str, Any]:
        """For a file of lines: what is empty is left out."""
        return {name: value for name, value in asdict(self).items() if value not in ("", (), None)}

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Item:
        """Read back what to_row wrote. What a row says about a drop is not part of the item."""
        values: dict[str, Any] = {name: row[name] for name in cls.__dataclass_fields__ if name in row}
        for name in ("text", "original", "found_on"):
            values[name] = tuple(values.get(name, ()))
        values["votes"] = tuple((judge, label) for judge, label in values.get("votes", ()))
        return cls(**values)


@dataclass(frozen=True)
class Dropped:
    """An item that a stage leaves out, and why: a short reason to count, and what there is to add."""

    item: Item
    reason: str
    more: str = ""

    def to_row(self) -> dict[str, Any]:
        """For a file of lines."""
        row = {"reason": self.reason, **({"more": self.more} if self.more else {})}
        return {**row, **self.item.to_row()}

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Dropped:
        """Read back what to_row wrote."""
        return cls(Item.from_row(row), row["reason"], row.get("more", ""))


def digest(value: Any) -> str:
    """The hash of a value that JSON can say."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def benign_of(texts: Iterable[str]) -> str:
    """What originals with the same texts have in common."""
    return digest(list(texts))[:16]


def in_chance(seed: int, purpose: str, key: str) -> str:
    """A place in a random order that depends on the seed and the item alone, so that no other item moves it."""
    return digest([seed, purpose, key])
