"""The page of `mohs detect`: one self-contained HTML file with the ROC curves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mohs.detecting.show import MARKS, area, lines, scenario
from mohs.report.listing import short_names
from mohs.report.table import order_of
from mohs.report.template import rendered

if TYPE_CHECKING:
    from mohs.detecting.result import Detection
    from mohs.detecting.roc import Curve

LEFT, RIGHT, TOP, BOTTOM = 40.0, 388.0, 12.0, 300.0
_TICKS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)


def detection_page(found: Detection) -> str:
    """The whole page as HTML."""
    names = short_names(one.name for one in found.attacks)
    figures = [{name: (value, note) for name, value, note in lines(one, found.rate)} for one in found.attacks]
    charts = [
        {
            "title": names[one.name],
            "curves": {part.detector: path_of(part.curve) for part in one.detectors if part.curve is not None},
            "said": "; ".join(f"{part.detector}: AUC {area(part.area)}" for part in one.detectors),
        }
        for one in found.attacks
        if one.adversarial and one.originals
    ]
    detectors = list(dict.fromkeys(part.detector for one in found.attacks for part in one.detectors))
    return rendered(
        "detect.html.j2",
        title=f"detectors on {found.folder.name if found.folder else 'a run'}",
        headline=_headline(found),
        flags=found.notes,
        versions=found.manifest.get("facts", {}).get("versions", {}),
        config=found.manifest.get("config", {}),
        names=names,
        figures=figures,
        order=order_of(figures),
        note=f"{MARKS[0].upper()}{MARKS[1:]}. {' '.join(scenario(found.rate))}",
        charts=charts,
        detectors=detectors,
        x=[(_x(tick), f"{tick:.0%}") for tick in _TICKS],
        y=[(_y(tick), f"{tick:.0%}") for tick in _TICKS],
        alarm=_x(found.rate),
    )


def path_of(curve: Curve) -> str:
    """A curve as an SVG path."""
    points = zip(curve.alarms, curve.found, strict=True)
    return "M" + "L".join(f"{_x(alarms)} {_y(share)}" for alarms, share in points)


def _x(value: float) -> float:
    return round(LEFT + (RIGHT - LEFT) * value, 1)


def _y(value: float) -> float:
    return round(BOTTOM - (BOTTOM - TOP) * value, 1)


def _headline(found: Detection) -> str:
    told: list[Any] = [
        f"{one.name}: {', '.join(f'{part.detector} AUC {area(part.area)}' for part in one.detectors)}"
        for one in found.attacks
    ]
    return "; ".join(told)
