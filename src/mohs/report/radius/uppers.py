"""Upper bounds that attacks found in a radius run, and which attack needs the fewest substitutions."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from typing import Any

from mohs.report.rates import Mean, Rate, mean_of
from mohs.report.table import mean, rate
from mohs.tasks.inference import FEWEST, holm, mcnemar, paired_interval

RIGHT = "examples the model got right"


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
        return {**asdict(self), "success": self.success.to_json()}


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

    def figures(self, name: str, attacks: int, errors: int = 0) -> Upper:
        """The figures of this attack. attacks: how many attacks the run has; errors: examples that ended in one."""
        return Upper(
            attack=name,
            success=Rate(len(self.edits), self.total, RIGHT, errors),
            edits=mean_of(self.edits, "successes", 0),
            share=mean_of(self.shares, "successes", 0, 1),
            counts=dict(sorted(Counter(self.edits).items())),
            wins=self.wins,
            ties=self.ties,
            alone=self.alone if attacks > 1 else 0,
        )


@dataclass(frozen=True)
class Paired:
    """One question about two attacks on the same examples: how often the answer favours the first, or the second."""

    first: int
    second: int
    total: int  # examples, also those that favour neither
    holm: float = math.nan  # the p value, adjusted for all duels of the run

    @property
    def difference(self) -> float | None:
        """The share that favours the first minus the share that favours the second."""
        return (self.first - self.second) / self.total if self.total else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95% interval of the difference (Tango 1998); None for fewer than six examples."""
        return paired_interval(self.first, self.second, self.total)

    @property
    def p(self) -> float:
        """McNemar's exact test: whether both are favoured equally often; nan for fewer than six examples."""
        return mcnemar(self.first, self.second) if self.total >= FEWEST else math.nan

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dict."""
        p, holm = (None if math.isnan(value) else value for value in (self.p, self.holm))
        row = {"first": self.first, "second": self.second, "total": self.total}
        return {**row, "difference": self.difference, "interval": self.interval, "p": p, "holm": holm}


@dataclass(frozen=True)
class Duel:
    """Two attacks on the same examples: who succeeds, and, where both do, who needs fewer substitutions."""

    attack: str
    other: str
    fewer: int
    equal: int
    more: int
    success: Paired = Paired(0, 0, 0)  # examples on which only one of them succeeds, of all
    edits: Paired = Paired(0, 0, 0)  # examples on which one needs fewer, of those on which both succeed
    points: tuple[tuple[int, int, int], ...] = ()  # substitutions of the first, of the other, and how many examples

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dict."""
        return {**asdict(self), "success": self.success.to_json(), "edits": self.edits.to_json()}


class Duels:
    """Collects duels while the records stream by."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, str], Counter[tuple[int | None, int | None]]] = {}

    def add(self, edits: Mapping[str, int | None]) -> None:
        """Add one example: the edits of each attack, None if it failed."""
        for one, other in combinations(edits, 2):
            mine, its = edits[one], edits[other]
            seen = self._seen.setdefault((one, other), Counter())
            seen[mine, its] += 1

    def figures(self) -> list[Duel]:
        """Every pair of attacks once, in their order."""
        found = [_duel(*pair, seen) for pair, seen in self._seen.items()]
        success, edits = _adjusted([duel.success for duel in found]), _adjusted([duel.edits for duel in found])
        return [replace(duel, success=one, edits=other) for duel, one, other in zip(found, success, edits, strict=True)]


def _duel(attack: str, other: str, seen: Mapping[tuple[int | None, int | None], int]) -> Duel:
    """A duel by how many examples have which numbers of substitutions; None where an attack failed."""
    both = {(mine, its): n for (mine, its), n in seen.items() if mine is not None and its is not None}
    fewer = sum(n for (mine, its), n in both.items() if mine < its)
    more = sum(n for (mine, its), n in both.items() if mine > its)
    first = sum(n for (mine, its), n in seen.items() if mine is not None and its is None)
    second = sum(n for (mine, its), n in seen.items() if mine is None and its is not None)
    return Duel(
        attack,
        other,
        fewer=fewer,
        equal=sum(both.values()) - fewer - more,
        more=more,
        success=Paired(first, second, sum(seen.values())),
        edits=Paired(fewer, more, sum(both.values())),
        points=tuple((mine, its, n) for (mine, its), n in sorted(both.items())),
    )


def _adjusted(found: Sequence[Paired]) -> list[Paired]:
    return [replace(one, holm=value) for one, value in zip(found, holm([one.p for one in found]), strict=True)]


DUEL_NOTE = (
    "only first, only second: examples on which only one of the attacks succeeds; fewer, equal, more: where both do, "
    "how many substitutions the first needs; difference: in percentage points of the examples, with its 95% interval "
    "(Tango); Holm: McNemar's exact p, corrected for all duels; "
    f"-: fewer than {FEWEST} examples"
)


def duel_cells(duel: Duel) -> list[tuple[str, str]]:
    """A duel's row of the table, as headings and values."""
    return [
        ("only first", str(duel.success.first)),
        ("only second", str(duel.success.second)),
        ("difference", _difference(duel.success)),
        ("Holm", _chance(duel.success.holm)),
        ("fewer", str(duel.fewer)),
        ("equal", str(duel.equal)),
        ("more", str(duel.more)),
        ("difference", _difference(duel.edits)),
        ("Holm", _chance(duel.edits.holm)),
    ]


def _difference(found: Paired) -> str:
    if found.difference is None or found.interval is None:
        return "-"
    low, high = found.interval
    return f"{100 * found.difference:+.1f} [{100 * low:+.1f}, {100 * high:+.1f}]"


def _chance(value: float) -> str:
    return "-" if math.isnan(value) else "<0.001" if value < 0.001 else f"{value:.3f}"


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
