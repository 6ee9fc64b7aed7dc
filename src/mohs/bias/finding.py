"""What is measured around one sentence, beside what every record holds."""

from __future__ import annotations

from dataclasses import dataclass

from mohs.bias.level import LevelFinding


@dataclass(frozen=True)
class PairFinding:
    """One pair of words at its place, at every distance from the sentence."""

    old: str
    new: str
    position: int
    back: bool = False  # the second word stands in the sentence, and the first was put in
    levels: tuple[LevelFinding, ...] = ()


@dataclass(frozen=True)
class BiasFinding:
    """Every pair that fits the sentence."""

    pairs: tuple[PairFinding, ...]
