"""Token ids put together from the pieces of a text, so that a candidate is never tokenised as a whole.

A text is cut before each run of white space; a piece is that white space and the word with its punctuation. For the
tokenizers in use (WordPiece, byte-level BPE, SentencePiece/Unigram) a piece gets the same ids alone as in its place,
so ids are looked up piece by piece, and only pieces never seen before reach the tokenizer. Whether that holds for a
given tokenizer is tried out on awkward strings when it is loaded; if not, texts are tokenised whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import regex

_PIECE = regex.compile(r"\s*\S+|\s+$")
_MOST_PIECES = 500_000  # about 100 MB; then the table starts afresh

_AWKWARD = (
    "It's a well-made, 'honest' film... don't miss it!",
    "  two  spaces\tand\ttabs \r\n and lines\n\n\nend  ",
    "Déjà vu à la café; naïve coöperation — 3,000€ (50%)",
    "emoji 👍🏽 👨‍👩‍👧 and ½ ﬁne №5 x²",
    "שלום עולם مرحبا بالعالم 你好,世界 नमस्ते दुनिया",
    "e\u0301 a\u0308o\u0308 \u0301start re-\u200dzwj\u200cnj soft\u00adhyphen nb\u00a0space \u3000wide",
    "http://a.b/c?d=e&f=g @user #tag ALLCAPS iPhone C++ U.S.A. 's n't",
    "a",
    "",
)


class Composer:
    """Looks up the token ids of strings in a Hugging Face tokenizer, without special tokens."""

    def __init__(self, tokenizer: Any) -> None:
        from tokenizers import Tokenizer

        if not getattr(tokenizer, "is_fast", False):
            raise ValueError("a fast tokenizer is needed")
        self._backend = Tokenizer.from_str(tokenizer.backend_tokenizer.to_str())
        self._backend.no_truncation()
        self._backend.no_padding()
        self._known: dict[str, list[int]] = {}
        self.composable = all(self._composed([text])[0] == self.whole(text) for text in _AWKWARD)
        self.fallbacks = 0  # texts that had to be tokenised whole

    def whole(self, text: str) -> list[int]:
        """What the tokenizer itself gives for the string."""
        ids: list[int] = self._backend.encode(text, add_special_tokens=False).ids
        return ids

    def ids(self, texts: Sequence[str]) -> list[list[int]]:
        """The token ids of each string."""
        if self.composable:
            return self._composed(texts)
        self.fallbacks += len(texts)
        return [encoding.ids for encoding in self._backend.encode_batch(list(texts), add_special_tokens=False)]

    def _composed(self, texts: Sequence[str]) -> list[list[int]]:
        known = self._known
        pieces = [_PIECE.findall(text) for text in texts]
        unseen = list(dict.fromkeys(piece for row in pieces for piece in row if piece not in known))
        if unseen:
            if len(known) > _MOST_PIECES:
                known.clear()
                unseen = list(dict.fromkeys(piece for row in pieces for piece in row))
            encoded = self._backend.encode_batch(unseen, add_special_tokens=False)
            known.update(zip(unseen, (encoding.ids for encoding in encoded), strict=True))
        rows = []
        for row in pieces:
            ids: list[int] = []
            for piece in row:
                ids += known[piece]
            rows.append(ids)
        return rows

    def ends(self, text: str, tokens: int) -> int:
        """How many characters the first so many tokens of a string cover."""
        encoding = self._backend.encode(text, add_special_tokens=False)
        if len(encoding.ids) <= tokens:
            return len(text)
        return max((end for _, end in encoding.offsets[:tokens]), default=0)


class Frame:
    """The special tokens a tokenizer puts around one text or a pair, and the segment ids that go with them."""

    def __init__(self, tokenizer: Any, composer: Composer, window: int) -> None:
        self.window = window
        self._parts: dict[int, tuple[list[list[int]], list[int] | None]] = {}
        for texts in (("a",), ("a", "b")):
            try:
                sample = tokenizer(*texts)
            except (TypeError, ValueError):
                continue  # a tokenizer without pairs
            rest = list(sample["input_ids"])
            types = sample.get("token_type_ids")
            between: list[list[int]] = []
            kinds: list[int] = []
            for text in texts:
                inner = composer.whole(text)
                at = next(i for i in range(len(rest)) if rest[i : i + len(inner)] == inner)
                between.append(rest[:at])
                if types is not None:
                    done = len(types) - len(rest)
                    kinds += [types[done] if at else 0, types[done + at]]
                rest = rest[at + len(inner) :]
            between.append(rest)
            if types is not None:
                kinds.append(types[-1])
            self._parts[len(texts)] = (between, kinds if types is not None else None)

    def room(self, fields: int) -> int:
        """How many ordinary tokens fit into the window."""
        return self.window - sum(map(len, self._parts[fields][0]))

    def accepts(self, fields: int) -> bool:
        """Whether the tokenizer has a form for that many texts."""
        return fields in self._parts

    def row(self, ids: Sequence[list[int]]) -> tuple[list[int], list[int] | None]:
        """The model's input for texts that fit: token ids and segment ids."""
        between, kinds = self._parts[len(ids)]
        row = list(between[0])
        types = None if kinds is None else [kinds[0]] * len(row)
        for number, inner in enumerate(ids):
            row += inner
            row += between[number + 1]
            if types is not None and kinds is not None:
                types += [kinds[2 * number + 1]] * len(inner)
                types += [kinds[2 * number + 2]] * len(between[number + 1])
        return row, types


def keep(lengths: Sequence[int], room: int) -> list[int]:
    """How many tokens of each text stay when they do not all fit: the longest text gives way first."""
    kept = list(lengths)
    if sum(kept) <= room:
        return kept
    if len(kept) == 1:
        return [max(room, 0)]
    short, long = sorted(kept)
    if short <= room // 2:
        long = room - short
    else:
        short = room // 2
        long = room - short
    return [short, long] if kept[0] <= kept[1] else [long, short]
