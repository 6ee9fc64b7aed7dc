"""A note beside a data file that says how it was made."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from mohs.runs.data_file import digest_of, write_text
from mohs.tasks.described import written
from mohs.tasks.option import given


def about_of(out: Path) -> Path:
    """Where the note of a file stands."""
    return out.with_name(f"{out.name}.about.json")


def write_about(out: Path, settings: Iterable[Any], facts: Mapping[str, Any], sources: Mapping[str, Any]) -> Path:
    """Write the note: version, options that differ from their defaults, figures, hashes of what was read and written.

    It has no time in it, so the same command writes the same note.
    """
    import mohs

    options: dict[str, Any] = {}
    for one in settings:
        options |= {name: _shown(value) for name, value in given(one).items() if name != "out"}
    note = {
        "made by": f"mohs augment {mohs.__version__}",
        "options": options,
        "figures": dict(facts),
        "sources": dict(sources),
        "sha256": digest_of(out),
    }
    place = about_of(out)
    write_text(place, json.dumps(note, ensure_ascii=False, indent=2, default=str) + "\n")
    return place


def _shown(value: Any) -> Any:
    if isinstance(value, str | int | float | None):
        return value
    if isinstance(value, list | tuple):
        return [_shown(one) for one in value]
    if isinstance(value, Path):
        return str(value)
    return f"{value.name} {value.fingerprint}" if hasattr(value, "fingerprint") else written(value)
