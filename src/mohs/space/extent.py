"""How much of a text is changed: measures that count."""

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

_EDITS_TRIED_FIRST = 31  # these are found at once, however long the texts


@dataclass(frozen=True)
class EditDistance(Compared):
    """The fewest insertions, deletions and substitutions of characters that turn one text into the other."""

    name = "edit distance"
    family = Family.MORPHOLOGY

    async def against(self, reference: Text, candidates: Sequence[Text], ask: Services) -> list[float]:
        """Against the original; the fields of a pair are added up."""
        distance = partial(Levenshtein.distance, score_hint=_EDITS_TRIED_FIRST)
        return [float(sum(map(distance, reference.fields, candidate.fields))) for candidate in candidates]


@dataclass(frozen=True)
class WordsChanged(Compared):
    """How many words differ from the original."""

    name = "words changed"
    family = Family.MORPHOLOGY

    async def against(self, reference: Text, candidates: Sequence[Text], ask: Services) -> list[float]:
        """A count for each candidate."""
        return [float(words_changed(reference, candidate)) for candidate in candidates]


@dataclass(frozen=True)
class ShareChanged(Compared):
    """The share of the original's words that differ; an empty text has share 0."""

    name = "share of words changed"
    family = Family.MORPHOLOGY

    async def against(self, reference: Text, candidates: Sequence[Text], ask: Services) -> list[float]:
        """A share for each candidate."""
        return [words_changed(reference, candidate) / max(len(reference), 1) for candidate in candidates]


@dataclass(frozen=True)
class WordsBeyond(Compared):
    """How many more words are changed than a share of the text allows; used with `at_most=0`.

    The allowance is share * words, rounded up or down, and never under `least`: BERT-Attack's 40% is rounded down in
    its released code and up in TextAttack, A2T allows 10% rounded up and at least 4.
    """

    share: float
    up: bool = False
    least: int = 0

    def __post_init__(self) -> None:
        at_least(0, share=self.share, least=self.least)

    name = "words beyond the allowance"
    family = Family.MORPHOLOGY

    def allowed(self, words: int) -> int:
        """How many of so many words may change."""
        exact = round(self.share * words, 9)  # 0.1 * 30 is a hair over 3
        return max(self.least, math.ceil(exact) if self.up else math.floor(exact))

    async def against(self, reference: Text, candidates: Sequence[Text], ask: Services) -> list[float]:
        """Positive where too many are changed."""
        allowed = self.allowed(len(reference))
        return [float(words_changed(reference, candidate) - allowed) for candidate in candidates]


@dataclass(frozen=True)
class PositionsAgain(Compared):
    """How many words a step changes that were changed before; used with `at_most=0` so that none is.

    Of a whole text against the original it is 0: nothing was changed before.
    """

    name = "positions changed again"
    family = Family.MORPHOLOGY
    stepwise = True

    async def of_texts(
        self, original: Text, current: Text | None, candidates: Sequence[Text], ask: Services
    ) -> list[float]:
        """A count for each candidate; nan where a step does not keep the places of the words."""
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
    """Words that differ place by place, or, where words were added or dropped, in the best alignment."""
    if one.same_shape(other):
        return len(one.changes(other))
    return Levenshtein.distance(one.words, other.words)
