"""The geometry of an analysis's charts. The template draws them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mohs.analyses.buckets import PER_UNIT, Buckets
from mohs.analyses.layers import LayerFigures
from mohs.report.charts import ticks, written

LEFT, RIGHT, TOP, BOTTOM = 40.0, 388.0, 12.0, 180.0


def histogram(found: Sequence[tuple[str, Buckets]]) -> dict[str, Any] | None:
    """One line of steps for each attack, as shares of its substitutions, over the same buckets."""
    shown = [(name, buckets) for name, buckets in found if buckets.total]
    if not shown:
        return None
    first = min(buckets.counts[0][0] for _, buckets in shown)
    low, high = min(0.0, first), 1 + 1 / PER_UNIT
    top = ticks(0, max(count / buckets.total for _, buckets in shown for _, count in buckets.counts))

    def x(value: float) -> float:
        return round(LEFT + (RIGHT - LEFT) * (value - low) / (high - low), 1)

    def y(value: float) -> float:
        return round(BOTTOM - (BOTTOM - TOP) * value / top[-1], 1)

    panels = {}
    for name, buckets in shown:
        path = f"M{x(buckets.counts[0][0])} {BOTTOM}"
        for edge, count in buckets.counts:
            path += f"V{y(count / buckets.total)}H{x(edge + 1 / PER_UNIT)}"
        panels[name] = f"{path}V{BOTTOM}"
    marks = [tick for tick in ticks(low, 1) if low <= tick <= 1]
    return {
        "panels": panels,
        "x": [(x(tick), written(tick)) for tick in marks],
        "y": [(y(tick), f"{100 * tick:g}%") for tick in top],
    }


def layer_chart(figures: LayerFigures) -> dict[str, Any]:
    """For each group the median as a line and the quartiles as a band, over the layers."""
    layers = len(figures.curves[0].quartiles)
    lowest = min(low for curve in figures.curves for low, _, _ in curve.quartiles)
    up = ticks(min(0.0, lowest), 1)

    def x(layer: int) -> float:
        return round(LEFT + (RIGHT - LEFT) * layer / max(layers - 1, 1), 1)

    def y(value: float) -> float:
        return round(BOTTOM - (BOTTOM - TOP) * (value - up[0]) / (up[-1] - up[0]), 1)

    groups = {}
    for curve in figures.curves:
        high = [f"{x(n)} {y(found[2])}" for n, found in enumerate(curve.quartiles)]
        low = [f"{x(n)} {y(found[0])}" for n, found in enumerate(curve.quartiles)]
        line = [f"{x(n)} {y(found[1])}" for n, found in enumerate(curve.quartiles)]
        groups[curve.group] = {"band": f"M{'L'.join([*high, *low[::-1]])}Z", "line": f"M{'L'.join(line)}"}
    step = max(1, -(-layers // 13))
    return {
        "groups": groups,
        "x": [(x(n), str(n)) for n in range(0, layers, step)],
        "y": [(y(tick), written(tick)) for tick in up],
    }
