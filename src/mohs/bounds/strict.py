"""Reads JSON that somebody else wrote: nothing may stand there twice, be left out, be added or be no number."""

from __future__ import annotations

import json
import math
from collections.abc import Collection
from typing import Any

from mohs.errors import BadInput

_MOST_SHOWN = 60  # characters of a value in a message


def loads(text: str) -> Any:
    """The value of a JSON text; refuses names that stand twice, numbers that are not finite, and deep nesting."""
    try:
        return json.loads(text, object_pairs_hook=_once, parse_constant=_not_finite, parse_float=_finite)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"{shown(next(name for name in names if names.count(name) > 1))} stands there twice")
    return found


def _not_finite(name: str) -> float:
    raise ValueError(f"{name} is not a finite number")


def _finite(digits: str) -> float:
    value = float(digits)
    return value if math.isfinite(value) else _not_finite(digits)


def shown(value: Any) -> str:
    """A value in a message, cut if it is long."""
    try:
        found = ascii(value)
    except RecursionError:
        found = type(value).__name__
    return found if len(found) <= _MOST_SHOWN else f"{found[:_MOST_SHOWN]}..."


def exactly(row: Any, names: Collection[str], what: str) -> dict[str, Any]:
    """A row that has these names and no others."""
    if not isinstance(row, dict):
        raise wrong(f"{what} is {shown(row)}, but must be a JSON object")
    for name in names:
        if name not in row:
            raise wrong(f"{what} has no {name!r}")
    for name in row:
        if name not in names:
            raise wrong(f"{what} has a field {shown(name)}, which nobody would check")
    return row


def whole(value: Any, what: str, least: int = 0) -> int:
    """A whole number; neither 0.5 nor 1.0 nor true."""
    if type(value) is not int or value < least:
        raise wrong(f"{what} is {shown(value)}, but must be a whole number of at least {least}")
    return value


def real(value: Any, what: str, least: float, most: float) -> float:
    """A finite number within limits."""
    if type(value) not in (int, float) or not least <= value <= most:
        raise wrong(f"{what} is {shown(value)}, but must be a number from {least:g} to {most:g}")
    return float(value)


def string(value: Any, what: str, empty: bool = False) -> str:
    """A string that can be written; not an empty one unless that is allowed."""
    if type(value) is not str or not (value or empty) or any("\ud800" <= sign <= "\udfff" for sign in value):
        raise wrong(f"{what} is {shown(value)}, but must be a text")
    return value


def several(value: Any, what: str) -> list[Any]:
    """A list."""
    if not isinstance(value, list):
        raise wrong(f"{what} is {shown(value)}, but must be a list")
    return value


def by_place(value: Any, what: str) -> list[tuple[int, Any]]:
    """Pairs of a position and something, each position once."""
    found = []
    for pair in several(value, what):
        if not isinstance(pair, list) or len(pair) != 2:
            raise wrong(f"{what} holds {shown(pair)}, but must hold pairs of a position and its words")
        found.append((whole(pair[0], f"a position of {what}"), pair[1]))
    seen: set[int] = set()
    for place, _ in found:
        if place in seen:
            raise wrong(f"{what} has the position {place} twice")
        seen.add(place)
    return found


def wrong(reason: str) -> BadInput:
    """The exception for a certificate that cannot be believed."""
    return BadInput(f"This is not a valid certificate: {reason}.")
