"""Attacks from outside: a class in the user's own file, or an installed plug-in."""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points
from typing import Any

from mohs.assets.own import named_in
from mohs.errors import BadInput

GROUP = "mohs.attacks"


def from_file(spec: str) -> Any:
    """The attack `path/to/file.py:NAME`. This runs the file, as an import would."""
    place, _, name = spec.rpartition(":")
    return _attack(named_in(place, name, "an attack"), spec, f"{spec} is None; name a class.")


def installed() -> dict[str, EntryPoint]:
    """The attacks that installed packages register, by name."""
    return {entry.name: entry for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name)}


def from_plugin(entry: EntryPoint) -> Any:
    """The attack behind an entry point."""
    try:
        found = entry.load()
    except Exception as error:  # importing a plug-in can raise anything
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise BadInput(f"The plug-in {entry.name} ({entry.value}) cannot be loaded: {reason}") from error
    return _attack(found, entry.name, f"The plug-in {entry.name} is None; it must name a class.")


def _attack(found: Any, spec: str, missing: str) -> Any:
    """An instance, checked to have what an attack needs."""
    if found is None:
        raise BadInput(missing)
    try:
        attack = found() if isinstance(found, type) or not hasattr(found, "source") else found
    except Exception as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise BadInput(f"{spec} cannot be created without arguments: {reason}") from error
    lacking = [part for part in ("source", "constraints", "stopwords", "needs_scores") if not hasattr(attack, part)]
    if lacking or not callable(attack):
        raise BadInput(
            f"{spec} is not an attack: it lacks {', '.join(lacking) or '__call__'}; see docs/write-an-attack.md."
        )
    return attack
