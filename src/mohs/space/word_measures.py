"""Measures of single replacements: how near the new word is to the old one.

Over a whole text each takes the worst of its changed words.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from mohs.space.constraints import Family
from mohs.space.services import Services
from mohs.space.settings import at_least
from mohs.text import Text, pocket
from mohs.text.lexicon import NOUN, VERB
from mohs.text.questions import Spot


@dataclass(frozen=True)
class WordCosine:
    """The cosine of the two words' vectors; nan, which passes no threshold, if one is unknown.

    `previous` compares with the word before the step instead of the original's.
    """

    previous: bool = False

    name: ClassVar[str] = "word cosine"
    family: ClassVar[Family] = Family.SEMANTICS
    needs: ClassVar[tuple[str, ...]] = ("vectors",)

    @property
    def stepwise(self) -> bool:
        """Only against the previous word."""
        return self.previous

    def of_words(self, old: str, new: Sequence[str], ask: Services) -> list[float]:
        """The cosine of each replacement; case does not matter."""
        values = ask.vectors.cosines(old.lower(), [word.lower() for word in new])
        return [round(float(value), 6) for value in values]

    async def of_texts(
        self, original: Text, current: Text | None, candidates: Sequence[Text], ask: Services
    ) -> list[float]:
        """The lowest cosine over the changed words; 1 if none changed."""
        reference = current if current is not None and self.previous else original
        return _worst(reference, candidates, lambda old, new: self.of_words(old, [new], ask)[0], min, 1.0)


@dataclass(frozen=True)
class WordDistance:
    """The squared Euclidean distance of the two words' vectors, 2 - 2 cos for unit vectors; nan if one is unknown.

    `previous` compares with the word before the step instead of the original's, as Alzantot et al. do.
    """

    previous: bool = False

    name: ClassVar[str] = "word distance"
    family: ClassVar[Family] = Family.SEMANTICS
    needs: ClassVar[tuple[str, ...]] = ("vectors",)

    @property
    def stepwise(self) -> bool:
        """Only against the previous word."""
        return self.previous

    def of_words(self, old: str, new: Sequence[str], ask: Services) -> list[float]:
        """The distance of each replacement; case does not matter."""
        values = ask.vectors.distances(old.lower(), [word.lower() for word in new])
        return [round(float(value), 6) for value in values]

    async def of_texts(
        self, original: Text, current: Text | None, candidates: Sequence[Text], ask: Services
    ) -> list[float]:
        """The largest distance over the changed words; 0 if none changed."""
        reference = current if current is not None and self.previous else original
        return _worst(reference, candidates, lambda old, new: self.of_words(old, [new], ask)[0], max, 0.0)


@dataclass(frozen=True)
class PosListed:
    """1 if the two words can be of the same part of speech by a word list, without context; 0 if not.

    The list holds the classes each of 20,000 words has in WordNet. A word it does not know shares nothing.
    """

    noun_is_verb: bool = True

    name: ClassVar[str] = "part of speech listed"
    family: ClassVar[Family] = Family.GRAMMAR
    needs: ClassVar[tuple[str, ...]] = ()
    stepwise: ClassVar[bool] = False

    def of_words(self, old: str, new: Sequence[str], ask: Services) -> list[float]:
        """Whether the classes of the two words meet."""
        lexicon = pocket.lexicon()
        one = self._classes(lexicon.parts_of_speech(old.lower()))
        return [float(bool(one & self._classes(lexicon.parts_of_speech(word.lower())))) for word in new]

    def _classes(self, bits: int) -> int:
        both = NOUN | VERB
        return bits | both if self.noun_is_verb and bits & both else bits

    async def of_texts(
        self, original: Text, current: Text | None, candidates: Sequence[Text], ask: Services
    ) -> list[float]:
        """1 if all changed words share a class with what they replace."""
        return _worst(original, candidates, lambda old, new: self.of_words(old, [new], ask)[0], min, 1.0)


@dataclass(frozen=True)
class SamePos:
    """The share of the words changed that keep their part of speech, read in context by the tagger.

    A step changes one word, so its value is 1 or 0. The word is read with `before` words to its left and `after` to its
    right, the old one in the original and the new one in the candidate. Universal tags are compared; AUX counts as
    VERB and PROPN as NOUN, as in the older set of tags that the papers' code reads, and noun and verb as one where
    allowed.
    """

    noun_is_verb: bool = True
    before: int = 4
    after: int = 3

    def __post_init__(self) -> None:
        at_least(0, before=self.before, after=self.after)

    name: ClassVar[str] = "part of speech"
    family: ClassVar[Family] = Family.GRAMMAR
    needs: ClassVar[tuple[str, ...]] = ("tagger",)
    stepwise: ClassVar[bool] = True  # words changed later are part of the context

    async def of_texts(
        self, original: Text, current: Text | None, candidates: Sequence[Text], ask: Services
    ) -> list[float]:
        """One question for each changed word, and one for what stood there in the original."""
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


def _worst(
    reference: Text,
    candidates: Sequence[Text],
    of_words: Callable[[str, str], float],
    worst: Callable[[Sequence[float]], float],
    none: float,
) -> list[float]:
    """The worst value over the words that differ; nan where the texts do not correspond word by word."""
    values = []
    for candidate in candidates:
        if not reference.same_shape(candidate):
            values.append(math.nan)
            continue
        found = [of_words(edit.old, edit.new) for edit in reference.edits(candidate)]
        values.append(math.nan if any(map(math.isnan, found)) else worst(found) if found else none)
    return values
