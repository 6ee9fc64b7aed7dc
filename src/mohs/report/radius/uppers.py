"""Upper bounds that attacks found in a radius run, and which attack needs the fewest substitutions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

from mohs.report.rates import Mean, Rate, mean_of
from mohs.report.table import mean, rate

RIGHT = "examples the model got right"


def rate_json(found: Rate) -> dict[str, Any]:
    """A share as a JSON-ready dict."""
    return {**asdict(found), "value": found.value, "interval": found.interval}


@dataclass(frozen=True)
class Upper:
    """The results of one attack. Wins and ties count only examples on which another attack succeeded too."""

    attack: str
    success: Rate
    edits: Mean
    share: Mean  # of the words
    counts: dict[int, int]  # number of edits -> number of examples
    wins: int  # fewer edits than every other attack
    ties: int  # the fewest edits, but another attack has as few
    alone: int  # no other attack succeeded

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dict."""
        return {**asdict(self), "success": rate_json(self.success)}


class UpperTally:
    """Collects one attack's edits while the records stream by."""

    def __init__(self) -> None:
        self.total = self.wins = self.ties = self.alone = 0
        self.edits: list[int] = []
        self.shares: list[float] = []

    def add(self, count: int | None, others: Sequence[int], words: int) -> None:
        """Add one example: this attack's edits (None if it failed), and those of other successful attacks."""
        self.total += 1
        if count is None:
            return
        self.edits.append(count)
        self.shares.append(count / words if words else 0.0)
        self.alone += not others
        self.wins += bool(others) and count < min(others)
        self.ties += bool(others) and count == min(others)

    def figures(self, name: str, attacks: int) -> Upper:
        """The figures of this attack. attacks: how many attacks the run has."""
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
    """Two attacks compared on the examples where both succeeded: how often the first needs fewer substitutions."""

    attack: str
    other: str
    fewer: int
    equal: int
    more: int
    points: tuple[tuple[int, int, int], ...] = ()  # substitutions of the first, of the other, and how many examples


class Duels:
    """Collects duels while the records stream by."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, str], Counter[tuple[int, int]]] = {}

    def add(self, edits: Mapping[str, int | None]) -> None:
        """Add one example: the edits of each attack, None if it failed."""
        for one, other in combinations(edits, 2):
            mine, its = edits[one], edits[other]
            seen = self._seen.setdefault((one, other), Counter())
            if mine is not None and its is not None:
                seen[mine, its] += 1

    def figures(self) -> list[Duel]:
        """Every pair of attacks once, in their order."""
        return [
            Duel(
                *pair,
                fewer=sum(count for (mine, its), count in seen.items() if mine < its),
                equal=sum(count for (mine, its), count in seen.items() if mine == its),
                more=sum(count for (mine, its), count in seen.items() if mine > its),
                points=tuple((*edits, count) for edits, count in sorted(seen.items())),
            )
            for pair, seen in self._seen.items()
        ]


DUEL_NOTE = (
    "of the examples on which both succeed: how often the first needs fewer, equally many, or more substitutions"
)


def upper_cells(upper: Upper, several: bool) -> list[tuple[str, str]]:
    """An attack's row of the table, as headings and values."""
    cells = [
        ("success", rate(upper.success)),
        ("edits", mean(upper.edits, 2)),
        ("%S", mean(upper.share, percent=True)),
    ]
    if several:
        cells += [("#Win", str(upper.wins)), ("ties", str(upper.ties)), ("alone", str(upper.alone))]
    return cells


def upper_note(several: bool) -> str:
    """An explanation of the table's columns."""
    said = f"success: of {RIGHT}; edits and %S (share of all words changed): means over successes"
    if not several:
        return said
    return (
        f"{said}; #Win: fewer edits than every other attack that succeeded on the example; ties: the fewest edits, but "
        "another attack needs as few; alone: no other attack succeeded, counted as neither win nor tie"
    )
