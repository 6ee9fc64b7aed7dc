"""Synonym encoding (Wang et al. 2021): every word is read as the first word of its cluster of synonyms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np

from mohs.defences.versions import Table
from mohs.defences.words import open_places
from mohs.errors import BadInput
from mohs.models.victim import Fields
from mohs.text import Text
from mohs.text.stopwords import EITHER as STOPWORDS
from mohs.text.text import like


@dataclass(frozen=True)
class Encoding:
    """Words that are neighbours of each other are read as one word, so that exchanging them changes nothing.

    Words are taken in the order of the vectors' file, which puts frequent words first in most files. A word without a
    code gets the code of its nearest neighbour that has one; otherwise it is a code itself. Its `k` nearest neighbours
    with a cosine of at least `cosine` that have no code yet get the same one. The victim is best trained on encoded
    texts (`mohs augment` writes none; encode with `Encoding.versions`).

    The paper takes neighbours within a Euclidean distance of counter-fitted vectors and orders words by their frequency
    in the training data; here the cosine and the order of the vectors' file decide, and stopwords stay.
    """

    k: int = 8
    cosine: float = 0.6
    books: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)
    _codes: dict[str, str] = field(default_factory=dict, repr=False, compare=False)

    needs = ("vectors",)
    scores_needed = False
    draws = False
    n = 1  # version

    def __post_init__(self) -> None:
        if self.k < 1:
            raise BadInput(f"Synonym encoding needs at least one neighbour, not k={self.k}.")

    def code(self, word: str) -> str:
        """The word that stands for a word's cluster; an unknown word stands for itself."""
        if not self._codes:
            self._codes.update(self._clusters())
        return self._codes.get(word, word)

    def _clusters(self) -> dict[str, str]:
        words = [word for word in self.books["vectors"].words if word not in STOPWORDS]
        codes: dict[str, str] = {}
        for word, near in zip(words, self.books["vectors"].near(words, self.k, self.cosine), strict=True):
            others = [other for other, _ in near if other not in STOPWORDS]
            if word not in codes:
                codes[word] = next((codes[other] for other in others if other in codes), word)
            for other in others:
                codes.setdefault(other, codes[word])
        return codes

    def versions(self, fields: Fields, random: Random) -> list[Fields]:
        """The encoded text."""
        text = Text(*fields)
        new = {p: like(self.code(text.words[p].lower()), text.words[p]) for p in open_places(text)}
        return [text.replace_all({p: word for p, word in new.items() if word != text.words[p]}).fields]

    def combined(self, table: Table) -> Table:
        """The only answer."""
        return np.asarray(table[0], np.float64)
