"""The geometry of an attack run's curve. The template draws it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from mohs.report.attack.figures import Summary

_WIDTH, _LEFT, _RIGHT, _TOP, _BOTTOM = 400, 40, 12, 12, 180  # of the drawing


def curve(summaries: Sequence[Summary], queries: Mapping[str, Counter[int]]) -> dict[str, Any] | None:
    """For each attack, the share of attacked examples fooled within a number of queries, as an SVG path of steps."""
    if not queries:
        return None
    most = math.ceil(1.2 * max(2, *(max(counts) for counts in queries.values())))

    def x(asked: float) -> float:
        return round(_LEFT + (_WIDTH - _LEFT - _RIGHT) * math.log(max(asked, 1)) / math.log(most), 1)

    def y(share: float) -> float:
        return round(_BOTTOM - (_BOTTOM - _TOP) * share, 1)

    paths = {}
    for summary in summaries:
        fooled, total = 0, summary.success.total
        if not total:
            continue
        points = {float(_LEFT): y(0)}
        for asked, count in sorted(queries.get(summary.attack, {}).items()):
            fooled += count
            points[x(asked)] = y(fooled / total)
        steps = "".join(f"H{at}V{height}" for at, height in points.items())
        paths[summary.attack] = f"M{_LEFT} {points[float(_LEFT)]}{steps}H{_WIDTH - _RIGHT}"
    decades = int(math.log10(most)) + 1
    ticks = [d * 10**e for e in range(decades) for d in ((1, 2, 5) if decades <= 3 else (1,)) if d * 10**e <= most]
    return {"paths": paths, "x": [(x(tick), f"{tick:,}") for tick in ticks], "most": most}
