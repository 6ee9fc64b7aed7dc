"""Placeholders, links and tags in a text. They stand for something that is not there, so no change of them counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import regex

from mohs.text.text import Text

_ALONE = frozenset({"URL", "HTTPURL"})  # words that stand for a link without any sign around them; capitals only
_MARKED = regex.compile(
    r"""
      (?:https?|ftp)://[^\s<>"]+  |  (?<![\p{L}\p{N}_.@])www\.[^\s<>"]+       # a link
    | (?<![\p{L}\p{N}_@])@[\p{L}\p{N}_]+                                      # @USER, and any other handle
    | \[\p{Lu}[\p{Lu}\p{N}_\-]+(?:[ ][\p{Lu}\p{N}_\-]+){0,2}\]                # [NAME], [PERSON 1]
    | </?\p{L}[\p{L}\p{N}_:\-]*                                               # <user>, <br />, <a href="...">
      (?:\s+[\p{L}_:\-]+\s*=\s*(?:"[^"<>]*"|'[^'<>]*'|[^\s"'<>]+))*\s*/?>
    """,
    regex.VERBOSE,
)


def placeholders(text: Text) -> frozenset[int]:
    """The positions of words in placeholders (@USER, [NAME], <user>, URL), in links and in tags such as <br />.

    A word counts by the characters around it: neither "user" nor "url" in plain prose is a placeholder.
    """
    marked = [[match.span() for match in _MARKED.finditer(field)] for field in text.fields]
    if not any(marked) and _ALONE.isdisjoint(text.words):
        return frozenset()
    return frozenset(
        position
        for position, (field, start, end) in enumerate(text.spans())
        if text.words[position] in _ALONE or any(first < end and start < last for first, last in marked[field])
    )


def without_placeholders(text: Text, positions: Sequence[int]) -> tuple[int, ...]:
    """The given positions, without those of placeholders."""
    kept = placeholders(text)
    return tuple(position for position in positions if position not in kept) if kept else tuple(positions)


def marks(string: str) -> Counter[str]:
    """The placeholders with signs around them, links and tags in a string, without the full stop after a link."""
    return Counter(match.group().rstrip(".,;:!?") for match in _MARKED.finditer(string))
