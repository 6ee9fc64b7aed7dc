"""What a bias run adds to the record of an example."""

from __future__ import annotations

from dataclasses import dataclass

from mohs.bias.level import LevelFinding


@dataclass(frozen=True)
class PairFinding:
    """One pair of words at one position, measured at every distance from the sentence."""

    old: str
    new: str
    position: int
    back: bool = False  # the sentence has the second word, and the first replaced it
    levels: tuple[LevelFinding, ...] = ()


@dataclass(frozen=True)
class BiasFinding:
    """Every pair that fits the sentence."""

    pairs: tuple[PairFinding, ...]
