"""Insertions and merges by a masked language model: a new word next to a word, or one word for two.

An insertion is a replacement by two words, "new old" or "old new". A merge replaces one word and empties the next.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from mohs.space.constraints import Family
from mohs.space.masked import one_word
from mohs.space.measure import Compared
from mohs.space.services import Services
from mohs.space.settings import at_least, at_most
from mohs.space.sources import Offers, Source, offers, tags
from mohs.space.space import Space
from mohs.space.word_measures import SamePos
from mohs.text import Text
from mohs.text.questions import Blank, Filled
from mohs.text.text import Edit

# Neighbours that CLARE merges, by universal part of speech; AUX counts as VERB and PROPN as NOUN.
_PAIRS = {
    "NOUN": ("NOUN",),
    "ADJ": ("NOUN", "NUM", "ADJ", "ADV"),
    "ADV": ("ADJ", "VERB"),
    "VERB": ("ADV", "VERB", "NOUN", "ADJ"),
    "DET": ("NOUN", "ADJ"),
    "PRON": ("NOUN", "ADJ"),
    "NUM": ("NUM", "NOUN"),
}
_COARSE = {"AUX": "VERB", "PROPN": "NOUN"}


@dataclass(frozen=True)
class InsertedWords:
    """Words that a masked language model inserts before or after a word, from its k best guesses for each side.

    The new word is written as the model gives it. A guess equal to the old word is dropped. Only whole words with at
    least `min_probability` count.
    """

    k: int = 50
    min_probability: float = 0.0
    before: bool = True
    after: bool = True

    def __post_init__(self) -> None:
        _sensible(self.k, self.min_probability)

    needs: ClassVar[tuple[str, ...]] = ("masked_lm",)

    async def __call__(self, text: Text, positions: Sequence[int], ask: Services) -> list[Offers]:
        """One mask at a time: all words that could come before, then all that could come after."""
        spans = text.spans()
        sides = [
            (place, early)
            for place, position in enumerate(positions)
            for early, wanted in ((True, self.before), (False, self.after))
            if wanted and text.words[position]
        ]
        blanks = []
        for place, early in sides:
            field, start, end = spans[positions[place]]
            at = start if early else end
            blanks.append(Blank(text.fields, field, at, at, self.k))
        found: list[Offers] = [{} for _ in positions]
        for (place, early), answer in zip(sides, await ask.fill(blanks), strict=True):
            old = text.words[positions[place]]
            for new in _whole(answer, self.min_probability):
                if new.lower() != old.lower():
                    found[place].setdefault(f"{new} {old}" if early else f"{old} {new}", "inserted")
        return found


@dataclass(frozen=True)
class MergedWords:
    """Words that a masked language model puts in place of two neighbouring words, from its k best guesses.

    The two words are in one field, with only white space between them. Their parts of speech must be a pair listed in
    CLARE's released code (Li et al. 2021): determiner and noun, adverb and verb, and so on. The offers are for the
    first word; the second must be emptied (see `merges`).
    """

    k: int = 50
    min_probability: float = 5e-3

    def __post_init__(self) -> None:
        _sensible(self.k, self.min_probability)

    needs: ClassVar[tuple[str, ...]] = ("masked_lm", "tagger")

    async def __call__(self, text: Text, positions: Sequence[int], ask: Services) -> list[Offers]:
        """One mask per pair of words."""
        spans = text.spans()
        near = [place for place, position in enumerate(positions) if self._touching(text, position, spans)]
        wanted = list(dict.fromkeys(p for place in near for p in (positions[place], positions[place] + 1)))
        coarse = [_COARSE.get(pos, pos) for pos, _ in await tags(text, wanted, ask)] if wanted else []
        pos = dict(zip(wanted, coarse, strict=True))
        places = [i for i in near if pos[positions[i] + 1] in _PAIRS.get(pos[positions[i]], ())]
        blanks = []
        for place in places:
            field, start, _ = spans[positions[place]]
            blanks.append(Blank(text.fields, field, start, spans[positions[place] + 1][2], self.k))
        found: list[Offers] = [{} for _ in positions]
        for place, answer in zip(places, await ask.fill(blanks), strict=True):
            found[place] = offers(text.words[positions[place]], _whole(answer, self.min_probability), "merged")
        return found

    def _touching(self, text: Text, position: int, spans: list[tuple[int, int, int]]) -> bool:
        if position + 1 >= len(spans) or not text.words[position] or not text.words[position + 1]:
            return False
        (field, _, end), (other, start, _) = spans[position], spans[position + 1]
        return field == other and text.fields[field][end:start].isspace()


@dataclass(frozen=True)
class Sparing:
    """The offers of a source, except for listed words: those stay, though words may be inserted next to them."""

    source: Source
    words: frozenset[str]

    @property
    def needs(self) -> tuple[str, ...]:
        """What the source needs."""
        return self.source.needs

    async def __call__(self, text: Text, positions: Sequence[int], ask: Services) -> list[Offers]:
        """Ask the source about the other words only."""
        plain = [text.words[position].lower().replace("\u2019", "'") for position in positions]
        open_ = [place for place, word in enumerate(plain) if word not in self.words]
        found: list[Offers] = [{} for _ in positions]
        for place, offered in zip(open_, await self.source(text, [positions[i] for i in open_], ask), strict=True):
            found[place] = offered
        return found


@dataclass(frozen=True)
class ReplacedPos(Compared):
    """SamePos for the replaced words only; a word next to an insertion keeps its part of speech (BAE)."""

    noun_is_verb: bool = True
    before: int = 4
    after: int = 3

    name = "part of speech"
    family = Family.GRAMMAR
    needs: ClassVar[tuple[str, ...]] = ("tagger",)
    stepwise = True

    async def of_texts(
        self, original: Text, current: Text | None, candidates: Sequence[Text], ask: Services
    ) -> list[float]:
        """The value of SamePos after removing the inserted words."""
        reference = original if current is None else current
        plain = []
        for candidate in candidates:
            edits = reference.edits(candidate) if reference.same_shape(candidate) else ()
            plain.append(candidate.replace_all({edit.position: edit.old for edit in edits if is_insertion(edit)}))
        measure = SamePos(self.noun_is_verb, self.before, self.after)
        return await measure.of_texts(original, current, plain, ask)


def is_insertion(edit: Edit) -> bool:
    """Whether an edit keeps the old word and adds something before or after it."""
    return bool(edit.old) and (edit.new.startswith(f"{edit.old} ") or edit.new.endswith(f" {edit.old}"))


async def offered(
    space: Space, source: Source, current: Text, positions: Sequence[int], ask: Services
) -> list[tuple[str, ...]]:
    """Words from a further source for a living space, under the same stopwords and constraints."""
    assert space.living is not None, "a further source needs a living space"
    found = await replace(space.living[0], source=source)(current, positions, ask)
    for position, words in zip(positions, found, strict=True):
        for word, name in words.items():
            space.admit(position, word, name)
    return [tuple(words) for words in found]


async def merges(
    space: Space, source: Source, current: Text, positions: Sequence[int], ask: Services
) -> list[list[Text]]:
    """For each position, the texts in which a word of the source replaces it and the next word is removed."""
    emptied = [position for position in positions if await _may_go(space, position + 1, ask)]
    words = dict(zip(emptied, await offered(space, source, current, emptied, ask), strict=True))
    found = []
    for position in positions:
        if words.get(position):
            space.admit(position + 1, "", "merged")
        found.append([current.replace_all({position: word, position + 1: ""}) for word in words.get(position, ())])
    return found


async def _may_go(space: Space, position: int, ask: Services) -> bool:
    """Whether the constraints on single words allow a word to be removed."""
    if position >= len(space.text):
        return False
    gone = space.text.replace(position, "")
    for constraint in space.constraints:
        if constraint.about_words:
            (value,) = await constraint.measure.of_texts(space.text, None, [gone], ask)
            if not constraint.holds(value, len(space.text)):
                return False
    return True


def _sensible(k: int, min_probability: float) -> None:
    at_least(1, k=k)
    at_least(0, min_probability=min_probability)
    at_most(1, min_probability=min_probability)


def _whole(answer: Filled, min_probability: float) -> list[str]:
    """The guesses that are a single whole word and probable enough."""
    floor = math.log(min_probability) if min_probability > 0 else -math.inf
    return [
        guess.text
        for guess in answer.guesses
        if guess.whole and guess.logit - answer.total >= floor and one_word(guess.text)
    ]
