"""Comparing answers that came in batches of other sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from mohs.models.victim import Scores


def alike(victim: Any, wanted: Sequence[Scores]) -> Any:
    """What compares equal to the scores: to the bit if the victim says that batches do not matter, else nearly.

    Whether they do depends on the processor, so a test that asks for equal bits passes on some machines only.
    """
    return list(wanted) if victim.exact else [pytest.approx(row, abs=1e-6) for row in wanted]
