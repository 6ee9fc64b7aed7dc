"""What a second-order search finds beside what every record holds."""

from __future__ import annotations

from dataclasses import dataclass

from mohs.second_order.patches import Patch, Scores


@dataclass(frozen=True)
class SecondOrderFinding:
    """The patch, the victim's answers with it, and how far the search walked. What was not found is None."""

    patch: Patch
    patched_before: Scores  # of the original with the patch
    patched_after: Scores | None = None  # of the neighbour with the patch
    steps: int | None = None
    size: int | None = None  # texts looked at
