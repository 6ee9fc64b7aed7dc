"""Fair success measured by people: what a human study says about the successes of an attack run.

The studies fill these values in (`mohs.measured_by`), since a report knows no studies.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

NO_VERDICT = "no verdict"  # what is said of a success that too few people judged


@dataclass(frozen=True)
class Share:
    """A share with its 95% interval; None if there is nothing to tell it from."""

    value: float | None
    low: float | None
    high: float | None

    def __str__(self) -> str:
        return self.counted("")

    def counted(self, fraction: str) -> str:
        """As `45.2% (38/84) [35.0, 55.8]`, with a fraction such as 38/84."""
        said = "-" if self.value is None else f"{self.value:.1%}"
        ends = "" if self.low is None or self.high is None else f"[{100 * self.low:.1f}, {100 * self.high:.1f}]"
        return " ".join(filter(None, [said, fraction and f"({fraction})", ends]))


@dataclass(frozen=True)
class Measured:
    """The fair success of one attack by people's judgements: attack success times the share of valid successes.

    way: whether people judged whole successes, or single changes, from which the share of valid successes follows by
    Eq. 6.2 of Hauser et al. 2021. `judged` and `valid` count what people judged: successes, or single changes.
    """

    fair: Share  # of the examples attacked
    successes_valid: Share  # of the successes
    judged_valid: Share  # of what was judged; the same if whole successes were
    way: Literal["directly", "by formula"]
    attacked: int
    successes: int
    judged: int  # with a verdict
    valid: int
    undecided: int  # with too few judgements for a verdict
    judgements: int
    people: int | None  # None if nobody knows which judgements come from one person
    design: str
    rule: str
    errors: int = 0  # attempts that ended in an error; not in `attacked`
    said: Mapping[str, str] = field(default_factory=dict, repr=False)  # of each success judged, by example id

    @property
    def unit(self) -> str:
        """What people judged."""
        return "successes" if self.way == "directly" else "single changes"

    @property
    def who(self) -> str:
        """Who judged how much: "14 people, 520 judgements"."""
        people = "" if self.people is None else f"{self.people:,} {'person' if self.people == 1 else 'people'}, "
        return f"{people}{self.judgements:,} judgements"

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The share if no error had been a fair success, and if all had been; of the attacked and all errors."""
        n = self.attacked + self.errors
        if not n or self.fair.value is None:
            return None
        hits = self.fair.value * self.attacked
        return hits / n, (hits + self.errors) / n

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dict."""
        return {**asdict(self), "said": dict(self.said), "unit": self.unit, "bounds": self.bounds}


@dataclass(frozen=True)
class ByPeople:
    """What a study says about a run: the measured figures of its attacks."""

    study: str
    attacks: Mapping[str, Measured]
    notes: tuple[str, ...] = ()

    def said(self, attack: str, example: str) -> str | None:
        """What people said of a success; None if nobody judged it."""
        found = self.attacks.get(attack)
        return None if found is None else found.said.get(example)
