"""What a radius run adds to the record of an example."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mohs.bounds.intervals import Interval


@dataclass(frozen=True)
class ShareFinding:
    """The share of Omega_r that keeps the label, with its confidence interval."""

    r: int
    size: int | float  # texts in Omega_r; estimated if a large space has substitutes that are not single words
    n: int  # texts drawn, or all texts if counted
    hold: int  # how many of the n keep the label
    value: float
    low: float
    high: float
    method: str
    draw: str | None = None  # independent: words were drawn one by one, so that r and size do not limit the texts

    def above(self, level: float) -> bool | None:
        """Whether the share is above a level; None if its interval has values on both sides of it."""
        return Interval(self.low, self.high).above(level)


@dataclass(frozen=True)
class RadiusFinding:
    """The bounds L <= R < U on the radius R, how they were found, and the shares beyond."""

    lower: int
    upper: int | None
    exact: bool
    whole: bool  # no text of the whole space changes the label
    by: str  # enumeration, enumeration and bounds, or closed form
    stopped: str  # why the proof stopped early; empty if it was completed
    sizes: tuple[int, ...]  # texts of each level
    pruned: tuple[int, ...] = ()  # how many of them a bound proved
    margins: tuple[float, ...] = ()
    attacks: dict[str, int | None] | None = None  # substitutions that each attack needed
    share: ShareFinding | tuple[ShareFinding, ...] | None = None
    certificate: dict[str, Any] | None = None  # as Certificate.to_json writes it

    @property
    def shares(self) -> tuple[ShareFinding, ...]:
        """One share for each radius of --r; empty without --pac."""
        return () if self.share is None else self.share if isinstance(self.share, tuple) else (self.share,)

    @property
    def kind(self) -> str:
        """How much is known: whole, exact, bracketed, or unknown (no upper bound)."""
        if self.whole:
            return "whole"
        if self.exact:
            return "exact"
        return "unknown" if self.upper is None else "bracketed"

    @property
    def reason(self) -> str:
        """Why the proof stopped early; empty if the radius is exact."""
        return "" if self.kind in ("whole", "exact") else self.stopped or "max-r"
