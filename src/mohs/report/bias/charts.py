"""The geometry of the bias charts. The template draws them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mohs.bias.statistics import PairBias
from mohs.report.bias.figures import ByPair, signed, spread
from mohs.report.charts import ticks, written

MOST_PAIRS = 24  # in a chart; the table shows all
MOST_LINES = 6
MOST_HISTOGRAMS = 3
_LONGEST = 19  # characters of a pair's name beside a chart
_LEFT, _RIGHT, _TOP, _ROW = 148, 388, 10, 32  # of the forest plot
_WIDTH = 0.02  # of a bin

Row = tuple[str, PairBias | None, PairBias | None]


def _reach(found: Iterable[PairBias | None]) -> list[float]:
    values = [0.0]
    for one in found:
        if one is not None:
            values += [value for value in (one.bias, one.low, one.high) if math.isfinite(value)]
    return values


def forest(rows: Sequence[Row], also: Sequence[Row] = ()) -> dict[str, Any] | None:
    """A forest plot: two dots with whiskers for each pair. `also` is drawn beside it, on the same scale."""
    rows, also = rows[:MOST_PAIRS], also[:MOST_PAIRS]
    if not rows:
        return None
    reach = _reach(one for row in (*rows, *also) for one in row[1:])
    marks = ticks(min(reach), max(reach))
    low, high = marks[0], marks[-1]

    def x(value: float) -> float:
        return round(_LEFT + (_RIGHT - _LEFT) * (value - low) / (high - low), 1)

    def dot(one: PairBias | None, y: float) -> dict[str, float | None] | None:
        if one is None:
            return None
        sure = math.isfinite(one.low)
        return {"y": y, "x": x(one.bias), "low": x(one.low) if sure else None, "high": x(one.high) if sure else None}

    bottom = _TOP + _ROW * len(rows)
    return {
        "rows": [
            {
                "name": name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "…",
                "whole": name,
                "y": _TOP + _ROW * number + _ROW / 2 + 4,
                "dots": [dot(first, _TOP + _ROW * number + 10), dot(second, _TOP + _ROW * number + 22)],
                "said": _said(first, second),
            }
            for number, (name, first, second) in enumerate(rows)
        ],
        "ticks": [(x(mark), written(mark)) for mark in marks],
        "zero": x(0),
        "bottom": bottom,
        "right": _RIGHT,
    }


def _said(first: PairBias | None, second: PairBias | None) -> str:
    return ", then ".join(f"{signed(one.bias)} {spread(one)}" if one else "nothing" for one in (first, second))


def by_distance(pairs: ByPair) -> dict[str, Any] | None:
    """B against k, with a line for each of the pairs with most sentences."""
    shown = dict(list(pairs.items())[:MOST_LINES])
    most = max((k for levels in shown.values() for k in levels), default=0)
    if not most:
        return None
    marks = ticks(min(reach := _reach(one for levels in shown.values() for one in levels.values())), max(reach))
    low, high = marks[0], marks[-1]

    def x(k: int) -> float:
        return 74 + 296 * k / most

    def y(value: float) -> float:
        return round(176 - 160 * (value - low) / (high - low), 1)

    lines = []
    for number, (pair, levels) in enumerate(shown.items()):
        shift = 5 * (number - (len(shown) - 1) / 2)  # so that whiskers do not overlap
        points = [(round(x(k) + shift, 1), one) for k, one in sorted(levels.items())]
        path = "".join(f"{'L' if at else 'M'}{px} {y(one.bias)}" for at, (px, one) in enumerate(points))
        bars = "".join(f"M{px} {y(one.low)}V{y(one.high)}" for px, one in points if math.isfinite(one.low))
        said = "; ".join(f"k {one.k} {signed(one.bias)}" for _, one in points)
        dots = [(px, y(one.bias)) for px, one in points]
        lines.append({"name": "|".join(pair), "path": path, "bars": bars, "dots": dots, "said": said})
    return {
        "lines": lines,
        "y": [(y(mark), written(mark)) for mark in marks],
        "zero": y(0),
        "x": [(x(k), str(k)) for k in range(most + 1)],
        "left": len(pairs) - len(shown),
    }


def histograms(pairs: ByPair) -> list[dict[str, Any]]:
    """Histograms of the differences of single texts at each distance, for the pairs with most sentences."""
    return [_histogram("|".join(pair), levels) for pair, levels in list(pairs.items())[:MOST_HISTOGRAMS]]


def _histogram(name: str, levels: Mapping[int, PairBias]) -> dict[str, Any]:
    numbers = [number for one in levels.values() for number in one.bins]
    half = max(5, *(max(abs(number), abs(number + 1)) for number in numbers))
    wide = 372 / (2 * half)

    def x(value: float) -> float:
        return round(200 + value / _WIDTH * wide, 1)

    panels = []
    for number, (k, one) in enumerate(sorted(levels.items())):
        base, total = 62 * number + 54, one.neighbours
        most = max(one.bins.values())
        bars = [
            {
                "x": x(bin * _WIDTH),
                "wide": round(max(wide - 0.6, 0.8), 1),
                "tall": round(max(40 * count / most, 0.6), 1),
            }
            for bin, count in sorted(one.bins.items())
        ]
        said = f"{total:,} text{'s' * (total != 1)}{'' if one.exact else ', sampled'}, mean {signed(one.bias)}"
        panels.append({"k": k, "base": base, "bars": bars, "mean": x(one.bias), "said": said})
    right = [mark for mark in ticks(0, half * _WIDTH) if mark <= half * _WIDTH + 1e-9]
    marks = [*(-mark for mark in reversed(right[1:])), *right]
    bottom = 62 * len(panels) - 8
    return {"name": name, "panels": panels, "ticks": [(x(mark), written(mark)) for mark in marks], "bottom": bottom}
