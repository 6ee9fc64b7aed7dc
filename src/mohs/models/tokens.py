"""Fast tokenisation: the token ids of a text are joined from those of its pieces, which are cached.

A text is cut at single spaces between ordinary characters; any other white space stays inside its piece. With the
usual tokenizers (WordPiece, byte-level BPE, SentencePiece/Unigram) a piece with its space gets the same ids alone as in
its text. So ids are looked up piece by piece, and only new pieces reach the tokenizer.

This requires that the tokenizer normalises locally and always splits at such a space. That is tested on loading; if the
test fails, all texts are tokenised whole. Texts with a piece that spells one of the tokenizer's added tokens are also
tokenised whole, since added tokens may swallow the space next to them. `fallbacks` counts the texts tokenised whole.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import regex

from mohs.models.token_rows import packed

# No cut next to these: characters that normalise to white space or to a lone combining mark, the block that
# SentencePiece writes for a space, the replacement character, and letters that join the space after them. Combining
# marks must follow their letter.
_ODD = (
    r"\u00a8\u00af\u00b4\u00b8\u02d8-\u02dd\u037a\u0384\u0385\u1fbd\u1fbf-\u1fc1\u1fcd-\u1fcf\u1fdd-\u1fdf\u1fed-\u1fef"
    r"\u1ffd\u1ffe\u2017\u203e\u2581\u309b\u309c\ufc5e-\ufc63\ufdfa\ufdfb\ufe49-\ufe4c\ufe70-\ufe7e\uff9e\uff9f\uffe3\ufffd"
)
_PLAIN = rf"[[\p{{L}}\p{{N}}\p{{P}}\p{{S}}]--[{_ODD}\p{{GCB=Prepend}}]]"
_CUT = regex.compile(rf"(?V1)(?<={_PLAIN}\p{{M}}*) (?={_PLAIN})")
_WORD = regex.compile(rf"(?V1){_PLAIN}(?:[^ ]*{_PLAIN}\p{{M}}*|\p{{M}}*)")

Ids = tuple[int, ...]
Placed = tuple[list[int], list[tuple[int, int]]]  # token ids, and the start and end of each in the string

_MOST_PIECES = 500_000  # about 100 MB; then the tables are emptied
_LOCAL_PATTERNS = {" {2,}", " +", r"\s+"}  # regular expressions that keep a single space between words

_WORDS = (
    "a The don't 'tis well-made, C++ U.S.A. ... () -- — ' \" 's n't x² 3,000€ 50% 1 000 iPhone ALL café e\u0301 ﬁne №5 "
    "½ ß İ @user #tag http://a.b/c?d=e 你好 世, שלום مرحبا नमस्ते क् 한국 👍 🏽 👨‍👩‍👧 ❤\ufe0f $ < > & ~ ^ `"
).split(" ")
_AWKWARD = (
    "It's a well-made, 'honest' film... don't miss it!",
    "  two  spaces\tand\ttabs \r\n and lines\n\n\nend  ",
    "emoji 👍🏽 👨‍👩‍👧 and ½ ﬁne №5 x² a¨ ´b ▁ c▁ \ufffd d",
    "שלום עולם مرحبا بالعالم 你好,世界 नमस्ते दुनिया",
    "e\u0301 a\u0308o\u0308 \u0301start re-\u200dzwj\u200cnj soft\u00adhyphen nb\u00a0space \u3000wide \u200b zero",
    "http://a.b/c?d=e&f=g @user #tag ALLCAPS iPhone C++ U.S.A. 's n't",
    "",
)


class Composer:
    """Gives the token ids of strings by a Hugging Face tokenizer, without special tokens."""

    def __init__(self, tokenizer: Any) -> None:
        from tokenizers import Tokenizer

        layout = tokenizer.backend_tokenizer.to_str()
        self._backend = Tokenizer.from_str(layout)
        self._backend.no_truncation()
        self._backend.no_padding()
        self._backend.encode_special_tokens = tokenizer.backend_tokenizer.encode_special_tokens
        # Ids are stored as bytes of 32-bit numbers, so that a row is made by joining bytes.
        self._heads: dict[str, bytes] = {}  # pieces at the start of a text
        self._tails: dict[str, bytes] = {}  # pieces after a space; the space is not part of the key
        # The pieces that are safe to look up after cutting at every space: both ends can be cut, no added token.
        self._plain_heads: dict[str, bytes] = {}
        self._plain_tails: dict[str, bytes] = {}
        self._wild: set[str] = set()  # pieces that spell an added token
        added = self._backend.get_added_tokens_decoder()
        self._added = set(added)
        self._spelt = {i: token.content for i, token in added.items() if not token.normalized}
        self.fallbacks = 0  # texts that were tokenised whole
        self.composable = _local(self._backend, json.loads(layout))
        if self.composable:
            self.composable = all(self.ids([text])[0] == self.whole(text) for text in _sample())
            self.fallbacks = 0

    def whole(self, text: str) -> list[int]:
        """What the tokenizer itself gives for the string."""
        return self._backend.encode(text, add_special_tokens=False).ids

    def ids(self, texts: Sequence[str]) -> list[list[int]]:
        """The token ids of each string."""
        return [array("i", row).tolist() for row in self.packed(texts)]

    def packed(self, texts: Sequence[str]) -> list[bytes]:
        """The token ids of each string, as bytes of 32-bit numbers."""
        if not self.composable:
            self.fallbacks += len(texts)
            encoded = self._backend.encode_batch(list(texts), add_special_tokens=False)
            return [packed(encoding.ids) for encoding in encoded]
        rows, unseen = self._looked_up(texts)
        if unseen:
            if len(self._heads) + len(self._tails) > _MOST_PIECES:
                for table in (self._heads, self._tails, self._plain_heads, self._plain_tails, self._wild):
                    table.clear()
                unseen = list(range(len(texts)))
            cut = [texts[number].split(" ") for number in unseen]  # most have one new word
            self._learn({row[0] for row in cut if _WORD.fullmatch(row[0])}, self._heads, self._plain_heads, "")
            new = {piece for row in cut for piece in row[1:] if piece not in self._plain_tails}
            self._learn({piece for piece in new if _WORD.fullmatch(piece)}, self._tails, self._plain_tails, " ")
            found, odd = self._looked_up([texts[number] for number in unseen])
            for number, row in zip(unseen, found, strict=True):
                rows[number] = row
            for number, row in zip(odd, self._with_care([texts[unseen[number]] for number in odd]), strict=True):
                rows[unseen[number]] = row
        return rows

    def _looked_up(self, texts: Sequence[str]) -> tuple[list[bytes], list[int]]:
        """The ids of strings whose pieces, cut at every space, are all known; and the indices of the other strings."""
        heads, tails = self._plain_heads, self._plain_tails
        rows: list[bytes] = []
        unseen: list[int] = []
        for number, text in enumerate(texts):
            first, *rest = text.split(" ")
            try:
                rows.append(heads[first] + b"".join([tails[piece] for piece in rest]))
            except KeyError:
                rows.append(b"")
                unseen.append(number)
        return rows, unseen

    def _with_care(self, texts: Sequence[str]) -> Iterator[bytes]:
        """The ids of strings that must not be cut at every space, or that spell an added token."""
        cut = [_CUT.split(text) for text in texts]
        self._learn({row[0] for row in cut}, self._heads, self._plain_heads, "")
        self._learn({piece for row in cut for piece in row[1:]}, self._tails, self._plain_tails, " ")
        tails = self._tails
        for text, row in zip(texts, cut, strict=True):
            if self._wild and not self._wild.isdisjoint(row):
                self.fallbacks += 1
                yield packed(self.whole(text))
            else:
                yield self._heads[row[0]] + b"".join([tails[piece] for piece in row[1:]])

    def _learn(self, pieces: set[str], table: dict[str, bytes], plain: dict[str, bytes], before: str) -> None:
        unseen = [piece for piece in pieces if piece not in table]
        encoded = self._backend.encode_batch([before + piece for piece in unseen], add_special_tokens=False)
        for piece, encoding in zip(unseen, encoded, strict=True):
            table[piece] = packed(encoding.ids)
            if any(i in self._added and self._spelt.get(i, piece) in piece for i in encoding.ids):
                self._wild.add(piece)
            elif _WORD.fullmatch(piece):
                plain[piece] = table[piece]

    def pieces(self, text: str) -> tuple[Mapping[str, bytes], Mapping[str, bytes]]:
        """The pieces that can be looked up after cutting at every space: at the start of a text, and after a space.

        Those of the text are among them, as far as they do not depend on what is around them.
        """
        if not self.composable:
            return {}, {}
        first, *rest = text.split(" ")
        if first not in self._plain_heads or not all(map(self._plain_tails.__contains__, rest)):
            self.packed([text])
        return self._plain_heads, self._plain_tails

    def known(self, heads: set[str], tails: set[str]) -> tuple[dict[str, Ids], dict[str, Ids]] | None:
        """The ids of pieces at the start of a text and after a space; None if some depend on their context."""
        if not self.composable:
            return None
        found = []
        for pieces, table, plain, before in (
            (heads, self._heads, self._plain_heads, ""),
            (tails, self._tails, self._plain_tails, " "),
        ):
            self._learn(
                {piece for piece in pieces if piece not in plain and _WORD.fullmatch(piece)}, table, plain, before
            )
            if not pieces <= plain.keys():
                return None
            found.append({piece: tuple(array("i", plain[piece])) for piece in pieces})
        return found[0], found[1]

    def placed(self, texts: Sequence[str]) -> list[Placed]:
        """The token ids of each string and their offsets; tokenised whole, since the cache holds no offsets."""
        encoded = self._backend.encode_batch(list(texts), add_special_tokens=False)
        return [(encoding.ids, encoding.offsets) for encoding in encoded]

    def ends(self, text: str, tokens: int) -> int:
        """The number of characters that the first `tokens` tokens of a string cover."""
        encoding = self._backend.encode(text, add_special_tokens=False)
        if len(encoding.ids) <= tokens:
            return len(text)
        return max((end for _, end in encoding.offsets[:tokens]), default=0)


def _sample() -> Iterator[str]:
    """Strings to test a tokenizer on: awkward ones, and every pair of `_WORDS`."""
    yield from _AWKWARD
    for shift in range(len(_WORDS)):
        yield " ".join(word + " " + _WORDS[(place + shift) % len(_WORDS)] for place, word in enumerate(_WORDS))


def _local(backend: Any, layout: dict[str, Any]) -> bool:
    """Whether the tokenizer always splits at a space between two words.

    This tests the normaliser and the pre-tokenizer, not the ids: ids may agree only because no token of the vocabulary
    happens to span the space.
    """
    if backend.pre_tokenizer is None or any(
        regex.search(r"[\s▁]", token["content"]) for token in layout["added_tokens"]
    ):
        return False
    for step in _steps(layout["normalizer"]):
        pattern = step.get("pattern", {})
        if len(pattern.get("String", "")) > 1 and regex.search(r"\s", pattern["String"]):
            return False
        if "Regex" in pattern and pattern["Regex"] not in _LOCAL_PATTERNS:
            return False

    def stretches(text: str) -> list[str]:
        if backend.normalizer is not None:
            text = backend.normalizer.normalize_str(text)
        return [part for part, _ in backend.pre_tokenizer.pre_tokenize_str(text)]

    heads = {word: stretches(word) for word in _WORDS}
    tails = {word: stretches(" " + word) for word in _WORDS}
    return all(stretches(f"{a} {b}") == heads[a] + tails[b] for a in _WORDS for b in _WORDS)


def _steps(part: Any) -> Iterator[dict[str, Any]]:
    """The normalisers of a tokenizer, with nested sequences flattened."""
    if part:
        yield part
        for inner in part.get("normalizers", ()):
            yield from _steps(inner)
