"""The judge as a measure: would most people accept the words that changed?

How good it is, and what is extrapolated, stands in docs/validity.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from mohs.errors import BadInput
from mohs.space.constraints import Family
from mohs.space.measure import Compared
from mohs.space.services import Services
from mohs.text import Text
from mohs.text.judge import REACH, Judge, Place, bundled
from mohs.text.questions import Blank, Filled, Spot, Substitution, Vector

GUESSES = 200  # the last of so many says how open a place is
BESIDE = (8, 0)  # words on each side that the encoder reads, one after the other
SHOWN = 25  # words on each side that the masked model reads twice, once unmasked
AROUND = 24  # words on each side that a judge which is a model may read

Rows = npt.NDArray[np.float32]
Changes = Mapping[int, Sequence[str]]  # positions of the original and the words that are to stand there


@dataclass(frozen=True)
class Acceptable(Compared):
    """The probability that most people would accept the words that changed, each read in the original.

    Of a text it lies between the least of its words' probabilities and their product, as the judge's calibration says;
    with `each` it is the least. nan where a word is gone, where no table knows a new word (a misspelling), or where the
    texts do not correspond word by word: what is nan passes no threshold. `models` asks a masked language model and a
    sentence encoder as well.
    """

    each: bool = False
    models: bool = False

    name = "acceptable"
    limits = (0, 1)
    family = Family.SEMANTICS

    @property
    def needs(self) -> tuple[str, ...]:  # type: ignore[override]
        """The judge and a tagger, and with `models` two models more."""
        return ("judge", "tagger", "masked_lm", "encoder") if self.models else ("judge", "tagger")

    async def against(self, reference: Text, candidates: Sequence[Text], ask: Services) -> list[float]:
        """Each distinct change is judged once."""
        edits = [reference.edits(text) if reference.same_shape(text) else None for text in candidates]
        changes: dict[int, dict[str, None]] = {}
        for found in edits:
            for edit in found or ():
                changes.setdefault(edit.position, {})[edit.new] = None
        values = await self.of_changes(reference, {place: list(words) for place, words in changes.items()}, ask)
        together = _least if self.each else ask.judge.calibration.whole
        return [
            math.nan if found is None else round(together([values[edit.position, edit.new] for edit in found]), 6)
            for found in edits
        ]

    async def of_changes(self, text: Text, changes: Changes, ask: Services) -> dict[tuple[int, str], float]:
        """The probability of single replacements, by position and new word."""
        book = ask.judge
        if not isinstance(book, Judge):
            return await self._of_model(text, changes, ask)
        places = sorted(changes)
        tags = await ask.tagger([Spot(*text.stretch(place, 4, 3)) for place in places])
        more = await self._asked(text, changes, book, ask) if self.models else {}
        found: dict[tuple[int, str], float] = {}
        for position, tag in zip(places, tags, strict=True):
            old, words = text.words[position], list(changes[position])
            values = book(_place(text, position, tag.tag), words, more.get(position))
            for word, value in zip(words, values.tolist(), strict=True):
                same = word.lower() == old.lower()
                found[position, word] = 1.0 if same else value if word.strip() else math.nan
        return found

    async def _of_model(self, text: Text, changes: Changes, ask: Services) -> dict[tuple[int, str], float]:
        """As `of_changes`, by a judge that is a model; it needs no tags."""
        if self.models:
            raise BadInput(f"acceptable:models=yes is for the bundled judge, not for {ask.judge.name}; leave one out.")
        found: dict[tuple[int, str], float] = {}
        asked: dict[tuple[int, str], Substitution] = {}
        for position in sorted(changes):
            string, start, end = text.stretch(position, AROUND, AROUND)
            for word in changes[position]:
                if word.lower() == text.words[position].lower():
                    found[position, word] = 1.0
                elif not word.strip() or bundled().silent(text.words[position], word):
                    found[position, word] = math.nan  # nobody taught this judge about such words either
                else:
                    asked[position, word] = Substitution(string, start, end, word)
        values = await ask.accepted(list(asked.values()))
        return found | dict(zip(asked, values, strict=True))

    async def _asked(self, text: Text, changes: Changes, book: Judge, ask: Services) -> dict[int, Rows]:
        """What the models say about each position: a row of mohs.text.judge.ASKED a word."""
        spans, places = text.spans(), sorted(changes)
        asked = [Asked.about(text, place, Blank(text.fields, *spans[place]), changes[place], book) for place in places]
        filled = await ask.fill([blank for one in asked for blank in one.blanks])
        needed = list(dict.fromkeys(string for one in asked for group in one.strings for string in group))
        vectors = dict(zip(needed, await ask.encoder(needed), strict=True))
        pairs = zip(filled[::2], filled[1::2], strict=True)
        return {place: one.rows(pair, vectors, book) for place, one, pair in zip(places, asked, pairs, strict=True)}


class Asked(NamedTuple):
    """What the models are asked about one place, and how their answers make rows of mohs.text.judge.ASKED."""

    words: tuple[str, ...]  # the old one, then the new ones
    blanks: tuple[Blank, Blank]  # the place masked; and masked in a copy that stands behind the text as it is
    strings: list[list[str]]  # for each of BESIDE: with the old word, then with each new one

    @classmethod
    def about(cls, text: Text, place: int, blank: Blank, words: Sequence[str], judge: Judge) -> Asked:
        """The questions about a word of a text; `blank` is where it stands."""
        asked = (text.words[place].lower(), *(word.lower() for word in words))
        more = tuple(dict.fromkeys([*asked, *(part for word in asked for part in judge.stand_ins(word))]))
        string, start, end = text.stretch(place, SHOWN, SHOWN)
        behind = Blank((string, string), 1, start, end, GUESSES, more)
        strings = []
        for beside in BESIDE:
            string, start, end = text.stretch(place, beside, beside)
            string = string if beside else string[:end]  # the word alone, without what follows
            strings.append([string[:start] + word + string[end:] for word in asked])
        return cls(asked, (blank._replace(k=GUESSES, words=more), behind), strings)

    def rows(self, filled: tuple[Filled, Filled], vectors: Mapping[str, Vector], judge: Judge) -> Rows:
        """A row for each new word."""
        columns: list[npt.NDArray[np.float64]] = []
        for blank, answer in zip(self.blanks, filled, strict=True):
            said = dict(zip(blank.words, answer.log_probs, strict=True))
            old, *others = (_said(word, said, judge) for word in self.words)
            new, low = np.array(others), answer.guesses[-1].logit - answer.total
            columns += [np.full(len(new), old), new, new - old, np.full(len(new), low)]
        for old_string, *new_strings in self.strings:
            before = vectors[old_string]
            columns.append(np.array([float(np.dot(before, vectors[string])) for string in new_strings]))
        found: Rows = np.round(np.column_stack(columns), 4).astype(np.float32)
        return found


def _said(word: str, said: Mapping[str, float], judge: Judge) -> float:
    """A word's log-probability; if it is of several pieces, the highest of those of its stand-ins, or nan."""
    if not math.isnan(said[word]):
        return said[word]
    return max((said[part] for part in judge.stand_ins(word) if not math.isnan(said[part])), default=math.nan)


def _least(values: Sequence[float]) -> float:
    """The least of some values: 1 without any, nan if one is nan."""
    return math.nan if any(map(math.isnan, values)) else min(values, default=1.0)


def _place(text: Text, position: int, tag: str) -> Place:
    """A word with as many around it in its field as the judge reads."""
    number = text.field_of(position)
    start = end = position
    while start > 0 and position - start < REACH and text.field_of(start - 1) == number:
        start -= 1
    while end + 1 < len(text) and end - position < REACH and text.field_of(end + 1) == number:
        end += 1
    return Place(text.words[start : end + 1], position - start, tag)
