"""Sentences put together from the tokens of a parse."""

from __future__ import annotations

from collections.abc import Sequence

from mohs.text.parses import ParsedToken

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


def sentence(string: str) -> str:
    """With a capital letter in front and a full stop at the end."""
    string = string.strip().rstrip(".?!,").strip()
    return f"{string[:1].upper()}{string[1:]}."


def like_case(word: str, model: str) -> str:
    """A word in the capitals of another: all, the first, or none."""
    if model.isupper() and (len(model) > 1 or len(word) == 1):
        return word.upper()
    return word[:1].upper() + word[1:] if model[:1].isupper() else word
