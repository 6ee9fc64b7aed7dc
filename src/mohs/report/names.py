"""Long names of attacks, measures and victims, broken between their parts and not inside a word."""

from __future__ import annotations

import re

from markupsafe import Markup, escape

_BETWEEN = re.compile(r"(?<=[-:+,=_/\s])(?![-:+,=_/\s])")

_INTERVAL = re.compile(r"\[[^\[\]]*\]")

_WITHIN = re.compile(r"(?<=[-:+,=_/])(?![-:+,=_/\s]|$)")


def pieces(name: str) -> list[str]:
    """A name in the pieces between which it may be broken: `textfooler:`, `paper+`, `fair`."""
    return [piece for piece in _BETWEEN.split(name) if piece]


def longest_piece(name: str) -> int:
    """The width that a name needs at least."""
    return max((len(piece.rstrip()) for piece in pieces(name)), default=0)


def folded(name: str, width: int) -> str:
    """A name in lines of at most a width. Only a piece that is wider than a line is broken itself."""
    lines = [""]
    for piece in pieces(name):
        if lines[-1] and len(lines[-1]) + len(piece.rstrip()) > width:
            lines.append("")
        lines[-1] += piece
    return "\n".join(line.rstrip() for line in lines)


def shortened(name: str, width: int) -> str:
    """A name cut to a width: after a piece, if that leaves half of it."""
    if len(name) <= width:
        return name
    kept = ""
    for piece in pieces(name):
        if len(kept) + len(piece) >= width:
            break
        kept += piece
    return (kept if len(kept) >= width // 2 else name[: width - 1]) + "…"


def breakable(name: object) -> Markup:
    """A name for a page, with the places where a browser may break it besides spaces."""
    return Markup("<wbr>").join(map(escape, _WITHIN.split(str(name))))


def unbroken(text: object) -> str:
    """A figure for a page, whose interval in brackets no browser breaks."""
    return _INTERVAL.sub(lambda found: found.group().replace(" ", "\N{NO-BREAK SPACE}"), str(text))
