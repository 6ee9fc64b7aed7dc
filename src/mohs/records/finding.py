"""Writes a verb's own findings to a record's JSON and reads them back. Each verb has one frozen dataclass for them.

A field is left out while it has its default value of None or False. All other fields are always written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, Union, cast, get_args, get_origin, get_type_hints


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
    read = _reader(kind)
    return row if read is None else read(row)


@cache
def _reader(kind: Any) -> Callable[[Any], Any] | None:
    """What reads a row of this kind; None if the row stays as it is. Types are looked at once, not for every row."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return _one_of(arguments)
    if hasattr(kind, "from_json"):
        return cast(Callable[[Any], Any], kind.from_json)
    if is_dataclass(kind) or hasattr(kind, "_fields"):
        return _with_fields(kind)
    if origin is tuple:
        own = _reader(arguments[0])
        return tuple if own is None else lambda row: tuple(map(own, row))
    if origin is dict:
        key, inner = arguments
        return lambda row: {key(name): finding_from_json(inner, own) for name, own in row.items()}
    return None


def _with_fields(kind: Any) -> Callable[[Any], Any]:
    """What reads an object from the keys that are its fields."""
    readers = {name: _reader(hint) for name, hint in get_type_hints(kind).items()}

    def read(row: Any) -> Any:
        found = {}
        for name, value in row.items():
            if name in readers:
                own = readers[name]
                found[name] = value if own is None else own(value)
        return kind(**found)

    return read


def _one_of(kinds: Sequence[Any]) -> Callable[[Any], Any]:
    """What reads a row as the member of a union that fits: None, a tuple for a list, or else the remaining type."""
    known = [kind for kind in kinds if kind is not NoneType]
    lists = [kind for kind in known if get_origin(kind) is tuple]
    others = [kind for kind in known if get_origin(kind) is not tuple]

    def read(row: Any) -> Any:
        fitting = lists if isinstance(row, list) else others
        return row if row is None or not fitting else finding_from_json(fitting[0], row)

    return read
