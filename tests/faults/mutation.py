"""Random changes of JSON values and of texts."""

from __future__ import annotations

import json
from random import Random
from typing import Any

ODD: list[Any] = [None, True, 0, 1, -1, 0.5, 1e308, 2**70, "", "x", [], {}, [[]], [0], {"a": 1}, "\ud800", "9" * 500]


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every container inside a value, with a key of it."""
    found: list[tuple[Any, Any]] = []
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else []
    for key in keys:
        found.append((value, key))
        found += places(value[key])
    return found


def mutate(value: Any, chance: Random) -> Any:
    """Change some places of a JSON value."""
    value = json.loads(json.dumps(value))
    for _ in range(chance.choice([1, 1, 1, 2, 4])):
        spots = places(value)
        if not spots:
            break
        part, key = chance.choice(spots)
        old = part[key]
        way = chance.randrange(7)
        if way == 0:
            part[key] = chance.choice(ODD)
        elif way == 1:
            del part[key]
        elif way == 2 and isinstance(old, int | float) and not isinstance(old, bool):
            part[key] = old + chance.choice([1, -1, 0.5, 1e-7, -old, 10**9])
        elif way == 3 and isinstance(part, list):
            part.insert(key, json.loads(json.dumps(old)))
        elif way == 4:
            other, place = chance.choice(spots)
            part[key] = json.loads(json.dumps(other[place]))
        elif way == 5 and isinstance(old, str):
            part[key] = chance.choice([old + "x", old[:-1], old.upper(), chance.choice("abcxy")])
        elif isinstance(part, dict):
            part[f"{key}x"] = part.pop(key)
    return value


def mutated_text(text: str, chance: Random) -> str:
    """Change some characters of a text."""
    signs = list(text)
    for _ in range(chance.choice([1, 1, 2, 5])):
        at = chance.randrange(len(signs) + 1)
        way = chance.randrange(4)
        if way == 0:
            signs[at:at] = chance.choice(['"', "{", "[", "]", "}", ",", ":", "\\", "9", "e9", "-", "NaN", "\0", "\n- "])
        elif way == 1:
            del signs[at : at + chance.choice([1, 1, 5, 50])]
        elif way == 2:
            signs[at:at] = signs[at : at + chance.choice([1, 5, 50])]
        else:
            signs[at : at + 1] = [chr(chance.choice([0, 9, 32, 48, 57, 97, 0x7F, 0x85, 0x2028, 0xD7FF, 0x1F600]))]
    return "".join(signs)
