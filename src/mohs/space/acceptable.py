"""The bundled judge as a measure: would most people accept the words that changed?

How good it is, and what is extrapolated, stands in docs/validity.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mohs.space.constraints import Family
from mohs.space.measure import Compared
from mohs.space.services import Services
from mohs.text import Text
from mohs.text.judge import REACH, Place
from mohs.text.questions import Blank, Spot

GUESSES = 200  # as in training: the last of so many says how open a place is
BESIDE = 8  # words on each side that the encoder reads

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
        places = sorted(changes)
        tags = await ask.tagger([Spot(*text.stretch(place, 4, 3)) for place in places])
        more = await self._asked(text, changes, ask) if self.models else {}
        book = ask.judge
        found: dict[tuple[int, str], float] = {}
        for position, tag in zip(places, tags, strict=True):
            old, words = text.words[position], list(changes[position])
            values = book(_place(text, position, tag.tag), words, more.get(position))
            for word, value in zip(words, values.tolist(), strict=True):
                same = word.lower() == old.lower()
                found[position, word] = 1.0 if same else value if word.strip() else math.nan
        return found

    async def _asked(self, text: Text, changes: Changes, ask: Services) -> dict[int, npt.NDArray[np.float32]]:
        """What the models say about each position: a row of mohs.text.judge.ASKED a word."""
        spans, places = text.spans(), sorted(changes)
        blanks, windows = [], []
        for place in places:
            words = (text.words[place].lower(), *(word.lower() for word in changes[place]))
            blanks.append(Blank(text.fields, *spans[place], GUESSES, words))
            string, start, end = text.stretch(place, BESIDE, BESIDE)
            windows.append([string, *(string[:start] + word + string[end:] for word in changes[place])])
        filled = await ask.fill(blanks)
        needed = list(dict.fromkeys(window for group in windows for window in group))
        vectors = dict(zip(needed, await ask.encoder(needed), strict=True))
        found = {}
        for place, answer, group in zip(places, filled, windows, strict=True):
            old, low = answer.log_probs[0], answer.guesses[-1].logit - answer.total
            before = vectors[group[0]]
            rows = [
                (old, new, new - old, low, float(np.dot(before, vectors[window])))
                for new, window in zip(answer.log_probs[1:], group[1:], strict=True)
            ]
            found[place] = np.round(np.array(rows, np.float64), 4).astype(np.float32)
        return found


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
