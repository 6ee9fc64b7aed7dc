"""Counts of cases and of what went wrong in them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from tests.faults.nurse import Ended

FAULTS = ("lost", "wrong", "tracebacks", "hangs")


@dataclass
class Tally:
    """One line of the table."""

    kind: str
    cases: int = 0
    lost: int = 0  # finished before the fault, and not there afterwards
    wrong: int = 0  # other results than without the fault, or no message where one is due
    tracebacks: int = 0
    hangs: int = 0
    notes: list[str] = field(default_factory=list)

    def note(self, fault: str, what: str) -> None:
        """Count a fault."""
        setattr(self, fault, getattr(self, fault) + 1)
        self.notes.append(f"{self.kind}: {fault}: {what}")

    def ended(self, ended: Ended, what: str) -> None:
        """Count what no command may do, whatever happens to it."""
        if ended.hung:
            self.note("hangs", what)
        if ended.orphans:
            self.note("hangs", f"{what}: processes are left over")
        if ended.traceback:
            self.note("tracebacks", f"{what}: {ended.stderr[-2000:]}")

    def said(self, ended: Ended, what: str) -> None:
        """Count a failure that is not told in one sentence."""
        if ended.status not in (0, None) and not ended.traceback and not ended.sentence:
            self.note("wrong", f"{what}: exit code {ended.status} without one sentence: {ended.stderr[-500:]!r}")

    @property
    def faults(self) -> int:
        """The number of all faults."""
        return sum(getattr(self, fault) for fault in FAULTS)


def added(tallies: Iterable[Tally]) -> list[Tally]:
    """The tallies of each kind added up, in the order of their first appearance."""
    found: dict[str, Tally] = {}
    for tally in tallies:
        own = found.setdefault(tally.kind, Tally(tally.kind))
        for name in ("cases", *FAULTS, "notes"):
            setattr(own, name, getattr(own, name) + getattr(tally, name))
    return list(found.values())


def table(tallies: Iterable[Tally]) -> str:
    """The lines of the table."""
    names = ("cases", *FAULTS)
    lines = [f"{'kind':<34}" + "".join(f"{name:>12}" for name in names)]
    lines += [f"{t.kind:<34}" + "".join(f"{getattr(t, name):>12,}" for name in names) for t in tallies]
    return "\n".join(lines)
