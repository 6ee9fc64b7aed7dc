"""The geometry of the chart: accuracies against the budget. The template draws it."""

from __future__ import annotations

from typing import Any

from mohs.report.certify.figures import CertifySummary
from mohs.report.rates import Rate

_LEFT, _RIGHT, _TOP, _BOTTOM = 44, 388, 12, 180


def against_budget(summary: CertifySummary) -> dict[str, Any] | None:
    """Certified and robust accuracy at each budget, with their intervals; before them clean accuracy."""
    if not summary.budgets:
        return None
    places = ["0", *(one.budget for one in summary.budgets)]
    step = (_RIGHT - _LEFT) / len(places)
    xs = [round(_LEFT + step * (number + 0.5), 1) for number in range(len(places))]
    lines = {
        "certified": [summary.clean, *(one.certified for one in summary.budgets)],
        "robust": [summary.clean, *(one.robust for one in summary.budgets)],
    }
    return {
        "x": list(zip(xs, places, strict=True)),
        "y": [(_y(share), f"{share:.0%}") for share in (0, 0.25, 0.5, 0.75, 1)],
        "lines": [(name, _line(xs, rates, -4 if name == "certified" else 4)) for name, rates in lines.items()],
    }


def _line(xs: list[float], rates: list[Rate], aside: float) -> dict[str, Any]:
    """The path and the whiskers of one accuracy; a little aside, so that two whiskers do not cover each other."""
    dots = [
        (x + aside, _y(rate.value or 0.0), *((_y(end) for end in rate.interval) if rate.interval else (0.0, 0.0)))
        for x, rate in zip(xs, rates, strict=True)
    ]
    return {"path": "M" + "L".join(f"{x} {y}" for x, y, _, _ in dots), "dots": dots}


def _y(share: float) -> float:
    return round(_BOTTOM - (_BOTTOM - _TOP) * share, 1)
