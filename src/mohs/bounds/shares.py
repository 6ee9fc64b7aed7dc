"""PR at several radii, and how delta is shared out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from mohs.bounds.intervals import each
from mohs.bounds.points import Points
from mohs.bounds.share import Share
from mohs.errors import BadInput

_MOST = 5_000_000  # texts drawn for one example, all at once


@dataclass(frozen=True)
class Shares:
    """Several shares of one example, one for each radius asked for."""

    radii: tuple[Share, ...]

    async def __call__(self, points: Points, label: int, words: int, seed: str) -> list[dict[str, Any]]:
        """Each share as a record keeps it, in the order asked for."""
        return [await share(points, label, words, seed) for share in self.radii]


def checked(asked: Share | str | int | Sequence[Share | str | int] | None) -> tuple[Share, ...]:
    """The shares asked for, or the radii that stand for them, if they differ in nothing but r and can be drawn."""
    one = isinstance(asked, Share | str | int)
    several: Any = () if asked is None else (asked,) if one else asked
    shares = tuple(share if isinstance(share, Share) else Share(str(share)) for share in several)
    for share in shares:
        if replace(share, r=shares[0].r) != shares[0]:
            raise BadInput(f"{share} and {shares[0]} differ in more than r; make a run for each.")
        if [other.r for other in shares].count(share.r) > 1:
            raise BadInput(f"The radius {share.r} is asked for twice; name it once.")
        if share.radius(1) < 1 or (share.r.endswith("%") and not 0 < float(share.r[:-1]) <= 100):
            raise BadInput(f"The radius {share.r} must be at least 1, or a share above 0% and up to 100%.")
        drawable(share)
    return shares


def together(shares: Sequence[Share], examples: int) -> tuple[Share, ...]:
    """The same shares, with delta divided by the number of all their intervals in so many examples (`each`)."""
    found = tuple(replace(share, delta=each(share.delta, examples * len(shares))) for share in shares)
    for share in found:
        drawable(share)
    return found


def drawable(share: Share) -> None:
    """Refuse what would never end."""
    if share.draws > _MOST:
        raise BadInput(
            f"epsilon {share.epsilon:g} and delta {share.delta:g} ask for {share.draws:,} texts an example, more than "
            f"{_MOST:,}; take a larger epsilon, or give the number of draws."
        )
