"""What is found out about the radius of one example, beside what every record holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class ShareFinding:
    """The share of Omega_r that keeps the label, with its interval."""

    r: int
    size: int | float  # of Omega_r
    n: int  # texts drawn, or counted
    hold: int  # of these: with the label
    value: float
    low: float
    high: float
    method: str


@dataclass(frozen=True)
class RadiusFinding:
    """L <= R < U, how that is known, and the shares beyond."""

    lower: int
    upper: int | None
    exact: bool
    whole: bool  # nothing in the whole space changes the label
    by: str  # enumeration, enumeration and bounds, or closed form
    stopped: str  # what ended the proof; empty if it went to its end
    sizes: tuple[int, ...]  # texts of each level
    pruned: tuple[int, ...] = ()  # of these: settled by a bound
    margins: tuple[float, ...] = ()
    attacks: dict[str, int | None] | None = None  # the substitutions that each attack needed
    share: ShareFinding | tuple[ShareFinding, ...] | None = None
    certificate: dict[str, Any] | None = None  # as Certificate.to_json writes it

    @property
    def shares(self) -> tuple[ShareFinding, ...]:
        """None, one, or one for each radius asked for."""
        return () if self.share is None else self.share if isinstance(self.share, tuple) else (self.share,)

    @property
    def kind(self) -> str:
        """How much is known: whole, exact, bracketed, or unknown above."""
        if self.whole:
            return "whole"
        if self.exact:
            return "exact"
        return "unknown" if self.upper is None else "bracketed"

    @property
    def reason(self) -> str:
        """What ended the proof; empty where the radius is exact."""
        return "" if self.kind in ("whole", "exact") else self.stopped or "max-r"
