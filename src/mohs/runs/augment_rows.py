"""The rows that `mohs augment` writes: originals as they stand, and copies with another text and an id of their own."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mohs.errors import BadInput

if TYPE_CHECKING:
    from mohs.text import Example, Text
    from mohs.text.dataset import Dataset

Row = Mapping[str, Any]
Made = tuple[bool, Row]  # whether it is new, and the row

ORIGIN, FROM = "origin", "from"  # the columns that say where a row comes from
ORIGINAL = "original"
_JOIN = "+"  # between the id of an original and what makes the id of a copy


@dataclass
class Known:
    """What one pass over the data tells: how many rows, their hash, how labels are written, and which ids are taken."""

    count: int = 0
    digest: str = ""
    names: tuple[str, ...] = ()  # of the text columns
    spelled: dict[int, Any] = field(default_factory=dict)  # a label as the data write it
    taken: set[bytes] = field(default_factory=set)  # digests of ids that could be those of copies
    strangers: set[bytes] = field(default_factory=set)  # digests of texts that were looked for and are not there

    @classmethod
    def of(cls, data: Dataset, texts: Collection[tuple[str, ...]] = ()) -> Known:
        """Read the data once. Refuses bad rows, ids that occur twice, and columns that this file format needs.

        texts: texts to look for.
        """
        known = cls(strangers={_short(repr(fields)) for fields in texts})

        def seen() -> Iterator[Example]:
            for example, row in data.with_rows():
                theirs = [column for column in (ORIGIN, FROM) if column in row]
                used = {*example.names, data.id_field, data.label_field} & {ORIGIN, FROM}
                if len(theirs) == 1 or used:  # both stand in a file that was augmented before
                    raise BadInput(
                        f"The data has a column {theirs[0]!r}, which says where a row comes from; rename it."
                    )
                known.names = example.names
                known.spelled.setdefault(example.label, row[data.label_field])
                if _JOIN in example.id:
                    known.taken.add(_short(example.id))
                known.strangers.discard(_short(repr(example.text.fields)))
                yield example

        known.count, _, known.digest = data.survey(seen())
        return known


@dataclass(frozen=True)
class Rows:
    """Makes rows."""

    known: Known
    id_field: str
    label_field: str

    def original(self, example: Example, row: Row) -> Made:
        """The row of an original. If it was a copy already, it keeps saying so."""
        origin = row.get(ORIGIN) or ORIGINAL
        return False, self._row(example, row, example.text, example.id, str(origin), str(row.get(FROM) or example.id))

    def copy(self, example: Example, row: Row, text: Text, made: str, origin: str) -> Made:
        """The row of a copy."""
        name = base = f"{example.id}{_JOIN}{made}"
        number = 1
        while _short(name) in self.known.taken:
            number += 1
            name = f"{base}.{number}"
        self.known.taken.add(_short(name))
        return True, self._row(example, row, text, name, origin, example.id)

    def _row(self, example: Example, row: Row, text: Text, name: str, origin: str, source: str) -> Row:
        names = self.known.names or example.names
        if len(names) != len(example.names):
            raise BadInput(
                f"The run has texts with the fields {', '.join(example.names)}, but --data has {', '.join(names)}; "
                "give the data that was attacked."
            )
        label = row.get(self.label_field, self.known.spelled.get(example.label, example.label))
        own = {self.id_field: name, **dict(zip(names, text.fields, strict=True)), self.label_field: label}
        rest = {column: value for column, value in row.items() if column not in (*own, ORIGIN, FROM)}
        return {**own, **rest, ORIGIN: origin, FROM: source}


def _short(name: str) -> bytes:
    return hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()
