"""The special tokens that a tokenizer adds around a text or a pair."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mohs.models.token_rows import INT32_BYTES, Packed, Row, packed


class SpecialTokens:
    """Adds a tokenizer's special tokens to the token ids of a text or a pair, and gives the segment ids."""

    def __init__(self, tokenizer: Any, window: int) -> None:
        self.window = window
        self._parts: dict[int, tuple[list[list[int]], list[list[int]] | None, list[int]]] = {}
        for texts in (("a",), ("a", "a")):
            try:
                sample = tokenizer(*([text] for text in texts))
            except (TypeError, ValueError):
                continue  # the tokenizer takes no pairs
            encoding = sample.encodings[0]
            owners = [-1 if owner is None else owner for owner in encoding.sequence_ids]
            places = [owners.index(number) if number in owners else -1 for number in range(len(texts))]
            sizes = [owners.count(number) for number in range(len(texts))]
            ends = [place + size for place, size in zip(places, sizes, strict=True)]
            bounds = list(zip([0, *ends], [*places, len(owners)], strict=True))
            if -1 in places or any(start > end or set(owners[start:end]) - {-1} for start, end in bounds):
                continue  # the special tokens are mixed with the text's own
            types = encoding.type_ids if "token_type_ids" in sample else None
            self._parts[len(texts)] = (
                [encoding.ids[start:end] for start, end in bounds],
                None if types is None else [types[start:end] for start, end in bounds],
                [] if types is None else [types[place] for place in places],
            )
        self._packed = {
            number: ([packed(part) for part in between], not any(kinds) and not any(map(any, types or [])))
            for number, (between, types, kinds) in self._parts.items()
        }

    @property
    def ends(self) -> tuple[bytes, bytes] | None:
        """The packed special tokens before and behind a single text; None if it has segment ids, or is not taken."""
        if 1 not in self._packed:
            return None
        (before, behind), plain = self._packed[1]
        return (before, behind) if plain else None

    def room(self, fields: int) -> int:
        """The number of ordinary tokens that fit into the window."""
        return self.window - sum(map(len, self._parts[fields][0]))

    def accepts(self, fields: int) -> bool:
        """Whether the tokenizer takes that many texts and has room for a token of each."""
        return fields in self._parts and self.room(fields) >= fields

    def parts(self, fields: int) -> tuple[list[list[tuple[int, int]]], list[int]]:
        """The special tokens before, between and after the texts, with segment ids; and each text's segment id."""
        between, types, kinds = self._parts[fields]
        same = types or [[0] * len(part) for part in between]
        return [list(zip(*both, strict=True)) for both in zip(between, same, strict=True)], kinds or [0] * fields

    def before(self, fields: int, field: int) -> int:
        """The number of special tokens before a given text's own tokens."""
        return sum(map(len, self._parts[fields][0][: field + 1]))

    def packed(self, ids: Sequence[bytes]) -> Packed:
        """Like `row`, for packed token ids. Segment ids that are all zero, the models' default, are left out."""
        between, plain = self._packed[len(ids)]
        row = between[0]
        for inner, after in zip(ids, between[1:], strict=True):
            row += inner + after
        if plain:
            return row, None
        _, types = self.row([[0] * (len(part) // INT32_BYTES) for part in ids])
        return row, packed(types or [])

    def packed_alone(self, ids: Sequence[bytes]) -> list[Packed]:
        """Like `packed`, for many single texts."""
        (before, behind), plain = self._packed[1]
        if not plain:
            return [self.packed([inner]) for inner in ids]
        return [(before + inner + behind, None) for inner in ids]

    def row(self, ids: Sequence[list[int]]) -> Row:
        """The model input for texts that fit: token ids and segment ids."""
        between, types_between, kinds = self._parts[len(ids)]
        row = list(between[0])
        for inner, after in zip(ids, between[1:], strict=True):
            row += inner
            row += after
        if types_between is None:
            return row, None
        types = list(types_between[0])
        for inner, kind, after in zip(ids, kinds, types_between[1:], strict=True):
            types += [kind] * len(inner)
            types += after
        return row, types
