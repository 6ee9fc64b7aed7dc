"""The table of all sources and measures, for `mohs spaces`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from typing import Any

from mohs.space.sources import Listed
from mohs.space.written import MEASURES, SOURCES, parse_measure, parse_source


def table() -> list[dict[str, Any]]:
    """All sources and measures with their settings, for `mohs spaces`."""
    rows: list[dict[str, Any]] = []
    kinds: tuple[tuple[str, Mapping[str, type], Callable[[str], Any]], ...] = (
        ("source", SOURCES, parse_source),
        ("measure", MEASURES, parse_measure),
    )
    for what, entries, parse in kinds:
        for name, kind in entries.items():
            settings = ["FILE"] if kind is Listed else [_setting(f) for f in fields(kind)]
            needs = getattr(kind, "needs", ())
            if isinstance(needs, property):  # it depends on a setting: show the most that any setting needs
                needs = max((parse(spec).needs for spec in _variants(name, kind)), key=len)
            rows.append(
                {
                    "kind": what,
                    "name": name,
                    "family": str(getattr(kind, "family", "-")),
                    "settings": ", ".join(settings),
                    "needs": [part.replace("_", " ") for part in needs],
                    "about": (kind.__doc__ or "").strip().split("\n")[0],
                }
            )
    return rows


def _setting(f: Any) -> str:
    if f.default is MISSING:
        return f"{f.name}=VALUE"
    shown = {"True": "yes", "False": "no", "None": "none"}.get(str(f.default), f.default)
    return f"{f.name}={shown}"


def _variants(name: str, kind: type) -> list[str]:
    """The spec with defaults, and one spec for each switch turned on."""
    switches = [f.name for f in fields(kind) if f.default is False]
    return [name, *(f"{name}:{switch}=yes" for switch in switches)]
