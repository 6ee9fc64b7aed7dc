"""How much each word matters to the victim: what happens if it is deleted or replaced."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mohs.attacks.goal import SCORE_DECIMALS
from mohs.attacks.method import Ask, Scores
from mohs.text import Text


async def deleting(x: Text, positions: Sequence[int], ask: Ask) -> list[Scores]:
    """The victim's scores with each of the words deleted in turn."""
    return await ask.each(x, positions, x.drop)


async def replacing(x: Text, positions: Sequence[int], word: str, ask: Ask) -> list[Scores]:
    """The victim's scores with `word`, such as [UNK] or [MASK], in the place of each word in turn."""
    return await ask.each(x, positions, lambda position: x.replace(position, word))


def ranked(importance: Mapping[int, float]) -> list[int]:
    """Positions from the most important to the least; the earlier first among equals."""
    return sorted(importance, key=lambda position: (-round(importance[position], SCORE_DECIMALS), position))
