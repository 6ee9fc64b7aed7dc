"""A part of a run's examples, for runs that are spread over machines: part 3 of 16, by a hash of their ids."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from mohs.errors import BadInput

_MOST = 1_000_000


@dataclass(frozen=True, order=True)
class Shard:
    """Part `number` of `of` parts, counted from 1. Every example is in exactly one part, on every machine."""

    number: int
    of: int

    @classmethod
    def read(cls, written: str) -> Shard:
        """What `--shard` says, such as 3/16."""
        found = re.fullmatch(r"([0-9]{1,7})/([0-9]{1,7})", written.strip())
        if found is None:
            raise BadInput(f"--shard {written!r} has the form K/N: part K of N, such as 3/16.")
        number, of = map(int, found.groups())
        if not 1 <= number <= of <= _MOST:
            raise BadInput(f"--shard {written} names no part; K/N takes 1 to N, and N is at most {_MOST:,}.")
        return cls(number, of)

    def holds(self, example_id: str) -> bool:
        """Whether an example is in this part."""
        digest = hashlib.sha256(example_id.encode("utf-8", "surrogatepass")).digest()
        return int.from_bytes(digest[:8], "big") % self.of == self.number - 1

    @property
    def note(self) -> str:
        """What readers of the figures of this part should know."""
        return f"These are the examples of part {self} only; `mohs merge` joins the parts."

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"
