"""Writes a verb's own findings to a record's JSON and reads them back. Each verb has one frozen dataclass for them.

A field is left out while it has its default value of None or False. All other fields are always written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints


def finding_to_json(value: Any) -> Any:
    """A finding as plain JSON values."""
    if hasattr(value, "to_json"):
        return value.to_json()
    if is_dataclass(value) and not isinstance(value, type):
        row = {}
        for f in fields(value):
            own = getattr(value, f.name)
            if not (own is f.default and (own is None or own is False)):
                row[f.name] = finding_to_json(own)
        return row
    if hasattr(value, "_asdict"):
        return {name: finding_to_json(own) for name, own in value._asdict().items()}
    if isinstance(value, Mapping):
        return {str(key): finding_to_json(own) for key, own in value.items()}
    if isinstance(value, list | tuple):
        return [finding_to_json(own) for own in value]
    return value


def finding_from_json(kind: Any, row: Any) -> Any:
    """Read back what finding_to_json wrote, as an object of this kind. Unknown keys of other versions are ignored."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return _one_of(arguments, row)
    if hasattr(kind, "from_json"):
        return kind.from_json(row)
    if is_dataclass(kind) or hasattr(kind, "_fields"):
        hints = _hints(kind)
        return kind(**{name: finding_from_json(hints[name], own) for name, own in row.items() if name in hints})
    if origin is tuple:
        inner = arguments[0]
        return tuple(row) if inner in (float, int, str) else tuple(finding_from_json(inner, own) for own in row)
    if origin is dict:
        key, inner = arguments
        return {key(name): finding_from_json(inner, own) for name, own in row.items()}
    return row


def _one_of(kinds: Sequence[Any], row: Any) -> Any:
    """Read a row as the union member that fits: None, a tuple for a list, or else the remaining type."""
    if row is None:
        return None
    several = isinstance(row, list)
    fitting = [kind for kind in kinds if kind is not NoneType and (get_origin(kind) is tuple) == several]
    return finding_from_json(fitting[0], row) if fitting else row


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind)
