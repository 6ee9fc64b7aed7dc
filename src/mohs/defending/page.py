"""The page of defences: one self-contained HTML file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mohs.defending.show import caption, columns, marked, ways
from mohs.report.listing import short_names
from mohs.report.table import order_of
from mohs.report.template import rendered

if TYPE_CHECKING:
    from mohs.defending.figures import Judged
    from mohs.defending.result import Against, Defended

_MOST_TOLD = 2  # defences in the headline
_TITLE, _LINE = 32, 36  # pixels that the name of a defence and a share take in a chart


def defended_page(found: Defended) -> str:
    """The whole page as HTML."""
    return rendered(
        "defend.html.j2",
        title=f"defences of {found.parts[0].victim if found.parts else 'a victim'}",
        headline=_headline(found),
        flags=found.notes,
        versions=found.manifest.get("facts", {}).get("versions", {}),
        config=found.manifest.get("config", {}),
        ways=ways(found),
        note=f"{marked(found, found.errors).capitalize()}.",
        keys=found.keys,
        adaptive_keys=found.adaptive_keys,
        draws=found.draws,
        average=found.average,
        parts_of=[_part(part) for part in found.parts],
    )


def _part(part: Against) -> dict[str, Any]:
    """The table and the chart of one attack."""
    found = columns(part)
    names = list(short_names(name for name, _ in found).values())
    figures = [{name: (value, of) for name, value, of in rows} for _, rows in found]
    return {
        "caption": caption(part),
        "names": names,
        "figures": figures,
        "order": order_of(figures),
        "chart": _chart(part),
    }


def _chart(part: Against) -> dict[str, Any]:
    """Success in each way, for each defence: shares with their intervals, one below the other."""
    shares: list[tuple[str, list[tuple[str, Any]]]] = [("undefended", [("attack success", part.undefended.success)])]
    for one in part.defences:
        lines: list[tuple[str, Any]] = [("(1) left on finished texts", one.left)]
        if one.adaptive is not None:
            lines.append(("(2) adaptive", one.adaptive.success))
            if one.adaptive.fresh is not None:
                lines.append(("(3) over fresh draws", one.adaptive.fresh))
            if one.adaptive.averaging is not None:
                lines.append(("(3) averaging attack, over fresh draws", one.adaptive.averaging))
        shares.append((one.defence, lines))
    y, groups = 0, []
    for name, lines in shares:
        y += _TITLE
        group: dict[str, Any] = {"name": name, "y": y, "lines": []}
        for told, share in lines:
            y += _LINE
            group["lines"].append((told, share, y))
        groups.append(group)
    return {"groups": groups, "bottom": y + 16, "height": y + 36}


def _headline(found: Defended) -> str:
    """What a defence leaves of finished attacks, and of adaptive ones; of many, where the two are furthest apart."""
    told = [(part, one) for part in found.parts for one in part.defences if one.left.value is not None]
    if len(told) > _MOST_TOLD:
        widest = max(told, key=lambda pair: _gap(pair[1]))
        defences, attacks = len({one.defence for _, one in told}), len(found.parts)
        counted = f"{defences} defence{'s' * (defences > 1)} against {attacks} attack{'s' * (attacks > 1)}"
        return f"{counted}; the ways to judge are furthest apart for {_told(*widest)}"
    return "; ".join(_told(*pair) for pair in told) or "There is nothing to show yet"


def _gap(one: Judged) -> float:
    adaptive = None if one.adaptive is None else one.adaptive.success.value
    return -1.0 if adaptive is None else adaptive - (one.left.value or 0.0)


def _told(part: Against, one: Judged) -> str:
    said = f"{one.defence} against {part.attack}: {one.left.value:.0%} success left on finished texts"
    if one.adaptive is not None and one.adaptive.success.value is not None:
        said += f", {one.adaptive.success.value:.0%} when the defence itself is attacked"
    return said
