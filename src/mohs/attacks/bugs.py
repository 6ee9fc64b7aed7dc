"""Bugs: small errors in a word. An attack tries one random bug of each kind."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from mohs.space import Space

# A bug is named by the sources that make it (see mohs.space.letters). With several sources, it is drawn from all.
Bug = tuple[str, ...]


def drawn(space: Space, position: int, bugs: Sequence[Bug], random: Random) -> list[str]:
    """One random word for each bug at a position, then all words from other sources."""
    names, choices = space.offers[position], space.choices[position]
    by_name: dict[str, list[str]] = {}
    for word in choices:
        by_name.setdefault(names[word], []).append(word)
    found = []
    for bug in bugs:
        made = [name for name in by_name if name in bug]
        words = by_name[made[0]] if len(made) == 1 else [word for word in choices if names[word] in made]
        if words:
            found.append(random.choice(words))
    others = {name for name in by_name if not any(name in bug for bug in bugs)}
    return found + [word for word in choices if names[word] in others] if others else found
