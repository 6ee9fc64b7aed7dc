"""Augmentation while training: texts with some words replaced, anew in every step (Hauser et al. 2021, Section 7.1)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import Any

from mohs.assets import located
from mohs.errors import BadInput
from mohs.text import Text
from mohs.text.stopwords import EITHER
from mohs.text.text import like
from mohs.text.vectors import read_vectors
from mohs.text.wordnet import WordNet
from mohs.training.hardening import Batch, Fields
from mohs.training.learner import Learner


@dataclass(frozen=True)
class _Replacing:
    rate: float = 0.4  # t_rr: the share of words to replace
    words: str = "neighbours"  # neighbours, or wordnet (Appendix A.3)
    k: int = 50
    cosine: float = 0.5  # t_cv
    vectors: str = "pocket"

    def __post_init__(self) -> None:
        if not 0 < self.rate <= 1:
            raise BadInput(f"The augmentation's rate={self.rate} must be a share above 0 and at most 1, such as 0.4.")
        if self.words not in ("neighbours", "wordnet"):
            raise BadInput(f"Augmentation takes its words from neighbours or wordnet, not from {self.words!r}.")
        if self.k < 1:
            raise BadInput(f"Augmentation needs at least one neighbour, not k={self.k}.")

    @cached_property
    def _book(self) -> Any:
        return WordNet(located("wordnet")) if self.words == "wordnet" else read_vectors(located(self.vectors))

    @cached_property
    def _known(self) -> dict[str, tuple[list[str], list[float]]]:
        return {}

    def candidates(self, word: str) -> tuple[list[str], list[float]]:
        """The words that may replace a word, with their weights: 1 - cosine, or equal for WordNet (Eq. 7.2)."""
        if word not in self._known:
            self._known[word] = self._candidates(word)
        return self._known[word]

    def _candidates(self, word: str) -> tuple[list[str], list[float]]:
        if self.words == "wordnet":
            found = [other for other in self._book.synonyms(word, None) if other not in EITHER and other != word]
            return found, [1.0] * len(found)
        near = [
            (o, c) for o, c in self._book.near([word], self.k, self.cosine)[0] if c > self.cosine and o not in EITHER
        ]
        return [other for other, _ in near], [max(1 - cosine, 1e-6) for _, cosine in near]

    def replaced(self, text: Text, places: list[int], chance: Random) -> Fields:
        """The text with a word drawn for each place."""
        new = {}
        for place in places:
            old = text.words[place]
            options, weights = self.candidates(old.lower())
            if options:
                new[place] = like(chance.choices(options, weights)[0], old)
        return text.replace_all(new).fields


@dataclass(frozen=True)
class Augment(_Replacing):
    """Replaces the words that matter most: by the signed product of word vector and gradient of the loss.

    The `rate` share of all words with the highest importance is taken, and then the stopwords among them are left out.
    A replacement is drawn with a probability in proportion to 1 - cosine, because attacks favour distant words. The
    thesis does not say how a share is rounded: here to the nearest whole number, at least one.
    """

    wants_slopes = True

    def texts(
        self, learner: Learner, batch: Batch, importance: list[list[float]] | None, chance: Random
    ) -> list[Fields]:
        """One text for each text of the batch."""
        assert importance is not None
        return [
            self.replaced(text, important(text, scores, self.rate), chance)
            for text, scores in zip((Text(*fields) for fields in batch.texts), importance, strict=True)
        ]


@dataclass(frozen=True)
class RandomWords(_Replacing):
    """Replaces a share of the words that are no stopwords, drawn uniformly."""

    wants_slopes = False

    def texts(
        self, learner: Learner, batch: Batch, importance: list[list[float]] | None, chance: Random
    ) -> list[Fields]:
        """One text for each text of the batch."""
        found = []
        for fields in batch.texts:
            text = Text(*fields)
            open_places = [p for p, word in enumerate(text.words) if word.lower() not in EITHER]
            count = min(len(open_places), max(1, int(self.rate * len(open_places) + 0.5)))
            found.append(self.replaced(text, sorted(chance.sample(open_places, count)), chance))
        return found


def important(text: Text, scores: list[float], rate: float) -> list[int]:
    """The share of words with the highest scores, without the stopwords among them, in the order of the text."""
    count = min(len(text), max(1, int(rate * len(text) + 0.5)))
    best = sorted(range(len(text)), key=lambda place: (-scores[place], place))[:count]
    return sorted(place for place in best if text.words[place].lower() not in EITHER)
