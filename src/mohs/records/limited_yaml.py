"""Reads YAML that may come from others: a few lines of aliases can stand for more than fits into memory."""

from __future__ import annotations

from typing import Any

import yaml

_TIMES = 10  # what aliases stand for may be so many times as long as the text itself
_ALWAYS = 100_000  # characters that are allowed in any case
_MERGE = "tag:yaml.org,2002:merge"
_FLAG, _TEXT = "tag:yaml.org,2002:bool", "tag:yaml.org,2002:str"


class _Loader(yaml.SafeLoader):
    """Plain values only, and no `<<`, which can multiply entries while a file is read.

    Names of values are texts: `on: [first]` names a value `on`, though YAML reads the word elsewhere as true.
    """

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        if any(key.tag == _MERGE for key, _ in node.value):
            raise yaml.YAMLError("it has a merge key (<<); write the values out")
        for key in (key for key, _ in node.value if key.tag == _FLAG):
            key.tag = _TEXT
        super().flatten_mapping(node)


def read_yaml(text: str) -> Any:
    """The value of a YAML text. Raises yaml.YAMLError or ValueError if it is none, or too large without its aliases."""
    found = yaml.load(text, Loader=_Loader)
    if "*" in text:  # an alias
        _length(found, _TIMES * len(text) + _ALWAYS, {})
    return found


def _length(value: Any, most: int, known: dict[int, int | None]) -> int:
    """About how many characters a value would take if all aliases were written out."""
    if isinstance(value, str | bytes):
        return 1 + len(value)
    if not isinstance(value, dict | list | tuple | set):
        return 1
    if id(value) not in known:
        known[id(value)] = None
        parts = [*value, *value.values()] if isinstance(value, dict) else value
        known[id(value)] = 1 + sum(_length(part, most, known) for part in parts)
    length = known[id(value)]
    if length is None:
        raise ValueError("it has an alias that stands for itself")
    if length > most:
        raise ValueError("its aliases stand for too much; write the values out")
    return length
