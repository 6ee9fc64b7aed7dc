"""From the words that a decoder chose for a tree's tokens to the string that a victim reads."""

from __future__ import annotations

import torch
from torch import Tensor

from mohs.models.tree_rows import UNKNOWN, Lexicon
from mohs.text.text import like
from mohs.text.tree_search import TreeQuestion


class Words:
    """The tokens of a question: which may change, and what may stand there.

    A token may change if it is a word that the lexicon knows; it becomes another such word. Signs stay, and so do
    unknown words and those that must.
    """

    def __init__(self, question: TreeQuestion, lexicon: Lexicon) -> None:
        self._lexicon = lexicon
        self._parse = question.parse
        self._before = question.fields[question.number]
        numbers = [lexicon.numbers.get(token.text.lower(), UNKNOWN) for token in self._parse]
        self.own = torch.tensor(numbers)
        self.free = [
            not fixed and number != UNKNOWN and is_word(token.text)
            for token, fixed, number in zip(self._parse, question.fixed, numbers, strict=True)
        ]
        self._words = torch.tensor([False, *map(is_word, lexicon.words)])
        self._allowed: Tensor | None = None

    def allowed(self, places: Tensor) -> Tensor:
        """For each place of a forest, which words may stand there: none but words, and only where something may."""
        if self._allowed is None:
            free = torch.empty(len(self.free), dtype=torch.bool).index_copy(0, places.cpu(), torch.tensor(self.free))
            self._allowed = (free[:, None] & self._words[None]).to(places.device)
        return self._allowed

    def string(self, chosen: list[int]) -> tuple[str, list[tuple[int, int]]]:
        """The field with a word for each token, and where each lies. A token with its own word stays as it is.

        A new word takes the case of the old one. Where it would run into its neighbour (can|not), a space parts them.
        """
        parts: list[str] = []
        spans: list[tuple[int, int]] = []
        length, read, changed = 0, 0, False
        for token, number, own in zip(self._parse, chosen, self.own.tolist(), strict=True):
            between = self._before[read : token.start]
            new = number != own
            word = like(self._lexicon.words[number - 1], token.text) if new else token.text
            beside = new or (changed and not set(word) & set("'\u2019"))  # haven't needs no space
            if beside and not between and parts and parts[-1][-1:].isalnum() and word[:1].isalnum():
                between = " "
            parts += [between, word] if between else [word]
            length += len(between)
            spans.append((length, length + len(word)))
            length += len(word)
            read, changed = token.end, new
        parts.append(self._before[read:])
        return "".join(parts), spans


def is_word(text: str) -> bool:
    """Whether a token is a word or a number, not a sign."""
    return any(map(str.isalnum, text))
