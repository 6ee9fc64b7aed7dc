"""The vocabulary of a small model: turns texts into rows of word ids.

A row holds the lower-cased words of a text. The two texts of a pair are divided by a separator that no text can spell.
A text longer than the window is cut at its end; in a pair, the longer text is cut first.
"""

from __future__ import annotations

import hashlib
from array import array
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from mohs.models.sweeps import Base
from mohs.models.token_rows import INT32_BYTES, keep, packed
from mohs.text.text import Text, words_of

PADDING, UNKNOWN, SEPARATOR = 0, 1, 2
FIRST_WORD = 3

Row = tuple[int, ...]

_MOST_PIECES = 1 << 18  # some 40 MB; then the table is emptied
_SEPARATOR = packed([SEPARATOR])
assert PADDING == 0, "rows are padded with zero bytes"


class _Pieces(dict[str, bytes]):
    """A cache of the packed word ids of pieces without spaces; candidates share nearly all of their pieces."""

    def __init__(self, index: dict[str, int]) -> None:
        super().__init__()
        self._index = index

    def __missing__(self, piece: str) -> bytes:
        if len(self) >= _MOST_PIECES:
            self.clear()
        found = self[piece] = packed([self._index.get(word, UNKNOWN) for word in words_of((piece,))])
        return found


@dataclass(frozen=True)
class Vocabulary:
    """Words in the order of their ids, and the longest and shortest row."""

    words: tuple[str, ...]
    most: int  # words in a row, including the separator
    least: int = 1  # shorter rows are padded; this depends on the text alone, not on the batch

    @cached_property
    def index(self) -> dict[str, int]:
        """The id of each word."""
        return {word: number + FIRST_WORD for number, word in enumerate(self.words)}

    @cached_property
    def digest(self) -> str:
        """A hash of the words in their order."""
        return hashlib.sha256("\n".join(self.words).encode()).hexdigest()[:16]

    def __len__(self) -> int:
        return len(self.words) + FIRST_WORD

    def row(self, fields: tuple[str, ...]) -> Row:
        """The ids of a text's words."""
        return tuple(array("i", self.packed(fields)))

    def packed(self, fields: tuple[str, ...]) -> bytes:
        """Like `row`, but as bytes of 32-bit numbers, joined from those of the pieces between spaces."""
        piece = self._pieces.__getitem__
        if len(fields) == 1:
            row = b"".join(map(piece, fields[0].split(" ")))[: self.most * INT32_BYTES]
        else:
            parts = [b"".join(map(piece, field.split(" "))) for field in fields]
            kept = keep([len(part) // INT32_BYTES for part in parts], self._room(fields))
            row = _SEPARATOR.join([part[: size * INT32_BYTES] for part, size in zip(parts, kept, strict=True)])
        return row.ljust(self.least * INT32_BYTES, b"\0")

    def base(self, text: Text) -> Base | None:
        """The row of a text in pieces."""
        for piece in text.fields[0].split(" "):
            self._pieces[piece]
        return Base.of(text, self._pieces, self._pieces)

    @cached_property
    def _pieces(self) -> _Pieces:
        return _Pieces(self.index)

    def spans(self, fields: tuple[str, ...]) -> tuple[list[int], list[tuple[int, int, int]]]:
        """For each word inside the window: its place in the row, and its field, start and end."""
        found = Text(*fields).spans()
        lengths = [sum(span[0] == number for span in found) for number in range(len(fields))]
        kept = keep(lengths, self._room(fields))
        places: list[int] = []
        spans: list[tuple[int, int, int]] = []
        before = 0  # number of words in the fields so far
        for field, (size, length) in enumerate(zip(kept, lengths, strict=True)):
            start = len(places) + field
            places += range(start, start + size)
            spans += found[before : before + size]
            before += length
        return places, spans

    def places(self, text: Text) -> list[list[int]]:
        """For each word its place in the row; none for a word outside the window."""
        bounds = text.bounds
        lengths = [end - start for start, end in pairwise(bounds)]
        room = self.most - (len(lengths) - 1)
        found: list[list[int]] = []
        before = 0  # places of the fields so far, with their separators
        for size, length in zip(keep(lengths, room), lengths, strict=True):
            found += [[before + place] for place in range(size)] + [[]] * (length - size)
            before += size + 1
        return found

    def visible(self, fields: tuple[str, ...]) -> tuple[int, ...] | None:
        """The number of characters inside the window, for each field; None if everything fits."""
        lengths = [len(words_of((field,))) for field in fields]
        kept = keep(lengths, self._room(fields))
        if kept == lengths:
            return None
        _, spans = self.spans(fields)
        ends = [max((end for field, _, end in spans if field == number), default=0) for number in range(len(fields))]
        return tuple(
            len(field) if size == length else end
            for field, size, length, end in zip(fields, kept, lengths, ends, strict=True)
        )

    def _room(self, fields: tuple[str, ...]) -> int:
        return self.most - (len(fields) - 1)


def known_words(texts: Iterable[tuple[str, ...]], min_count: int, vectors: Collection[str]) -> tuple[str, ...]:
    """The words that were seen at least `min_count` times or have a vector, most frequent first."""
    seen = Counter(word for fields in texts for word in words_of(fields))
    kept = [(-count, word) for word, count in seen.items() if count >= min_count or word in vectors]
    return tuple(word for _, word in sorted(kept))


def readable(words: Iterable[str]) -> list[str]:
    """The words that can occur in a text: lower-case, and a single word each."""
    return [word for word in words if words_of((word,)) == [word]]
