"""The geometry of a radius run's charts. The template draws them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

from mohs.report.charts import ticks, written
from mohs.report.radius.figures import RadiusSummary
from mohs.report.radius.shares import ShareFigures
from mohs.report.radius.uppers import Duel, Upper
from mohs.report.radius.violins import scale

MOST_LINES = 6
_LEFT, _RIGHT, _TOP, _BOTTOM = 44, 388, 12, 180


def _x(value: float, low: float, high: float) -> float:
    return round(_LEFT + (_RIGHT - _LEFT) * (value - low) / (high - low), 1)


def _y(share: float) -> float:
    return round(_BOTTOM - (_BOTTOM - _TOP) * share, 1)


def _stairs(shares: Sequence[float], top: int) -> list[tuple[float, float, float]]:
    """The start, end and height of each step. The share at r spans r - 1/2 to r + 1/2."""
    return [(_x(r - 0.5, -0.5, top + 0.5), _x(r + 0.5, -0.5, top + 0.5), _y(share)) for r, share in enumerate(shares)]


def _path(stairs: Sequence[tuple[float, float, float]]) -> str:
    return f"M{stairs[0][0]} {stairs[0][2]}" + "".join(f"V{y}H{end}" for _, end, y in stairs)


def whole_ticks(most: int) -> list[int]:
    """About five whole numbers, starting at zero."""
    return [int(mark) for mark in ticks(0, max(most, 1)) if mark == int(mark) and mark <= most]


def _axes(top: int) -> dict[str, Any]:
    return {
        "x": [(_x(r, -0.5, top + 0.5), str(r)) for r in (range(top + 1) if top <= 10 else whole_ticks(top))],
        "y": [(_y(share), f"{share:.0%}") for share in (0, 0.25, 0.5, 0.75, 1)],
    }


def withstood(summary: RadiusSummary) -> dict[str, Any] | None:
    """The share of examples that withstand r substitutions: a proven lower and a possible upper curve."""
    if not summary.curve:
        return None
    top = summary.curve[-1].r
    proven = _stairs([1.0, *(step.proven.value or 0.0 for step in summary.curve)], top)
    possible = _stairs([1.0, *(step.possible.value or 0.0 for step in summary.curve)], top)
    back = "".join(f"V{y}H{start}" for start, _, y in reversed(proven))
    return {
        "proven": _path(proven),
        "possible": _path(possible),
        "band": f"{_path(possible)}{back}Z",
        "open": any(step.proven.hits != step.possible.hits for step in summary.curve),
        **_axes(top),
    }


def left_standing(attacks: Sequence[Upper]) -> dict[str, Any] | None:
    """For each attack, the share of examples that it does not fool with at most r substitutions."""
    shown = [upper for upper in attacks if upper.success.total][:MOST_LINES]
    top = max((edits for upper in shown for edits in upper.counts), default=0)
    if not top:
        return None
    paths = {}
    for upper in shown:
        left, shares = upper.success.total, []
        for r in range(top + 1):
            left -= upper.counts.get(r, 0)
            shares.append(left / upper.success.total)
        paths[upper.attack] = _path(_stairs(shares, top))
    return {"paths": paths, "left": len(attacks) - len(shown), **_axes(top)}


def side_by_side(attacks: Sequence[Upper], duels: Sequence[Duel]) -> dict[str, Any] | None:
    """Substitutions of one attack against those of the others, text by text (the paper's figure 3).

    The one is PDP, as there, or else the attack with the most wins. Over the diagonal it needs fewer. Examples at the
    same place share one dot, which grows with their number.
    """
    if len(attacks) < 2:
        return None
    one = next((u.attack for u in attacks if u.attack.startswith("pdp")), max(attacks, key=lambda u: u.wins).attack)
    pairs = {d.other: d.points for d in duels if d.attack == one}
    pairs |= {d.attack: tuple(sorted((y, x, count) for x, y, count in d.points)) for d in duels if d.other == one}
    shown = [u.attack for u in attacks if pairs.get(u.attack)]
    top = max((max(x, y) for name in shown for x, y, _ in pairs[name]), default=0)
    if not top:
        return None
    marks = list(range(top + 1)) if top <= 10 else whole_ticks(top)
    return {
        "one": one,
        "dots": [
            (name, [(_x(x, 0, top), _y(y / top), round(min(3 + math.log2(count), 9), 1), count) for x, y, count in own])
            for name, own in ((name, pairs[name]) for name in shown[: MOST_LINES - 1])
        ],
        "left": max(0, len(shown) - MOST_LINES + 1),
        "diagonal": f"M{_LEFT} {_BOTTOM}L{_RIGHT} {_TOP}",
        "sides": [
            (name, *(sum(count for x, y, count in pairs[name] if sign(y - x)) for sign in _SIDES)) for name in shown
        ],
        "x": [(_x(mark, 0, top), str(mark)) for mark in marks],
        "y": [(_y(mark / top), str(mark)) for mark in marks],
    }


_SIDES = ((0).__lt__, (0).__eq__, (0).__gt__)  # over, on and under the diagonal


def scatter(share: ShareFigures) -> dict[str, Any]:
    """PR against L. Examples at the same place share one dot, which grows with their number."""
    marks = scale([share])
    low = marks[0]
    most = max(1, *(lower for lower, *_ in share.values))
    places = Counter(
        (whole, _x(lower, -0.5, most + 0.5), _y((value - low) / (1 - low))) for lower, whole, value, _ in share.values
    )
    dots = [
        {"whole": whole, "x": x, "y": y, "r": round(min(3 + math.log2(count), 9), 1), "count": count}
        for (whole, x, y), count in sorted(places.items(), key=lambda item: (-item[1], item[0]))
    ]
    return {
        "dots": dots,
        "x": [(_x(r, -0.5, most + 0.5), str(r)) for r in (range(most + 1) if most <= 10 else whole_ticks(most))],
        "y": [(_y((mark - low) / (1 - low)), written(mark)) for mark in marks],
    }
