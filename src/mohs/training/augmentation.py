"""Augmentation while training: texts with some words replaced, anew in every step (Hauser et al. 2021, Section 7.1)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
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
        self._look_up([word])
        return self._known[word]

    def _look_up(self, words: Iterable[str]) -> None:
        """Find the candidates of new words, all at once."""
        new = [word for word in dict.fromkeys(words) if word not in self._known]
        if self.words == "wordnet":
            for word in new:
                found = [other for other in self._book.synonyms(word, None) if other not in EITHER and other != word]
                self._known[word] = found, [1.0] * len(found)
        elif new:
            for word, pairs in zip(new, self._book.near(new, self.k, self.cosine), strict=True):
                near = [(other, cos) for other, cos in pairs if cos > self.cosine and other not in EITHER]
                self._known[word] = [other for other, _ in near], [max(1 - cos, 1e-6) for _, cos in near]

    def copies(self, texts: Sequence[Text], places: Sequence[list[int]], chance: Random) -> list[Fields]:
        """Each text with a word drawn for each of its places."""
        pairs = list(zip(texts, places, strict=True))
        self._look_up(text.words[place].lower() for text, chosen in pairs for place in chosen)
        return [self.replaced(text, chosen, chance) for text, chosen in pairs]

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

    Hauser et al. 2021, Section 7.1. The `rate` share of all words with the highest importance is taken, and then the
    stopwords among them (of any of the attacks) are left out. A replacement is drawn with a probability in proportion
    to 1 - cosine, because attacks favour distant words; with words=wordnet each synonym is as likely (Appendix A.3).

    The thesis has no released code. Differs from its text, or adds to it:
    - a share is rounded to the nearest whole number, at least one;
    - words beyond the model's window do not count;
    - no replacement is a stopword, as in the spaces of the attacks here.
    """

    wants_slopes = True

    def texts(
        self, learner: Learner, batch: Batch, importance: list[list[float]] | None, chance: Random
    ) -> list[Fields]:
        """One text for each text of the batch."""
        assert importance is not None
        texts = batch.parsed()
        places = [important(text, scores, self.rate) for text, scores in zip(texts, importance, strict=True)]
        return self.copies(texts, places, chance)


@dataclass(frozen=True)
class RandomWords(_Replacing):
    """Replaces a share of the words that are no stopwords, drawn uniformly: the same without the gradient."""

    wants_slopes = False

    def texts(
        self, learner: Learner, batch: Batch, importance: list[list[float]] | None, chance: Random
    ) -> list[Fields]:
        """One text for each text of the batch."""
        texts = batch.parsed()
        return self.copies(texts, [self._drawn(text, chance) for text in texts], chance)

    def _drawn(self, text: Text, chance: Random) -> list[int]:
        places = [place for place, word in enumerate(text.words) if word.lower() not in EITHER]
        return sorted(chance.sample(places, min(len(places), max(1, int(self.rate * len(places) + 0.5)))))


def important(text: Text, scores: list[float], rate: float) -> list[int]:
    """The share of words with the highest scores, without the stopwords among them, in the order of the text.

    Words that the model does not see have a score of minus infinity, and do not count.
    """
    seen = [place for place, score in enumerate(scores) if score > -math.inf]
    count = min(len(seen), max(1, int(rate * len(seen) + 0.5)))
    best = sorted(seen, key=lambda place: (-scores[place], place))[:count]
    return sorted(place for place in best if text.words[place].lower() not in EITHER)
