"""Rewrites that a tree auto-encoder decodes (T3, Wang et al. 2020)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import ClassVar

from mohs.space.rewrites import Rewritten
from mohs.space.services import Services
from mohs.text import Text
from mohs.text.kinds import KINDS
from mohs.text.parses import Parse


@dataclass(frozen=True)
class DecodedTrees:
    """What a tree auto-encoder can decode from a changed tree.

    Any known word may come to stand for any other, so nothing is offered in advance: the attack t3 searches, and each
    string that it finds becomes part of the space. A word keeps its place, and signs stay.
    """

    needs: ClassVar[tuple[str, ...]] = ()
    keeps_label_of: ClassVar[frozenset[str]] = frozenset(KINDS)  # Wang et al. 2021 use it for all, and ask people

    async def rewrite(self, text: Text, number: int, ask: Services) -> Rewritten:
        """Nothing: see T3."""
        return {}


def fixed_tokens(text: Text, number: int, parse: Parse, free: Collection[int]) -> tuple[bool, ...]:
    """For each token of a field's parse, whether it must stay: unless it lies in words that may all change."""
    words = [(start, end, position) for position, (field, start, end) in enumerate(text.spans()) if field == number]
    found = []
    for token in parse:
        inside = [position for start, end, position in words if max(start, token.start) < min(end, token.end)]
        found.append(not inside or any(position not in free for position in inside))
    return tuple(found)
