"""What a tokenizer puts around the token ids of a text or a pair."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mohs.models.token_rows import INT32_BYTES, Packed, Row, packed


class SpecialTokens:
    """The special tokens a tokenizer puts around one text or a pair, and the segment ids that go with them."""

    def __init__(self, tokenizer: Any, window: int) -> None:
        self.window = window
        self._parts: dict[int, tuple[list[list[int]], list[list[int]] | None, list[int]]] = {}
        for texts in (("a",), ("a", "a")):
            try:
                sample = tokenizer(*([text] for text in texts))
            except (TypeError, ValueError):
                continue  # a tokenizer without pairs
            encoding = sample.encodings[0]
            owners = [-1 if owner is None else owner for owner in encoding.sequence_ids]
            places = [owners.index(number) if number in owners else -1 for number in range(len(texts))]
            sizes = [owners.count(number) for number in range(len(texts))]
            ends = [place + size for place, size in zip(places, sizes, strict=True)]
            bounds = list(zip([0, *ends], [*places, len(owners)], strict=True))
            if -1 in places or any(start > end or set(owners[start:end]) - {-1} for start, end in bounds):
                continue  # a form we cannot take apart
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

    def room(self, fields: int) -> int:
        """How many ordinary tokens fit into the window."""
        return self.window - sum(map(len, self._parts[fields][0]))

    def accepts(self, fields: int) -> bool:
        """Whether the tokenizer has a form for that many texts, with room for a token of each."""
        return fields in self._parts and self.room(fields) >= fields

    def parts(self, fields: int) -> tuple[list[list[tuple[int, int]]], list[int]]:
        """The special tokens before, between and behind so many texts with their segment ids, and the texts' own."""
        between, types, kinds = self._parts[fields]
        same = types or [[0] * len(part) for part in between]
        return [list(zip(*both, strict=True)) for both in zip(between, same, strict=True)], kinds or [0] * fields

    def before(self, fields: int, field: int) -> int:
        """How many special tokens stand before a text's own, of so many texts."""
        return sum(map(len, self._parts[fields][0][: field + 1]))

    def packed(self, ids: Sequence[bytes]) -> Packed:
        """The same for packed token ids; segment ids that are all nought, as models take them, are left out."""
        between, plain = self._packed[len(ids)]
        row = between[0]
        for inner, after in zip(ids, between[1:], strict=True):
            row += inner + after
        if plain:
            return row, None
        _, types = self.row([[0] * (len(part) // INT32_BYTES) for part in ids])
        return row, packed(types or [])

    def packed_alone(self, ids: Sequence[bytes]) -> list[Packed]:
        """The same for many texts that are no pairs."""
        (before, behind), plain = self._packed[1]
        if not plain:
            return [self.packed([inner]) for inner in ids]
        return [(before + inner + behind, None) for inner in ids]

    def row(self, ids: Sequence[list[int]]) -> Row:
        """The model's input for texts that fit: token ids and segment ids."""
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
