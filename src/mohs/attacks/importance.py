"""How much each word matters to the victim: what happens without it, or with another in its place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mohs.attacks.goal import SCORE_DECIMALS
from mohs.attacks.method import Ask, Scores
from mohs.text import Text


async def deleting(x: Text, positions: Sequence[int], ask: Ask) -> list[Scores]:
    """The victim's scores without each of the words."""
    return await ask.victim([x.drop(position) for position in positions])


async def replacing(x: Text, positions: Sequence[int], word: str, ask: Ask) -> list[Scores]:
    """The victim's scores with a word in the place of each, such as [UNK] or [MASK]."""
    return await ask.victim([x.replace(position, word) for position in positions])


def ranked(importance: Mapping[int, float]) -> list[int]:
    """Positions, the most important first; of equals the earlier first."""
    return sorted(importance, key=lambda position: (-round(importance[position], SCORE_DECIMALS), position))
