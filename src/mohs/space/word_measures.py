"""Measures of single replacements: how close the new word is to the old one.

For a whole text, the worst value of its changed words counts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from mohs.space.constraints import Family
from mohs.space.measure import Compared
from mohs.space.services import Services
from mohs.space.settings import at_least
from mohs.text import Text, pocket
from mohs.text.lexicon import NOUN, VERB
from mohs.text.questions import Spot


class _WordByWord(Compared):
    """The worst value over the changed words; nan where the texts do not match word by word."""

    low_is_worse: ClassVar[bool] = True
    unchanged: ClassVar[float] = 1.0  # for a text without changed words

    def of_words(self, old: str, new: Sequence[str], ask: Services) -> list[float]:
        """The value of each replacement; case does not matter."""
        raise NotImplementedError

    async def against(self, reference: Text, candidates: Sequence[Text], ask: Services) -> list[float]:
        """The worst value of each candidate."""
        worst = min if self.low_is_worse else max
        values = []
        for candidate in candidates:
            if not reference.same_shape(candidate):
                values.append(math.nan)
                continue
            found = [self.of_words(edit.old, [edit.new], ask)[0] for edit in reference.edits(candidate)]
            unknown = any(map(math.isnan, found))
            values.append(math.nan if unknown else worst(found) if found else self.unchanged)
        return values


@dataclass(frozen=True)
class WordCosine(_WordByWord):
    """The cosine of the two words' vectors; if one is unknown, nan, which passes no threshold.

    `previous` compares with the word before the step, not the original word. With `unknown_passes` a pair with an
    unknown word counts as 1 and so passes, as in TextAttack and in BERT-Attack's code.
    """

    previous: bool = False
    unknown_passes: bool = field(default=False, metadata={"later": True})  # not in the identities of older runs

    name = "word cosine"
    limits = (-1, 1)
    family = Family.SEMANTICS
    needs = ("vectors",)

    def __repr__(self) -> str:
        """Without `unknown_passes` as in earlier versions: names in records and identities of runs hold it."""
        return f"WordCosine(previous={self.previous}{', unknown_passes=True' * self.unknown_passes})"

    def of_words(self, old: str, new: Sequence[str], ask: Services) -> list[float]:
        """The cosine of each replacement; case does not matter."""
        values = ask.vectors.cosines(old.lower(), [word.lower() for word in new])
        return [1.0 if self.unknown_passes and math.isnan(value) else round(float(value), 6) for value in values]


@dataclass(frozen=True)
class WordDistance(_WordByWord):
    """The squared Euclidean distance of the two words' vectors (2 - 2 cos for unit vectors); nan if one is unknown.

    `previous` compares with the word before the step instead of the original's, as Alzantot et al. do.
    """

    previous: bool = False

    name = "word distance"
    limits = (0, math.inf)
    family = Family.SEMANTICS
    needs = ("vectors",)
    low_is_worse = False
    unchanged = 0.0

    def of_words(self, old: str, new: Sequence[str], ask: Services) -> list[float]:
        """The distance of each replacement; case does not matter."""
        values = ask.vectors.distances(old.lower(), [word.lower() for word in new])
        return [round(float(value), 6) for value in values]


@dataclass(frozen=True)
class PosListed(_WordByWord):
    """1 if a word list says that the two words can have the same part of speech, without context; 0 if not.

    The list holds the WordNet classes of 20,000 words. An unknown word has none.
    """

    noun_is_verb: bool = True

    name = "part of speech listed"
    limits = (0, 1)
    family = Family.GRAMMAR

    def of_words(self, old: str, new: Sequence[str], ask: Services) -> list[float]:
        """Whether the two words share a class."""
        lexicon = pocket.lexicon()
        one = self._classes(lexicon.parts_of_speech(old.lower()))
        return [float(bool(one & self._classes(lexicon.parts_of_speech(word.lower())))) for word in new]

    def _classes(self, bits: int) -> int:
        both = NOUN | VERB
        return bits | both if self.noun_is_verb and bits & both else bits


@dataclass(frozen=True)
class Antonyms(_WordByWord):
    """1 if a new word is an antonym of the old one, or near in meaning to an antonym; 0 if not.

    From WordNet, by a table that is bundled, in any class the two words share; words that it does not know oppose
    nothing. `direct` counts WordNet's own antonyms alone.
    """

    direct: bool = False

    name = "antonyms"
    limits = (0, 1)
    needs = ("judge",)
    family = Family.SEMANTICS
    low_is_worse = False
    unchanged = 0.0

    def of_words(self, old: str, new: Sequence[str], ask: Services) -> list[float]:
        """Whether each replacement reverses the word."""
        least = 2 if self.direct else 1
        return [float(ask.judge.opposite(old, word) >= least) for word in new]


@dataclass(frozen=True)
class SamePos(Compared):
    """The share of changed words that keep their part of speech, by the tagger in context.

    A step changes one word, so its value is 1 or 0. The tagger reads `before` words to the left and `after` words to
    the right: the old word in the original, the new word in the candidate. Universal tags are compared. AUX counts as
    VERB and PROPN as NOUN, as in the older tag set of the papers' code. With `noun_is_verb`, noun and verb count as
    the same.
    """

    noun_is_verb: bool = True
    before: int = 4
    after: int = 3

    def __post_init__(self) -> None:
        at_least(0, before=self.before, after=self.after)

    name = "part of speech"
    limits = (0, 1)
    family = Family.GRAMMAR
    needs = ("tagger",)
    stepwise = True  # later changes become part of the context

    async def of_texts(
        self, original: Text, current: Text | None, candidates: Sequence[Text], ask: Services
    ) -> list[float]:
        """One query for each changed word, and one for the original word there."""
        reference = original if current is None else current
        changed = [
            reference.changes(candidate) if reference.same_shape(candidate) else None for candidate in candidates
        ]
        touched = dict.fromkeys(place for places in changed for place in places or ())
        old = {place: self._spot(original, place) for place in touched}
        spots = [
            spot
            for candidate, places in zip(candidates, changed, strict=True)
            for place in places or ()
            for spot in (old[place], self._spot(candidate, place))
        ]
        wanted = list(dict.fromkeys(spots))
        tags = {spot: self._class(tag.pos) for spot, tag in zip(wanted, await ask.tagger(wanted), strict=True)}
        values, at = [], 0
        for places in changed:
            if places is None:
                values.append(math.nan)
                continue
            pairs = [(tags[spots[at + 2 * i]], tags[spots[at + 2 * i + 1]]) for i in range(len(places))]
            at += 2 * len(places)
            values.append(sum(old == new for old, new in pairs) / len(pairs) if pairs else 1.0)
        return values

    def _spot(self, text: Text, place: int) -> Spot:
        return Spot(*text.stretch(place, self.before, self.after))

    def _class(self, pos: str) -> str:
        pos = {"AUX": "VERB", "PROPN": "NOUN"}.get(pos, pos)
        return "VERB" if pos == "NOUN" and self.noun_is_verb else pos
