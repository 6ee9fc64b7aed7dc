"""Measures that count how much of a text has changed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from rapidfuzz.distance import Levenshtein

from mohs.space.constraints import Family
from mohs.space.measure import Compared
from mohs.space.services import Services
from mohs.space.settings import at_least
from mohs.text import Text

_EDITS_TRIED_FIRST = 31  # distances up to this are fast even for long texts


@dataclass(frozen=True)
class EditDistance(Compared):
    """The fewest insertions, deletions and substitutions of characters that turn one text into the other."""

    name = "edit distance"
    limits = (0, math.inf)
    family = Family.MORPHOLOGY

    async def against(self, reference: Text, candidates: Sequence[Text], ask: Services) -> list[float]:
        """The distance of each candidate; for a pair, the sum over both texts."""
        distance = partial(Levenshtein.distance, score_hint=_EDITS_TRIED_FIRST)
        return [float(sum(map(distance, reference.fields, candidate.fields))) for candidate in candidates]


@dataclass(frozen=True)
class WordsChanged(Compared):
    """How many words differ from the original."""

    name = "words changed"
    limits = (0, math.inf)
    family = Family.MORPHOLOGY

    async def against(self, reference: Text, candidates: Sequence[Text], ask: Services) -> list[float]:
        """The count for each candidate."""
        return [float(words_changed(reference, candidate)) for candidate in candidates]


@dataclass(frozen=True)
class ShareChanged(Compared):
    """The share of the original's words that differ; an empty text has share 0."""

    name = "share of words changed"
    limits = (0, math.inf)  # above 1 where words were added
    family = Family.MORPHOLOGY

    async def against(self, reference: Text, candidates: Sequence[Text], ask: Services) -> list[float]:
        """The share for each candidate."""
        return [words_changed(reference, candidate) / max(len(reference), 1) for candidate in candidates]


@dataclass(frozen=True)
class WordsBeyond(Compared):
    """How many more words are changed than a share of the text allows; used with `at_most=0`.

    The allowance is share * words, rounded up or down, and at least `least`. BERT-Attack allows 40%, rounded down in
    its released code and up in TextAttack. A2T allows 10%, rounded up, and at least 4.
    """

    share: float
    up: bool = False
    least: int = 0

    def __post_init__(self) -> None:
        at_least(0, share=self.share, least=self.least)

    name = "words beyond the allowance"
    family = Family.MORPHOLOGY

    def allowed(self, words: int) -> int:
        """How many words of a text may change."""
        exact = round(self.share * words, 9)  # 0.1 * 30 is slightly over 3
        return max(self.least, math.ceil(exact) if self.up else math.floor(exact))

    async def against(self, reference: Text, candidates: Sequence[Text], ask: Services) -> list[float]:
        """Positive where too many words are changed."""
        allowed = self.allowed(len(reference))
        return [float(words_changed(reference, candidate) - allowed) for candidate in candidates]


@dataclass(frozen=True)
class PositionsAgain(Compared):
    """How many words a step changes again that were changed before; used with `at_most=0` to forbid that.

    For a whole text against the original it is 0: nothing was changed before.
    """

    name = "positions changed again"
    limits = (0, math.inf)
    family = Family.MORPHOLOGY
    stepwise = True

    async def of_texts(
        self, original: Text, current: Text | None, candidates: Sequence[Text], ask: Services
    ) -> list[float]:
        """The count for each candidate; nan where a step changes the positions of words."""
        if current is None:
            return [0.0] * len(candidates)
        if not original.same_shape(current):
            return [math.nan] * len(candidates)
        touched = set(original.changes(current))
        return [
            float(len(touched.intersection(current.changes(candidate)))) if current.same_shape(candidate) else math.nan
            for candidate in candidates
        ]


def words_changed(one: Text, other: Text) -> int:
    """The number of words that differ; if words were added or dropped, the word edit distance."""
    if one.same_shape(other):
        return len(one.changes(other))
    return Levenshtein.distance(one.words, other.words)
