"""What a second-order run adds to the record of an example."""

from __future__ import annotations

from dataclasses import dataclass

from mohs.second_order.patches import Patch, Scores


@dataclass(frozen=True)
class SecondOrderFinding:
    """The patch, the victim's answers with it, and how far the search walked. The rest is None if nothing was found."""

    patch: Patch
    patched_before: Scores  # for the original with the patch
    patched_after: Scores | None = None  # for the neighbour with the patch
    steps: int | None = None
    size: int | None = None  # texts checked
