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
    """What a masked language model puts in the place of a word, of its k best guesses.

    Only whole words count: no continuation pieces, no punctuation. `gap` keeps guesses whose logit is less than so much
    under the best guess of all (Zhang et al. 2021: 3), `min_probability` those at least that probable (CLARE: 5e-4).
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
        """One mask at a time, the rest of the text as it stands."""
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
    """What a masked language model could read in the place of a word that it sees (BERT-Attack, Li et al. 2020).

    A word of one piece gets the k best whole words at its place. A word of several pieces gets products of the `width`
    best of each piece, the first `products` of them, `ranked` by how well the pieces go together when read alone or
    left as they are; as in the released code at most `pieces` pieces are looked at. `min_logit` is the released code's
    threshold.
    """

    k: int = 48
    min_logit: float = -math.inf
    pieces: int = 12
    width: int = 4
    products: int = 24
    ranked: bool = True  # an attack that asks the victim about all of them needs no order

    def __post_init__(self) -> None:
        at_least(1, k=self.k, pieces=self.pieces, width=self.width, products=self.products)

    needs: ClassVar[tuple[str, ...]] = ("masked_lm",)

    async def __call__(self, text: Text, positions: Sequence[int], ask: Services) -> list[Offers]:
        """One reading of the text for all its words; one of each product of a word when that is come to."""
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
    """The words of products of pieces, those first whose pieces go well together."""
    wanted = [Spelling(pieces) for pieces in group]
    misfit = dict(zip(group, await ask.spelling(wanted), strict=True)) if wanted else {}
    return list(_other(old, ["".join(pieces) for pieces in sorted(misfit, key=lambda p: (misfit[p], p))], ""))


def _other(old: str, new: Iterable[str], name: str) -> Offers:
    """Without the word itself in any case: an uncased model's own reading of it is no other word."""
    return offers(old, [word for word in new if word.lower() != old.lower()], name)


def one_word(string: str) -> bool:
    """Whether a string is exactly one word, and nothing but it."""
    return words_of([string]) == [string.lower()]
