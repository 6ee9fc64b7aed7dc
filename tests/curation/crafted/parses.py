"""Parses written by hand: `text/tag/relation/head` for each token, and `/entity` if it is part of one."""

from __future__ import annotations

from mohs.text.parses import Parse, ParsedToken


def parse_of(line: str) -> Parse:
    """Tokens with a space between them, but none before a question mark, a full stop, a comma or 's."""
    found: list[ParsedToken] = []
    end = -1
    for one in line.split():
        text, tag, relation, head, *entity = one.split("/")
        start = end if text in ("?", ".", ",", "'s") else end + 1
        end = start + len(text)
        found.append(ParsedToken(text, start, end, int(head), relation, "X", tag, text.lower(), "".join(entity)))
    return tuple(found)
