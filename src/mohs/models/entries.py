"""The entries of a masked language model's vocabulary as text, and which of them start a word.

Three ways of marking are known: WordPiece marks what continues a word (`##ing`), byte-level BPE and SentencePiece mark
the space before a word. In the latter two an entry without the mark starts a word as well where no space stands: at
the start of a text, or behind a bracket or a quote.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import regex

_UNUSED = regex.compile(r"[\[<]unused_?\d+[\]>]|madeupword\d+|<0x[0-9A-F]{2}>")


class Entries:
    """What each number of a vocabulary stands for. `texts` has "" for entries that are never offered as a guess.

    Not offered are special and added tokens, unused places, lone bytes of a longer character, and what cannot be seen.
    """

    def __init__(self, tokenizer: Any, size: int) -> None:
        layout = json.loads(tokenizer.backend_tokenizer.to_str())
        model = layout["model"]
        spoken: dict[str, int] = tokenizer.get_vocab()
        steps = {step["type"] for part in ("pre_tokenizer", "decoder") for step in _steps(layout[part])}
        added = {token["id"] for token in layout["added_tokens"]} | set(tokenizer.all_special_ids)
        piece = model.get("continuing_subword_prefix") or ""
        self.spaced = "ByteLevel" in steps or (not piece and any(entry.startswith("▁") for entry in spoken))
        self.texts = [""] * size  # by number
        self.starts = [False] * size  # by number: carries the mark of a word's start, or lacks that of its middle
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
        """The numbers of pieces that make up one word; None if one of them is not an entry.

        The first is looked for among the entries that start a word, the others among those that do not; only what is
        not found there is looked for among the rest.
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
    """The steps of a tokenizer's part, out of whatever sequences hold them."""
    if part:
        yield part
        for inner in (*part.get("pretokenizers", ()), *part.get("decoders", ())):
            yield from _steps(inner)
