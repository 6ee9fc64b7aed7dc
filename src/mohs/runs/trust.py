"""Code that a file names: it runs only if the user says so (SECURITY.md)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from mohs.errors import BadInput
from mohs.runs.run import Run

_PYTHON = re.compile(r"(?<![\w./-])python:")


def runs_code(value: str) -> bool:
    """Whether a value stands for Python code: a function of a module, or a class in a file; also inside a defence.

    Whoever has a Ray cluster can run code in what joins it.
    """
    from mohs.space.written import names_code

    return _PYTHON.search(value) is not None or value.startswith("ray:") or names_code(value)


def refuse_code_of(run: Run, options: Iterable[str], *, trusted: bool) -> None:
    """Refuse a run whose manifest names code in one of these options. A run in memory was made here."""
    if trusted or run.folder is None:
        return
    config = run.manifest.get("config", {})
    named = next((text for name in options for text in _texts(config.get(name)) if runs_code(text)), None)
    if named is not None:
        raise BadInput(f"The run {run.folder} names code to run ({named}); if you trust it, add --trust-code.")


def _texts(value: Any) -> list[str]:
    if isinstance(value, Mapping):
        return [text for part in value.values() for text in _texts(part)]
    if isinstance(value, list | tuple):
        return [text for part in value for text in _texts(part)]
    return [value] if isinstance(value, str) else []
