"""Turns questions to a masked language model into rows of tokens.

A blank becomes one mask, a word of its own, however many pieces stood there. A text too long for the model is cut to a
window of tokens with the blank in the middle, or nearer the edge at the ends of the text. In a pair, the other text is
cut first, from its end (`mohs.models.token_rows.around`). So a mask is never lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import regex

from mohs.models.entries import Entries
from mohs.models.special_tokens import SpecialTokens
from mohs.models.token_rows import around
from mohs.models.tokens import Composer
from mohs.text.questions import Blank, Pieces, Spelling

MaskQuestion = Blank | Pieces | Spelling

_WORD_BEFORE = regex.compile(r"[\p{L}\p{M}\p{N}]$")
_WORD_BEHIND = regex.compile(r"[\p{L}\p{M}\p{N}]")
_OPENING_BEFORE = regex.compile(r"[\p{Ps}\p{Pi}]$|(?:^|[\s\p{Ps}\p{Pi}])[\"']$")
_CLOSING_BEHIND = regex.compile(r"[\s\p{Pe}\p{Pf}.,;:!?%…]|[\"'](?!\w)")


class MaskReading(NamedTuple):
    """The model input for a question. Without places, the question is answered without the model."""

    ids: list[int]
    types: list[int] | None
    places: tuple[int, ...]  # the positions in the row whose scores are needed
    wanted: tuple[tuple[int, ...], ...] = ()  # at each place, the entries whose scores are needed; -1 for none
    bare: bool = False  # no space before the first place: there an entry without the space mark starts a word
    texts: tuple[str, ...] = ()  # the pieces at the places


class MaskReader:
    """Turns many questions into readings at once, so that equal strings are tokenised once."""

    def __init__(
        self, composer: Composer, special_tokens: SpecialTokens, entries: Entries, mask: int, room: Callable[[int], int]
    ) -> None:
        self._composer = composer
        self._special_tokens = special_tokens
        self._entries = entries
        self._mask = mask
        self._room = room  # number of texts -> tokens that fit in a row; raises if the model takes no such row

    def __call__(self, questions: Sequence[MaskQuestion]) -> list[MaskReading]:
        """The reading of each question; raises if one cannot be read."""
        blanks = [question for question in questions if isinstance(question, Blank)]
        words = [question for question in questions if isinstance(question, Pieces)]
        strings = dict.fromkeys(
            [part for blank in blanks for part in _parts(blank)]
            + [field for word in words for field in word.fields[: word.field] + word.fields[word.field + 1 :]]
        )
        seen = dict.fromkeys(_own(word) for word in words)
        for string in (*strings, *seen):
            string.encode()  # raises a clear error here if the text holds half a surrogate pair
        ids = dict(zip(strings, self._composer.ids(list(strings)), strict=True))
        placed = dict(zip(seen, self._composer.placed(list(seen)), strict=True))
        found = []
        for question in questions:
            if isinstance(question, Blank):
                found.append(self._blank(question, ids))
            elif isinstance(question, Pieces):
                found.append(self._pieces(question, ids, *placed[_own(question)]))
            else:
                found.append(self._spelling(question))
        return found

    def _blank(self, blank: Blank, ids: dict[str, list[int]]) -> MaskReading:
        left, right, bare = sides(_own(blank), blank.start, blank.end)
        parts = [ids[field] if number != blank.field else [] for number, field in enumerate(blank.fields)]
        parts[blank.field] = [*ids[left], self._mask, *ids[right]]
        at = len(ids[left])
        row, types, first, _ = self._row(parts, blank.field, at, at + 1)
        wanted = tuple(self._single(ids[word if bare else f" {word}"]) for word in blank.words)
        return MaskReading(row, types, (first,), (wanted,), bare and self._entries.spaced)

    def _single(self, ids: list[int]) -> int:
        """The token id of a word that is a single entry; -1 if it is not."""
        return ids[0] if len(ids) == 1 and self._entries.texts[ids[0]] else -1

    def _pieces(
        self, word: Pieces, ids: dict[str, list[int]], own: list[int], offsets: list[tuple[int, int]]
    ) -> MaskReading:
        text = _own(word)
        held = [
            number
            for number, (start, end) in enumerate(offsets)
            if max(start, word.start) < min(end, word.end) and text[start:end].strip()
        ]
        if not held:
            return MaskReading([], None, ())
        parts = [ids[field] if number != word.field else own for number, field in enumerate(word.fields)]
        row, types, first, last = self._row(parts, word.field, held[0], held[-1] + 1)
        places = tuple(place for number in held if (place := first + number - held[0]) < last)
        texts = []
        for number in held[: len(places)]:
            start, end = offsets[number]
            texts.append(self._entries.texts[own[number]] or text[max(start, word.start) : min(end, word.end)])
        bare = self._entries.spaced and starts_bare(text[: word.start])
        return MaskReading(row, types, places, (), bare, tuple(texts))

    def _spelling(self, word: Spelling) -> MaskReading:
        ids = (self._entries.spelt(word.pieces) or [])[: self._room(1)]
        if not ids:
            return MaskReading([], None, ())
        row, types, first, last = self._row([ids], 0, 0, len(ids))
        return MaskReading(row, types, tuple(range(first, last)), tuple((number,) for number in ids))

    def _row(
        self, parts: list[list[int]], field: int, start: int, end: int
    ) -> tuple[list[int], list[int] | None, int, int]:
        """A row that contains given tokens of one text, their position in it, and the end of that text in it."""
        kept = around([len(part) for part in parts], field, start, end, self._room(len(parts)))
        inner = [part[first:last] for part, (first, last) in zip(parts, kept, strict=True)]
        row, types = self._special_tokens.row(inner)
        before = self._special_tokens.before(len(parts), field) + sum(map(len, inner[:field]))
        first, last = kept[field]
        return row, types, before + start - first, before + last - first


def sides(string: str, start: int, end: int) -> tuple[str, str, bool]:
    """The strings before and after a mask, and whether the mask has no space before it.

    The mask is a word of its own, so a space separates it from other words. An inserted mask also gets a space next to
    punctuation, unless the punctuation belongs there. The space before a mask is never kept: in vocabularies that mark
    word starts it is part of the mask, and in others it means nothing.
    """
    left, right = string[:start], string[end:]
    if start < end:
        bare, apart = starts_bare(left), _WORD_BEHIND.match(right)
    else:
        bare = not left.strip() or bool(_OPENING_BEFORE.search(left))
        apart = right and not _CLOSING_BEHIND.match(right)
    return left.rstrip(), f" {right}" if apart else right, bare


def starts_bare(left: str) -> bool:
    """Whether a word after this string starts without a space: at the start of a text, or after a punctuation mark."""
    return not left.strip() or not (left[-1].isspace() or _WORD_BEFORE.search(left))


def _own(question: Blank | Pieces) -> str:
    """The field that a question is about; checks that its span lies inside."""
    fields, number, start, end = question[:4]
    if not 0 <= number < len(fields) or not 0 <= start <= end <= len(fields[number]):
        raise ValueError(f"there is no span {start}:{end} in field {number} of {fields!r}")
    return fields[number]


def _parts(blank: Blank) -> Iterator[str]:
    """All strings of a blank that need tokenising."""
    left, right, bare = sides(_own(blank), blank.start, blank.end)
    yield from (left, right)
    yield from (field for number, field in enumerate(blank.fields) if number != blank.field)
    yield from (word if bare else f" {word}" for word in blank.words)
