"""What an attack run adds to the record of an example."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class AttackFinding:
    """Only for a victim that contradicts itself; the records of others have none."""

    apart: float  # how far its score for the final text in the search's batch is from that which it gave the judge
