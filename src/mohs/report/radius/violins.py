"""The geometry of the PR charts: a violin for each radius, and the share of examples above a level."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median, quantiles
from typing import Any

import numpy as np
import numpy.typing as npt

from mohs.report.charts import ticks, written
from mohs.report.radius.shares import ShareFigures

MOST_VIOLINS = 6
_LEFT, _RIGHT, _TOP, _BOTTOM = 44, 388, 12, 180
_FEW = 5  # values; fewer are drawn as dots, without a density
_WIDEST = 70.0  # the most that half a violin may be wide
_STEPS = 60  # heights at which a violin's width is computed
_FINEST = 0.005  # the narrowest kernel, as a share of the axis


def scale(shares: Sequence[ShareFigures]) -> list[float]:
    """Ticks that end at 1 and start below the lowest PR, at 0.9 or lower."""
    return ticks(min(0.9, *(share.least for share in shares)), 1.0)


def height(value: float, low: float) -> float:
    """The height of a PR on an axis from `low` to 1."""
    return round(_BOTTOM - (_BOTTOM - _TOP) * (value - low) / (1 - low), 1)


def density(values: Sequence[float], at: Sequence[float], finest: float) -> npt.NDArray[np.float64]:
    """The density of the values, by Gaussian kernels of Silverman's width, reflected at 0 and 1.

    No kernel has a deviation below `finest`, so that equal values have a density too.
    """
    seen = np.asarray(values, np.float64)
    lower, _, upper = quantiles(values, n=4) if len(values) > 1 else (0.0, 0.0, 0.0)
    spreads = [spread for spread in (float(seen.std(ddof=1)), (upper - lower) / 1.34) if spread > 0]
    wide = max(finest, 0.9 * min(spreads, default=0.0) * len(values) ** -0.2)
    mirrored = np.concatenate([seen, -seen, 2 - seen])
    far = (np.asarray(at, np.float64)[:, None] - mirrored) / wide
    dense: npt.NDArray[np.float64] = np.exp(-(far**2) / 2).sum(axis=1) / (len(values) * wide * math.sqrt(2 * math.pi))
    return dense


def violins(shares: Sequence[ShareFigures]) -> dict[str, Any]:
    """The distribution of PR over examples for each radius, from minimum to maximum (the paper's figure 5)."""
    shown = shares[:MOST_VIOLINS]
    marks = scale(shown)
    low, room = marks[0], (_RIGHT - _LEFT) / len(shown)
    found = []
    for place, share in enumerate(shown):
        values = sorted(value for _, _, value, _ in share.values)
        x = round(_LEFT + room * (place + 0.5), 1)
        half = min(_WIDEST, 0.42 * room)
        enough = len(values) >= _FEW
        found.append(
            {
                "r": share.r,
                "x": x,
                "outline": _outline(values, x, half, low) if enough and values[0] < values[-1] else None,
                "dots": [] if enough else [height(value, low) for value in values],
                "ends": [height(end, low) for end in (values[0], values[-1])] if enough else [],
                "half": round(half / 3, 1),
                "median": height(median(values), low),
                "mean": height(sum(values) / len(values), low),
                "said": f"{len(values)} examples, least {values[0]:.4f}, median {median(values):.4f}, "
                f"mean {sum(values) / len(values):.4f}, greatest {values[-1]:.4f}",
            }
        )
    return {
        "violins": found,
        "left": len(shares) - len(shown),
        "y": [(height(mark, low), written(mark)) for mark in marks],
    }


def _outline(values: Sequence[float], x: float, half: float, low: float) -> str:
    """The outline as an SVG path: up the right side and down the left. The width follows the density."""
    at = np.linspace(values[0], values[-1], _STEPS)
    dense = density(values, at.tolist(), _FINEST * (1 - low))
    wide = (half * dense / dense.max()).tolist()
    points = [(x + w, height(v, low)) for v, w in zip(at.tolist(), wide, strict=True)]
    points += [(x - w, height(v, low)) for v, w in zip(at.tolist()[::-1], wide[::-1], strict=True)]
    return "M" + "L".join(f"{a:.1f} {b}" for a, b in points) + "Z"


def levels(shares: Sequence[ShareFigures]) -> dict[str, Any]:
    """The share of examples with PR above a level. A single radius also has a line for the lower ends of intervals."""
    shown = shares[:MOST_VIOLINS]
    marks = scale(shown)
    low = marks[0]
    lines = [(f"r = {share.r}", [value for *_, value, _ in share.values]) for share in shown]
    if len(shares) == 1:
        lines = [
            ("PR", lines[0][1]),
            ("the lower end of its interval", [bottom for *_, bottom in shown[0].values]),
        ]
    return {
        "lines": [(name, _falling(values, low)) for name, values in lines],
        "x": [(_across(mark, low), written(mark)) for mark in marks],
        "y": [(height(part, 0), f"{part:.0%}") for part in (0, 0.25, 0.5, 0.75, 1)],
    }


def _across(level: float, low: float) -> float:
    return round(_LEFT + (_RIGHT - _LEFT) * (max(level, low) - low) / (1 - low), 1)


def _falling(values: Sequence[float], low: float) -> str:
    """An SVG path that steps down by one example at each value."""
    left, total = len(values), len(values)
    path = f"M{_LEFT} {height(1, 0)}"
    for value in sorted(set(values)):
        left -= values.count(value)
        path += f"H{_across(value, low)}V{height(left / total, 0)}"
    return f"{path}H{_RIGHT}"
