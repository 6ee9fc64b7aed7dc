"""The geometry of a comparison's charts: clean against robust accuracy. The template draws them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mohs.comparisons.questions import CLEAN, LOWER_IS_BETTER
from mohs.report.charts import ticks, written

if TYPE_CHECKING:
    from mohs.comparisons.result import Comparison

_LEFT, _RIGHT, _TOP, _BOTTOM = 40.0, 388.0, 12.0, 180.0
_BAR = 180.0  # the longest bar


def scatters(comparison: Comparison) -> list[dict[str, Any]]:
    """A chart for each attack and accuracy under it: a point for each run, with the intervals of both accuracies."""
    return [
        chart
        for group in comparison.groups
        for question in comparison.rates(comparison.sides[0], group)
        if question not in LOWER_IS_BETTER and (chart := _scatter(comparison, group, question)) is not None
    ]


def training_bars(comparison: Comparison) -> list[dict[str, Any]]:
    """A bar for each victim whose training time is known: the mean seconds of an epoch."""
    known = [(side.letter, side.victim, side.training) for side in comparison.sides if side.training is not None]
    most = max((time.an_epoch for _, _, time in known), default=0.0)
    return [
        {
            "number": [side.letter for side in comparison.sides].index(letter),
            "name": f"{letter}: {victim}",
            "width": round(_BAR * time.an_epoch / most, 1) if most else 0.0,
            "said": f"{time.an_epoch:.2f} s, {len(time.seconds)} epochs, {time.device}",
        }
        for letter, victim, time in known
    ]


def _scatter(comparison: Comparison, group: str, question: str) -> dict[str, Any] | None:
    rates = [
        (side.letter, comparison.rates(side, "")[CLEAN], comparison.rates(side, group)[question])
        for side in comparison.sides
    ]
    known = [(letter, clean, robust) for letter, clean, robust in rates if clean.interval and robust.interval]
    if not known:
        return None
    ends = [end for _, clean, _ in known for end in clean.interval or ()]
    across = [tick for tick in ticks(100 * min(ends), 100 * max(ends)) if 0 <= tick <= 100]
    low, high = min(across[0], 100 * min(ends)), max(across[-1], 100 * max(ends))

    def x(share: float) -> float:
        return round(_LEFT + (_RIGHT - _LEFT) * (100 * share - low) / ((high - low) or 1), 1)

    def y(share: float) -> float:
        return round(_BOTTOM - (_BOTTOM - _TOP) * share, 1)

    points = []
    for letter, clean, robust in known:
        wide, tall = clean.interval or (0, 1), robust.interval or (0, 1)
        points.append(
            {
                "name": letter,
                "x": x(clean.value or 0),
                "y": y(robust.value or 0),
                "wide": (x(wide[0]), x(wide[1])),
                "tall": (y(tall[0]), y(tall[1])),
                "said": f"{letter}: {clean.value or 0:.1%} before, {robust.value or 0:.1%} {question}",
            }
        )
    return {
        "group": group,
        "question": question,
        "points": points,
        "x": [(x(tick / 100), f"{written(tick)}%") for tick in across],
        "line": ((x(low / 100), y(low / 100)), (x(high / 100), y(high / 100))),
    }
