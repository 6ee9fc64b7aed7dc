"""The vocabulary of a masked language model: the text of each entry, and whether it starts a word.

WordPiece marks the entries that continue a word (`##ing`). Byte-level BPE and SentencePiece mark the space before a
word. With those two, an unmarked entry also starts a word where there is no space: at the start of a text, or after a
bracket or a quote.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import regex

_UNUSED = regex.compile(r"[\[<]unused_?\d+[\]>]|madeupword\d+|<0x[0-9A-F]{2}>")


class Entries:
    """The text of each vocabulary entry. `texts` has "" for entries that are never offered as a guess.

    Those are special and added tokens, unused entries, single bytes of a longer character, and invisible characters.
    """

    def __init__(self, tokenizer: Any, size: int) -> None:
        layout = json.loads(tokenizer.backend_tokenizer.to_str())
        model = layout["model"]
        spoken: dict[str, int] = tokenizer.get_vocab()
        steps = {step["type"] for part in ("pre_tokenizer", "decoder") for step in _steps(layout[part])}
        added = {token["id"] for token in layout["added_tokens"]} | set(tokenizer.all_special_ids)
        piece = model.get("continuing_subword_prefix") or ""
        self.spaced = "ByteLevel" in steps or (not piece and any(entry.startswith("▁") for entry in spoken))
        self.texts = [""] * size  # by token id
        self.starts = [False] * size  # by token id: whether the entry starts a word
        for entry, number in spoken.items():
            if number in added or number >= size or _UNUSED.fullmatch(entry):
                continue
            if self.spaced:
                text = _plain(entry, "ByteLevel" in steps)
                starts, text = text.startswith(" "), text.removeprefix(" ")
            else:
                starts = not (piece and entry.startswith(piece))
                text = entry if starts else entry.removeprefix(piece)
            if text and text.isprintable() and " " not in text and "\ufffd" not in text:
                self.texts[number], self.starts[number] = text, starts
        self._numbers: dict[tuple[str, bool], int] = {}
        for number, text in enumerate(self.texts):
            if text:
                self._numbers.setdefault((text, self.starts[number]), number)

    def spelt(self, pieces: Sequence[str]) -> list[int] | None:
        """The token ids of the pieces of one word; None if a piece is not in the vocabulary.

        The first piece is looked up among the entries that start a word, the others among the rest. A piece that is
        not found there is looked up in the other group.
        """
        found = []
        for place, piece in enumerate(pieces):
            number = self._numbers.get((piece, place == 0), self._numbers.get((piece, place != 0)))
            if number is None:
                return None
            found.append(number)
        return found


def _plain(entry: str, in_bytes: bool) -> str:
    if not in_bytes:
        return entry.replace("▁", " ")
    from tokenizers.decoders import ByteLevel

    return ByteLevel().decode([entry])


def _steps(part: Any) -> Iterator[dict[str, Any]]:
    """The steps of a tokenizer component, with nested sequences flattened."""
    if part:
        yield part
        for inner in (*part.get("pretokenizers", ()), *part.get("decoders", ())):
            yield from _steps(inner)
