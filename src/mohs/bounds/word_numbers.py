"""A space as a victim over words reads it: one vocabulary index per word, independent of the other words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mohs.models.vocabulary import UNKNOWN, Vocabulary
from mohs.space import Space
from mohs.text import Text
from mohs.text.text import words_of

Whole = npt.NDArray[np.integer[Any]]


@dataclass(frozen=True)
class WordNumbers:
    """The vocabulary indices of a text's words and of their substitutes."""

    row: Whole
    spots: Whole  # index in the row of each position of the space; -1: beyond the victim's window
    words: tuple[Whole, ...]  # for each position the indices of its choices


def word_numbers_of(vocabulary: Vocabulary, space: Space) -> WordNumbers | None:
    """The indices; None if the victim reads a choice as more or less than one word, or if choices are made later.

    Each choice is tried alone. This is enough: characters between two words of a split text belong to neither of them,
    whatever the words are. Otherwise they would already be part of a word.
    """
    text = space.text
    if space.living is not None or Text(*text.fields).words != text.words:
        return None
    row, before, spans = vocabulary.row(text.fields), words_of(text.fields), text.spans()
    spot_of = {span: spot for spot, span in zip(*vocabulary.spans(text.fields), strict=True)}
    spots, numbers = [], []
    for position, words in space.choices.items():
        spot = spot_of.get(spans[position], -1)
        found = []
        for word in words:
            fields = text.replace(position, word).fields
            after = words_of(fields)
            if len(after) != len(before) or after != [*before[:position], after[position], *before[position + 1 :]]:
                return None
            found.append(vocabulary.index.get(after[position], UNKNOWN))
            if vocabulary.row(fields) != (row if spot < 0 else (*row[:spot], found[-1], *row[spot + 1 :])):
                return None
        spots.append(spot)
        numbers.append(np.array(found, np.int64))
    return WordNumbers(np.array(row, np.int64), np.array(spots, np.int64), tuple(numbers))
