"""Marks what differs between two texts, so that a reader finds it at once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple

import regex
from rapidfuzz.distance import Levenshtein

from mohs.text.characters import odd_characters

_SIGN = regex.compile(r"\X")
_WORD = regex.compile(r"[\p{L}\p{M}\p{N}_'’\-\p{Cf}]+|[^\s\p{L}\p{M}\p{N}_'’\-\p{Cf}]")
_CHUNK = regex.compile(r"\S+")
_APART = 3  # equal characters between two differences; fewer are marked too, so that marks do not flicker
_MOST_SIGNS = 20_000  # in longer texts whole words are compared, which is quick

Span = tuple[int, int]


class Piece(NamedTuple):
    """A part of a text. code, name: of a single character that cannot be seen, such as U+200B."""

    text: str
    marked: bool = False
    code: str = ""
    name: str = ""


@lru_cache(512)
def pieces(texts: tuple[str, ...], highlight: str) -> tuple[tuple[Piece, ...], ...]:
    """Each text in pieces. highlight: characters, words or none; only two texts have differences."""
    if highlight == "none" or len(texts) != 2:
        return tuple((Piece(text),) for text in texts)
    long = max(map(len, texts)) > _MOST_SIGNS
    spans = _words(*texts) if highlight == "words" or long else _signs(*texts)
    return tuple(_cut(text, some) for text, some in zip(texts, spans, strict=True))


def _words(old: str, new: str) -> tuple[list[Span], list[Span]]:
    """Whole words that differ. Neighbours and the space between them are one span."""
    one, two = [m.span() for m in _WORD.finditer(old)], [m.span() for m in _WORD.finditer(new)]
    found = _differences([old[a:b] for a, b in one], [new[a:b] for a, b in two])
    if not found[0] and not found[1] and old != new:
        return _signs(old, new)  # spaces only
    return _places(one, found[0]), _places(two, found[1])


def _places(parts: Sequence[Span], differing: Sequence[Span]) -> list[Span]:
    """Where stretches of parts stand in the text."""
    return [(parts[first][0], parts[last - 1][1]) for first, last in differing]


def _signs(old: str, new: str) -> tuple[list[Span], list[Span]]:
    """Characters that differ; a letter with its accents is one. Words that differ in most are marked whole."""
    one, two = [m.span() for m in _SIGN.finditer(old)], [m.span() for m in _SIGN.finditer(new)]
    found = _differences([old[a:b] for a, b in one], [new[a:b] for a, b in two], _APART)
    return _whole_words(old, _places(one, found[0])), _whole_words(new, _places(two, found[1]))


def _differences(one: Sequence[str], two: Sequence[str], apart: int = 1) -> tuple[list[Span], list[Span]]:
    """The differing stretches of both sequences, without empty ones. apart: equal parts between two, at least."""
    joined: list[list[int]] = []
    for step in Levenshtein.opcodes(one, two):
        if step.tag == "equal":
            continue
        if joined and step.src_start - joined[-1][1] < apart:
            joined[-1][1], joined[-1][3] = step.src_end, step.dest_end
        else:
            joined.append([step.src_start, step.src_end, step.dest_start, step.dest_end])
    return [(a, b) for a, b, _, _ in joined if a < b], [(c, d) for _, _, c, d in joined if c < d]


def _whole_words(text: str, spans: Sequence[Span]) -> list[Span]:
    """The spans, and all of each word of which they cover more than half."""
    covered = bytearray(len(text))
    for first, last in spans:
        covered[first:last] = b"\1" * (last - first)
    for chunk in _CHUNK.finditer(text):
        first, last = chunk.span()
        if sum(covered[first:last]) * 2 > last - first:
            covered[first:last] = b"\1" * (last - first)
    found, at = [], 0
    for marked, run in groupby(covered):
        size = sum(1 for _ in run)
        if marked:
            found.append((at, at + size))
        at += size
    return found


def _cut(text: str, spans: Sequence[Span]) -> tuple[Piece, ...]:
    found: list[Piece] = []
    at = 0
    for first, last in spans:
        found += [Piece(text[at:first]), *_with_codes(text[first:last])]
        at = last
    found.append(Piece(text[at:]))
    return tuple(piece for piece in found if piece.text)


def _with_codes(text: str) -> list[Piece]:
    """A marked part; its characters that cannot be seen stand alone, with their codes."""
    found, at = [], 0
    for odd in odd_characters(text):
        if odd.seen or text[odd.at] in "\n\r\t":
            continue
        found += [Piece(text[at : odd.at], True), Piece(text[odd.at], True, odd.code, odd.name.capitalize())]
        at = odd.at + 1
    return [*found, Piece(text[at:], True)]
