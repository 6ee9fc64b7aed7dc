"""Rows of token ids: truncated to the window, stored as bytes of 32-bit numbers, and joined into batches."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mohs.models.victim import Fields

if TYPE_CHECKING:
    from mohs.models.special_tokens import SpecialTokens
    from mohs.models.tokens import Composer

Row = tuple[list[int], list[int] | None]  # token ids and segment ids
Packed = tuple[bytes, bytes | None]  # the same, each as the bytes of 32-bit numbers
INT32_BYTES = 4


def packed(ids: Sequence[int]) -> bytes:
    """Numbers as bytes, since bytes are joined and cut much faster than lists."""
    return array("i", ids).tobytes()


@dataclass(frozen=True, slots=True)
class Laid:
    """Rows of one length, joined, as bytes of 32-bit numbers."""

    rows: int
    length: int  # of each row, including padding
    ids: bytes
    sizes: bytes  # the number of bytes in each row that are not padding
    kinds: bytes | None  # segment ids, if any row has them

    def cut(self, rows: int) -> tuple[Laid, Laid | None]:
        """The first `rows` rows, and the rest if there is any."""
        if rows >= self.rows:
            return self, None
        end = rows * self.length * INT32_BYTES
        kinds = (None, None) if self.kinds is None else (self.kinds[:end], self.kinds[end:])
        sizes = self.sizes[: rows * INT32_BYTES], self.sizes[rows * INT32_BYTES :]
        return (
            Laid(rows, self.length, self.ids[:end], sizes[0], kinds[0]),
            Laid(self.rows - rows, self.length, self.ids[end:], sizes[1], kinds[1]),
        )


def packed_rows(
    items: Sequence[Fields], composer: Composer, special_tokens: SpecialTokens, room: Callable[[int], int]
) -> dict[Fields, Packed]:
    """The row of each text or pair. `room` gives the number of tokens that fit into a row of n texts, or raises."""
    rows: dict[Fields, Packed] = {}
    for number in {len(fields) for fields in items}:
        own = [fields for fields in items if len(fields) == number]
        found = composer.packed([field for fields in own for field in fields])
        fits = room(number)
        if number == 1:
            most = fits * INT32_BYTES
            rows |= zip(own, special_tokens.packed_alone([ids[:most] for ids in found]), strict=True)
            continue
        for fields, parts in zip(own, zip(*[iter(found)] * number, strict=True), strict=True):
            kept = keep([len(part) // INT32_BYTES for part in parts], fits)
            inner = [part[: size * INT32_BYTES] for part, size in zip(parts, kept, strict=True)]
            rows[fields] = special_tokens.packed(inner)
    return rows


def laid_out(rows: list[bytes], sizes: list[int], kinds: list[bytes] | None, length: int, *, padded: bool) -> Laid:
    """Join rows of the given sizes in bytes, and their segment ids if there are any.

    If `padded`, each row is padded to `length` tokens.
    """
    width = length * INT32_BYTES
    if padded:
        ids = b"".join([row.ljust(width, b"\0") for row in rows])
    else:
        ids = b"".join(rows)
        if min(sizes) < width:  # only when a caller skips `plan`
            raise AssertionError("rows of one batch have one length")
    types = None if kinds is None else b"".join([row.ljust(width, b"\0") for row in kinds])
    return Laid(len(rows), length, ids, packed(sizes), types)


def keep(lengths: Sequence[int], room: int) -> list[int]:
    """The number of tokens to keep of each text; if they do not fit, the longer text is cut first."""
    if sum(lengths) <= room:
        return list(lengths)
    if len(lengths) == 1:
        return [room]
    short = min(*lengths, room // 2)
    return [short, room - short] if lengths[0] <= lengths[1] else [room - short, short]


def around(lengths: Sequence[int], field: int, start: int, end: int, room: int) -> list[tuple[int, int]]:
    """The range of tokens to keep of each text, if those from `start` to `end` of one text must stay.

    The other text is cut first, from its end. The text itself is cut to a window with those tokens in the middle, or
    nearer the edge at the ends of the text. If those tokens alone do not fit, the first of them are kept.
    """
    size = min(lengths[field], room)
    left = room - size
    first = start - max(0, size - (end - start)) // 2
    first = max(0, min(first, lengths[field] - size))
    kept = [(0, min(length, left)) for length in lengths]
    kept[field] = (first, first + size)
    return kept


def writable(text: str) -> bool:
    """Whether a tokenizer can read a string: it cannot if the string holds half a surrogate pair."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
