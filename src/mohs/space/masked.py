"""Replacement words from a masked language model."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice, product
from typing import ClassVar

from mohs.space.services import Services
from mohs.space.settings import at_least, at_most
from mohs.space.sources import Later, Offers, offers
from mohs.text import Text
from mohs.text.questions import Blank, Pieces, Spelling
from mohs.text.text import words_of


@dataclass(frozen=True)
class MaskedWords:
    """Words that a masked language model puts in place of a word, from its k best guesses.

    Only whole words count: no continuation pieces, no punctuation. `gap` keeps guesses whose logit is less than that
    below the best guess (Zhang et al. 2021: 3). `min_probability` keeps those at least that probable (CLARE: 5e-4).
    """

    k: int = 50
    gap: float = math.inf
    min_probability: float = 0.0

    def __post_init__(self) -> None:
        at_least(1, k=self.k)
        at_least(0, gap=self.gap, min_probability=self.min_probability)
        at_most(1, min_probability=self.min_probability)

    needs: ClassVar[tuple[str, ...]] = ("masked_lm",)

    async def __call__(self, text: Text, positions: Sequence[int], ask: Services) -> list[Offers]:
        """One mask at a time, with the rest of the text unchanged."""
        spans = text.spans()
        filled = await ask.fill([Blank(text.fields, *spans[position], self.k) for position in positions])
        floor = math.log(self.min_probability) if self.min_probability > 0 else -math.inf
        found = []
        for position, answer in zip(positions, filled, strict=True):
            best = answer.guesses[0].logit if answer.guesses else 0.0
            words = [
                guess.text
                for guess in answer.guesses
                if guess.logit > best - self.gap
                and guess.logit - answer.total >= floor
                and guess.whole
                and one_word(guess.text)
            ]
            found.append(_other(text.words[position], words, "masked lm"))
        return found


@dataclass(frozen=True)
class UnmaskedWords:
    """Words that a masked language model predicts at a word that it sees unmasked (BERT-Attack, Li et al. 2020).

    A word of one piece gets the k best whole words at its place. A word of several pieces gets combinations of the
    `width` best guesses for each piece, the first `products` of them. With `ranked` they are sorted by how well their
    pieces fit together when read alone. As in the released code, at most `pieces` pieces are used. `min_logit` is the
    released code's threshold.
    """

    k: int = 48
    min_logit: float = -math.inf
    pieces: int = 12
    width: int = 4
    products: int = 24
    ranked: bool = True  # an attack that queries the victim about all of them needs no order

    def __post_init__(self) -> None:
        at_least(1, k=self.k, pieces=self.pieces, width=self.width, products=self.products)

    needs: ClassVar[tuple[str, ...]] = ("masked_lm",)

    async def __call__(self, text: Text, positions: Sequence[int], ask: Services) -> list[Offers]:
        """Read the text once for all its words. Combinations of pieces are scored later, when a search needs them."""
        spans = text.spans()
        read = await ask.pieces([Pieces(text.fields, *spans[position], self.k) for position in positions])
        found = []
        for position, answer in zip(positions, read, strict=True):
            old = text.words[position]
            if len(answer) == 1:
                words = [
                    g.text for g in answer[0].guesses if g.whole and g.logit >= self.min_logit and one_word(g.text)
                ]
                found.append(_other(old, words, "unmasked lm"))
                continue
            best = [[guess.text for guess in piece.guesses[: self.width]] for piece in answer[: self.pieces]]
            group = [pieces for pieces in islice(product(*best), self.products) if one_word("".join(pieces))]
            offered = _other(old, map("".join, group), "unmasked lm")
            found.append(Later(offered, partial(_ranked, old, group)) if self.ranked else offered)
        return found


async def _ranked(old: str, group: Sequence[tuple[str, ...]], ask: Services) -> list[str]:
    """The words made of some pieces, those first whose pieces fit together best."""
    wanted = [Spelling(pieces) for pieces in group]
    misfit = dict(zip(group, await ask.spelling(wanted), strict=True)) if wanted else {}
    return list(_other(old, ["".join(pieces) for pieces in sorted(misfit, key=lambda p: (misfit[p], p))], ""))


def _other(old: str, new: Iterable[str], name: str) -> Offers:
    """Offers without the word itself, ignoring case: an uncased model's spelling of it is not another word."""
    return offers(old, [word for word in new if word.lower() != old.lower()], name)


def one_word(string: str) -> bool:
    """Whether a string is exactly one word."""
    return words_of([string]) == [string.lower()]
