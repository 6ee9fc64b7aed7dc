"""How many of a sample have which label, if the sample is to have the labels of something else."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction


def apportioned(total: int, weights: Mapping[int, int]) -> dict[int, int]:
    """Divide `total` among labels in proportion to their weights: whole numbers by the largest remainders.

    Equal remainders go to the smaller label first.

    >>> apportioned(5, {0: 2, 1: 1})
    {0: 3, 1: 2}
    """
    whole = sum(weights.values())
    if not whole:
        return dict.fromkeys(weights, 0)
    exact = {label: Fraction(total * weight, whole) for label, weight in weights.items()}
    found = {label: int(share) for label, share in exact.items()}
    left = total - sum(found.values())
    for label in sorted(exact, key=lambda label: (found[label] - exact[label], label))[:left]:
        found[label] += 1
    return found


def fitting(total: int, weights: Mapping[int, int], there: Mapping[int, int]) -> dict[int, int]:
    """As `apportioned`, but of the largest total for which there are enough of each label.

    A label of which there is nothing at all holds no other back: it gets none, and the others get their shares.

    >>> fitting(6, {0: 1, 1: 1}, {0: 10, 1: 2})
    {0: 3, 1: 2}
    >>> fitting(6, {0: 1, 1: 1}, {0: 10})
    {0: 3, 1: 0}
    """
    for size in range(total, 0, -1):
        found = apportioned(size, weights)
        if all(count <= there[label] for label, count in found.items() if there.get(label)):
            return {label: count if there.get(label) else 0 for label, count in found.items()}
    return dict.fromkeys(weights, 0)
