"""Reads the values of a design one by one, and says which one is wrong and what it should be."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

_MISSING = object()


class Fault(ValueError):
    """What is wrong with a design, as the middle of a sentence."""


class Reader:
    """A mapping from YAML. What was not read by the end is an unknown key."""

    def __init__(self, values: Any, place: str) -> None:
        if not isinstance(values, dict):
            raise Fault(f"{place or 'it'} must have `name: value` lines, not {_shown(values)}")
        self._values = {str(key): value for key, value in values.items()}
        self._place = place
        self._read: set[str] = set()

    def given(self, name: str) -> Any:
        """A value as it stands, without counting as read; None if there is none."""
        return self._values.get(name)

    def _take(self, name: str, default: Any) -> Any:
        self._read.add(name)
        value = self._values.get(name)
        if value is not None:
            return value
        if default is _MISSING:
            raise Fault(f"{self._named(name)} is missing")
        return default

    def _named(self, name: str) -> str:
        return f"{self._place}.{name}" if self._place else name

    def _wrong(self, name: str, value: Any, wanted: str) -> Fault:
        return Fault(f"{self._named(name)} is {_shown(value)}; it must be {wanted}")

    def text(self, name: str, default: Any = _MISSING) -> str:
        """A string that is not empty, unless the default is."""
        value = self._take(name, default)
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise self._wrong(name, value, "a text; put words such as yes and no in quotation marks")
        if default is _MISSING and not str(value).strip():
            raise self._wrong(name, value, "a text that is not empty")
        return str(value).strip()

    def choice(self, name: str, known: Sequence[str], default: Any = _MISSING) -> str:
        """One of some words."""
        value = self._take(name, default)
        if value not in known:
            raise self._wrong(name, value, f"one of {', '.join(filter(None, known))}")
        return str(value)

    def flag(self, name: str, default: bool) -> bool:
        """True or false."""
        value = self._take(name, default)
        if not isinstance(value, bool):
            raise self._wrong(name, value, "true or false")
        return value

    def number(self, name: str, least: float, most: float, default: Any = _MISSING) -> float:
        """A number within limits."""
        value = self._take(name, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
            raise self._wrong(name, value, f"a number from {least:g} to {most:g}")
        return float(value)

    def whole(self, name: str, least: int, most: int, default: Any = _MISSING) -> int:
        """A whole number within limits."""
        value = self._take(name, default)
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise self._wrong(name, value, f"a whole number from {least:,} to {most:,}")
        return value

    def maybe_number(self, name: str) -> float | None:
        """A finite number, if there is one."""
        value = self._take(name, None)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise self._wrong(name, value, "a number")
        return float(value)

    def maybe_whole(self, name: str) -> int | None:
        """A whole number, if there is one."""
        value = self._take(name, None)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
            raise self._wrong(name, value, "a whole number")
        return value

    def texts(self, name: str) -> list[str]:
        """A list of strings."""
        value = self._take(name, _MISSING)
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            raise self._wrong(name, value, "a list of texts; put words such as yes and no in quotation marks")
        return value

    def wholes(self, name: str) -> list[int]:
        """A list of whole numbers."""
        value = self._take(name, _MISSING)
        if not isinstance(value, list) or any(isinstance(one, bool) or not isinstance(one, int) for one in value):
            raise self._wrong(name, value, "a list of whole numbers")
        return value

    def part(self, name: str) -> Reader | None:
        """A mapping inside, if there is one."""
        value = self._take(name, None)
        return None if value is None else Reader(value, self._named(name))

    def parts(self, name: str, only: str = "") -> list[Reader]:
        """A list of mappings. only: a plain text in their place is the value of that key."""
        value = self._take(name, [])
        if not isinstance(value, list):
            raise self._wrong(name, value, "a list")
        return [
            Reader({only: one} if only and isinstance(one, str | int) else one, f"{self._named(name)}[{number}]")
            for number, one in enumerate(value, 1)
        ]

    def end(self) -> None:
        """Refuse keys that nobody read."""
        for name in self._values:
            if name not in self._read:
                known = ", ".join(sorted(self._read))
                raise Fault(f"{self._named(name)} is unknown; known are {known}")


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
