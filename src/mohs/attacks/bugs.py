"""Bugs: small damages to a word, of which an attack tries one at random of each kind."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from mohs.space import Space

# A bug is named by the sources that make it (see mohs.space.letters); one made by several is drawn from all of theirs.
Bug = tuple[str, ...]


def drawn(space: Space, position: int, bugs: Sequence[Bug], random: Random) -> list[str]:
    """One random word of each bug for a position, then whatever comes from other sources, all of it."""
    names = space.offers[position]
    found = []
    for bug in bugs:
        words = [word for word in space.choices[position] if names[word] in bug]
        if words:
            found.append(random.choice(words))
    others = [word for word in space.choices[position] if not any(names[word] in bug for bug in bugs)]
    return found + others
