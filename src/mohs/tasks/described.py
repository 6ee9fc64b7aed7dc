"""Values as text that is the same in every process: for record names, manifests and run identities."""

from __future__ import annotations

import hashlib
import inspect
import sys
from collections.abc import Iterator
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from mohs.errors import BadInput
from mohs.text.addresses import without_credentials

_PLAIN = (bool, int, float, str, type(None))


def describe(value: Any, *, defaults: bool = True) -> str:
    """A value as text that is the same in every process. A set of words becomes its size and hash.

    A field that was added later (`metadata={"later": True}`) is left out at its default, so that the identities of
    older runs stay as they are.
    """
    if isinstance(value, frozenset):
        digest = hashlib.sha256("\n".join(sorted(map(str, value))).encode()).hexdigest()[:8]
        return f"<{len(value)} words {digest}>"
    if isinstance(value, tuple):
        return f"({', '.join(map(describe, value))})"
    if is_dataclass(value) and not isinstance(value, type):
        parts = [
            f"{f.name}={describe(getattr(value, f.name))}"
            for f in fields(value)
            if f.repr and ((defaults and not _later(f)) or f.default is MISSING or getattr(value, f.name) != f.default)
        ]
        return f"{type(value).__name__}({', '.join(parts)})"
    if not isinstance(value, (Enum, *_PLAIN)):
        raise BadInput(
            f"{type(value).__name__} has no name that is the same in every process, so a run with it could not be "
            "repeated; write it as a frozen dataclass."
        )
    return repr(value)


def _later(found: Field[Any]) -> bool:
    """Whether a field was added after runs had been stored without it: its default is then left unsaid."""
    return bool(found.metadata.get("later"))


def identity(attack: Any) -> str:
    """The identity of an attack, to compare two runs: its settings, and its code if it is not part of mohs."""
    found = describe(attack)
    for module in sorted({kind.__module__ for kind in _kinds(attack) if kind.__module__.partition(".")[0] != "mohs"}):
        try:
            code = inspect.getsource(sys.modules[module])
        except (OSError, TypeError, KeyError):  # defined at a prompt
            continue
        found += f" in {hashlib.sha256(code.encode()).hexdigest()[:8]}"
    return found


def _kinds(value: Any) -> Iterator[type]:
    """The classes of a value and of everything in its fields."""
    if isinstance(value, tuple):
        for inner in value:
            yield from _kinds(inner)
    elif is_dataclass(value) and not isinstance(value, type):
        yield type(value)
        for f in fields(value):
            yield from _kinds(getattr(value, f.name))


def written(part: Any) -> Any:
    """A part as written on the command line."""
    return part if part is None or isinstance(part, str) else describe(part, defaults=False)


def named(part: Any) -> str:
    """The name given for a model, or the model's own name."""
    return str(without_credentials(str(part) if isinstance(part, str | Path) else part.name))


def loadable(judge: str) -> bool:
    """Whether a run's judge can be loaded again by its name in the manifest; one given as an object cannot."""
    return judge == "pocket" or judge.startswith(("hf:", "refit:"))


def word_list(words: Any) -> str | None:
    """A word list as written in a manifest: its file or name."""
    return None if words is None else str(words) if isinstance(words, str | Path) else "given"
