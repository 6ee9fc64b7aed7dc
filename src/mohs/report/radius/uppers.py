"""What attacks found in a radius run: upper bounds, and which attack needs the fewest substitutions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

from mohs.report.rates import Mean, Rate, mean_of
from mohs.report.table import mean, rate

RIGHT = "examples read right"


def rate_json(found: Rate) -> dict[str, Any]:
    """A share for machines."""
    return {**asdict(found), "value": found.value, "interval": found.interval}


@dataclass(frozen=True)
class Upper:
    """What one attack found. Wins and ties are of examples on which another attack succeeded too."""

    attack: str
    success: Rate
    edits: Mean
    share: Mean  # of the words
    counts: dict[int, int]  # edits, and in how many examples
    wins: int  # fewer edits than any other
    ties: int  # as few as another, and no other has fewer
    alone: int  # no other attack succeeded

    def to_json(self) -> dict[str, Any]:
        """A plain structure for machines."""
        return {**asdict(self), "success": rate_json(self.success)}


class UpperTally:
    """Collects one attack's edits while the records stream by."""

    def __init__(self) -> None:
        self.total = self.wins = self.ties = self.alone = 0
        self.edits: list[int] = []
        self.shares: list[float] = []

    def add(self, count: int | None, others: Sequence[int], words: int) -> None:
        """One example: this attack's edits, None if it failed, and those of others that succeeded."""
        self.total += 1
        if count is None:
            return
        self.edits.append(count)
        self.shares.append(count / words if words else 0.0)
        self.alone += not others
        self.wins += bool(others) and count < min(others)
        self.ties += bool(others) and count == min(others)

    def figures(self, name: str, attacks: int) -> Upper:
        """Of an attack that is one of so many."""
        return Upper(
            attack=name,
            success=Rate(len(self.edits), self.total, RIGHT),
            edits=mean_of(self.edits, "successes"),
            share=mean_of(self.shares, "successes"),
            counts=dict(sorted(Counter(self.edits).items())),
            wins=self.wins,
            ties=self.ties,
            alone=self.alone if attacks > 1 else 0,
        )


@dataclass(frozen=True)
class Duel:
    """Two attacks, on the examples on which both succeeded: how often the one needs fewer substitutions."""

    attack: str
    other: str
    fewer: int
    equal: int
    more: int


class Duels:
    """Collects them while the records stream by."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, str], Counter[int]] = {}

    def add(self, edits: Mapping[str, int | None]) -> None:
        """One example: the edits of each attack, None if it failed."""
        for one, other in combinations(edits, 2):
            mine, its = edits[one], edits[other]
            seen = self._seen.setdefault((one, other), Counter())
            if mine is not None and its is not None:
                seen[(mine > its) - (mine < its)] += 1

    def figures(self) -> list[Duel]:
        """Every pair once, in the order of the attacks."""
        return [Duel(*pair, fewer=seen[-1], equal=seen[0], more=seen[1]) for pair, seen in self._seen.items()]


DUEL_NOTE = "of the examples on which both succeed: the first needs fewer, as many, or more substitutions"


def upper_cells(upper: Upper, several: bool) -> list[tuple[str, str]]:
    """An attack's row of the table: heads and values."""
    cells = [
        ("success", rate(upper.success)),
        ("edits", mean(upper.edits, 2)),
        ("%S", mean(upper.share, percent=True)),
    ]
    if several:
        cells += [("#Win", str(upper.wins)), ("ties", str(upper.ties)), ("alone", str(upper.alone))]
    return cells


def upper_note(several: bool) -> str:
    """What the table's columns are."""
    said = f"success: of {RIGHT}; edits, %S (share of all words): means over successes"
    if not several:
        return said
    return (
        f"{said}; #Win: strictly fewer edits than every other attack that succeeded on the same example; ties: as few "
        "as another and no more than any; alone: no other attack succeeded, counted as neither"
    )
