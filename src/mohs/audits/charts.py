"""The geometry of an audit's charts. The template draws them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from mohs.audits.figures import AttackAudit, Rule, Synonyms
from mohs.report.charts import ticks, written

_LEFT, _RIGHT, _TOP, _BOTTOM = 40.0, 388.0, 12.0, 180.0
_BAR = 190.0  # the longest bar
MOST_RULES = 8


def _x(value: float, low: float, high: float) -> float:
    return round(_LEFT + (_RIGHT - _LEFT) * (value - low) / ((high - low) or 1), 1)


def _y(value: float, low: float, high: float) -> float:
    return round(_BOTTOM - (_BOTTOM - _TOP) * (value - low) / ((high - low) or 1), 1)


def scatter(audits: Sequence[AttackAudit]) -> dict[str, Any] | None:
    """Mean errors introduced against the number of words changed; the area of a point grows with its examples."""
    found = {one.name: one.grammar.by_changes for one in audits if one.grammar and one.grammar.by_changes}
    if not found:
        return None
    points = [point for group in found.values() for point in group]
    most = max(count for _, count, _ in points)
    across = ticks(0, max(changed for changed, _, _ in points))
    up = ticks(min(0.0, *(value for *_, value in points)), max(0.0, *(value for *_, value in points)))
    return {
        "groups": {
            name: [
                {
                    "x": _x(changed, across[0], across[-1]),
                    "y": _y(value, up[0], up[-1]),
                    "r": round(2 + 6 * math.sqrt(count / most), 1),
                    "said": f"{changed} changed: {value:.2f} errors, {count} example{'s' * (count != 1)}",
                }
                for changed, count, value in group
            ]
            for name, group in found.items()
        },
        "x": [(_x(tick, across[0], across[-1]), written(tick)) for tick in across if tick == int(tick)],
        "y": [(_y(tick, up[0], up[-1]), written(tick)) for tick in up],
    }


def rule_bars(rules: Sequence[Rule]) -> list[dict[str, Any]]:
    """Bars of the rules that are broken more often than in the originals, by how many errors are new."""
    shown = [rule for rule in rules if rule.after > rule.before][:MOST_RULES]
    most = max((rule.after for rule in shown), default=1)
    return [
        {
            "rule": rule.rule,
            "before": round(_BAR * rule.before / most, 1),
            "after": round(_BAR * rule.after / most, 1),
            "said": f"{rule.before} → {rule.after}"
            + (f", ratio {rule.ratio:.1f}" if rule.ratio is not None else ", new"),
        }
        for rule in shown
    ]


def curves(audits: Sequence[AttackAudit]) -> list[dict[str, Any]]:
    """For each measure a chart: the success of each attack against the threshold."""
    names = dict.fromkeys(name for one in audits for name in one.curves)
    found = []
    for name in names:
        paths = {one.name: _path(one.curves[name], one.success.total) for one in audits if _drawn(one, name)}
        if paths:
            marks = [(_x(tick / 4, 0, 1), written(tick / 4)) for tick in range(5)]
            found.append({"name": name, "paths": paths, "x": marks})
    return found


def _drawn(one: AttackAudit, name: str) -> bool:
    return bool(one.success.total) and name in one.curves


def _path(points: Sequence[tuple[float, int]], total: int) -> str:
    steps = [f"{_x(at, 0, 1)} {_y(hits / total, 0, 1)}" for at, hits in points]
    return f"M{'L'.join(steps)}"


def synonym_lines(groups: Sequence[Synonyms]) -> Mapping[str, Any] | None:
    """Success against the number of synonyms, one line a group."""
    if not groups:
        return None
    across = ticks(0, max(k for group in groups for k, _, _ in group.points))

    def line(points: Sequence[tuple[int, Any]]) -> list[tuple[float, float]]:
        return [(_x(k, across[0], across[-1]), _y(found.value or 0, 0, 1)) for k, found in points if found is not None]

    return {
        "groups": {
            group.attack: {
                "before": line([(k, before) for k, before, _ in group.points]),
                "after": line([(k, after) for k, _, after in group.points]),
            }
            for group in groups
        },
        "x": [(_x(tick, across[0], across[-1]), written(tick)) for tick in across],
    }
