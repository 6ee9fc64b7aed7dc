"""Sentences: put together from the tokens of a parse, and found in a text."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mohs.text.parses import ParsedToken

_END = re.compile(r"(?<=[.!?])[\"'”’)]*\s+(?=[A-Z0-9\"'“‘(])")
_ABBREVIATED = re.compile(
    r"(?:\b(?:Mr|Mrs|Ms|Dr|Prof|Rev|Hon|St|Jr|Sr|Gen|Col|Capt|Lt|Sgt|Sen|Rep|Gov|Inc|Corp|Co|Ltd|No|vs|Jan|Feb|Mar|Apr|"
    r"Aug|Sept?|Oct|Nov|Dec|[A-Z])|\.[A-Z])\.$"
)
Piece = ParsedToken | str  # a token, or a phrase that is put between tokens


def said(pieces: Sequence[Piece]) -> str:
    """The pieces as a string. Two tokens that touched in their sentence touch again; all others have a space."""
    found = ""
    before: Piece | None = None
    for piece in pieces:
        touching = isinstance(before, ParsedToken) and isinstance(piece, ParsedToken) and before.end == piece.start
        found += (" " if found and not touching else "") + (piece if isinstance(piece, str) else piece.text)
        before = piece
    return found


def sentences_of(text: str) -> list[str]:
    """The sentences of a text. None ends behind an initial or an abbreviation such as Mr."""
    found: list[str] = []
    start = 0
    for match in _END.finditer(text):
        if not _ABBREVIATED.search(text[: match.start()]):
            found.append(text[start : match.end()].strip())
            start = match.end()
    return [one for one in (*found, text[start:].strip()) if one]


def sentence(string: str) -> str:
    """With a capital letter in front and a full stop at the end."""
    string = string.strip().rstrip(".?!,").strip()
    return f"{string[:1].upper()}{string[1:]}."


def like_case(word: str, model: str) -> str:
    """A word in the capitals of another: all, the first, or none."""
    if model.isupper() and (len(model) > 1 or len(word) == 1):
        return word.upper()
    return word[:1].upper() + word[1:] if model[:1].isupper() else word
