"""The geometry of an analysis's charts. The template draws them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mohs.report.charts import ticks, written
from mohs.studies.group_figures import Point
from mohs.studies.question_figures import QuestionFigures
from mohs.studies.ratings import Estimate
from mohs.studies.relations import Bucket, Cell
from mohs.studies.validity import Validity

LEFT, RIGHT, TOP, BOTTOM = 40.0, 388.0, 12.0, 180.0
_FEW = 10  # items: points of fewer are drawn faintly
_MOST_CHANGES = 12  # columns of the chart of Eq. 6.2; more changes share the last one
_SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)

Scale = Callable[[float], float]


def percents() -> list[tuple[float, str]]:
    """The marks of a vertical axis of shares."""
    return [(_height(share), f"{100 * share:g}%") for share in _SHARES]


def threshold_chart(columns: Sequence[tuple[str, Sequence[Point]]], threshold: float | None) -> dict[str, Any] | None:
    """The share of valid items at each threshold, a line for each group; that of valid attacks, where it is computed.

    The band of a line is its interval. threshold: where the rule's own lies.
    """
    shown = [(name, curve) for name, curve in columns if any(point.valid.value is not None for point in curve)]
    if not shown or threshold is None:
        return None
    values = [point.threshold for _, curve in shown for point in curve]
    x = _across(min(values), max(values))
    lines = {}
    for name, curve in shown:
        found: list[tuple[float, Estimate | None]] = [(point.threshold, point.valid) for point in curve]
        attacks = [(point.threshold, point.attacks) for point in curve]
        lines[name] = {**_line(found, x), "attacks": _line(attacks, x)["line"]}
    marks = [tick for tick in ticks(min(values), max(values)) if min(values) <= tick <= max(values)]
    return {
        "lines": lines,
        "attacks": any(one["attacks"] for one in lines.values()),
        "x": [(x(tick), written(tick)) for tick in marks],
        "at": x(min(max(threshold, min(values)), max(values))),
        "threshold": written(threshold),
    }


def bucket_chart(found: Sequence[Bucket]) -> dict[str, Any] | None:
    """The share of valid items in intervals of 0.05, each with its own interval."""
    if not found:
        return None
    low = min(0.7, math.floor(found[0].left * 10) / 10)
    x = _across(low, 1.05)
    points = [
        {
            "x": x(one.left + 0.025),
            "y": _height(one.share),
            "high": _height(one.high),
            "low": _height(one.low),
            "faint": one.count < _FEW,
        }
        for one in found
    ]
    marks = [tick for tick in ticks(low, 1.0) if low <= tick <= 1]
    return {"points": points, "x": [(x(tick), written(tick)) for tick in marks], "few": any(p["faint"] for p in points)}


def cell_chart(found: Sequence[Cell]) -> dict[str, Any] | None:
    """The share of valid items in cells of 0.1 x 0.1: the word cosine across, the encoder's similarity upwards."""
    if not any(one.share is not None for one in found):
        return None
    left, bottom = min(one.bottom for one in found), min(one.left for one in found)
    across = round((max(one.bottom for one in found) - left) * 10) + 1
    up = round((max(one.left for one in found) - bottom) * 10) + 1
    wide, tall = min(58.0, (RIGHT - LEFT) / across), 32.0
    end = TOP + tall * up
    every = 1 if across <= 8 else 2  # labels
    cells = [
        {
            "x": round(LEFT + wide * round((one.bottom - left) * 10), 1),
            "y": round(end - tall * (round((one.left - bottom) * 10) + 1), 1),
            "share": one.share,
            "count": one.count,
            "opacity": None if one.share is None else round(0.06 + 0.4 * one.share, 2),
        }
        for one in found
    ]
    return {
        "cells": cells,
        "wide": round(wide, 1),
        "tall": tall,
        "end": end,
        "x": [
            (round(LEFT + wide * n, 1), "" if n % every else written(round(left + n / 10, 1)))
            for n in range(across + 1)
        ],
        "y": [(round(end - tall * n, 1), written(round(bottom + n / 10, 1))) for n in range(up + 1)],
    }


def answer_bars(question: QuestionFigures) -> list[dict[str, Any]]:
    """How often each answer was given, with its interval."""
    return [
        {"label": one.label, "count": one.count, "share": one.share.value, "low": one.share.low, "high": one.share.high}
        for one in question.answers
    ]


def change_chart(changes: Mapping[int, int], valid: Validity) -> dict[str, Any] | None:
    """Eq. 6.2: the share p(i) of attacks with i changes, and the share P^i of these that is valid."""
    total = sum(changes.values())
    if not total or valid.value is None:
        return None
    most = max(changes)
    last = min(most, _MOST_CHANGES)
    counts = {i: changes.get(i, 0) for i in range(min(changes), last)}
    counts[last] = sum(count for i, count in changes.items() if i >= last)
    step = (RIGHT - LEFT) / len(counts)
    columns = []
    for number, (i, count) in enumerate(counts.items()):
        here = {n: many for n, many in changes.items() if n >= i} if i == last else {i: count}
        held = sum(many * valid.value**n for n, many in here.items())
        columns.append(
            {
                "label": f"{i}+" if i == last and most > last else str(i),
                "share": count / total,
                "power": held / count if count else valid.value**i,
                "part": held / total,
                "x": round(LEFT + step * number + 1.5, 1),
                "middle": round(LEFT + step * (number + 0.5), 1),
                "y": _height(count / total),
                "power_y": _height(held / count if count else valid.value**i),
                "part_y": _height(held / total),
            }
        )
    return {"columns": columns, "wide": round(step - 3, 1), "valid": sum(one["part"] for one in columns)}


def _line(found: Sequence[tuple[float, Estimate | None]], x: Scale) -> dict[str, str]:
    """The path of a curve, and of the band of its intervals; empty where nothing is known."""
    line, high, low = [], [], []
    for at, one in found:
        if one is not None and one.value is not None:
            line.append(f"{x(at)} {_height(one.value)}")
            if one.low is not None and one.high is not None:
                high.append(f"{x(at)} {_height(one.high)}")
                low.append(f"{x(at)} {_height(one.low)}")
    return {"line": f"M{'L'.join(line)}" if line else "", "band": f"M{'L'.join([*high, *low[::-1]])}Z" if low else ""}


def _across(low: float, high: float) -> Scale:
    return lambda value: round(LEFT + (RIGHT - LEFT) * (value - low) / max(high - low, 1e-9), 1)


def _height(share: float) -> float:
    return round(BOTTOM - (BOTTOM - TOP) * share, 1)
