"""`mohs.compare`: the command as a function."""

from __future__ import annotations

from typing import Any

from mohs.comparisons.result import Comparison
from mohs.comparisons.settings import Comparing
from mohs.comparisons.sides import AnyRun


def compare(*runs: AnyRun, judge: Any = None) -> Comparison:
    """Compare finished runs of different victims, example by example. The first is the baseline.

    The result has `sides` (the runs), `against` (each other run against the first), `notes`, `to_json()`,
    `write(path)` and `page(path)`.

    runs: run folders, or Runs of `mohs.attack`, `mohs.second_order_attack`, `mohs.certify` or `mohs.radius`.
    judge: the judge of fair success: pocket, refit:FOLDER, hf:PATH_OR_ID, an object, or "none"; by default that of the
        runs.

    >>> import mohs
    >>> plain = mohs.attack("pocket", "pocket", n=8)
    >>> masked = mohs.attack("masking(pocket)", "pocket", n=8)
    >>> found = compare(plain, masked, judge="none")
    >>> found.against[0].row("", "accuracy before").of
    'examples scored in both'
    """
    return Comparing(judge=judge).carry_out(runs)
