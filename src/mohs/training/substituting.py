"""What the methods that train for a certificate share: the words that may stand in for others."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from mohs.assets import located
from mohs.errors import BadInput
from mohs.space import Listed, Neighbours, Source
from mohs.text import Example
from mohs.text.stopwords import ENGLISH, read_stopwords
from mohs.text.vectors import read_vectors
from mohs.training.choices import Choices
from mohs.training.learner import WordLearner


class Substituting:
    """A method with these settings; the dataclasses that are made of it give the defaults."""

    words: str
    k: int
    cosine: float
    vectors: str
    stopwords: str
    rise: float

    def check_words(self, name: str) -> None:
        """Refuse settings that do not fit."""
        if not 0 <= self.rise <= 1:
            raise BadInput(f"--harden {name} has rise={self.rise:g}; give a share of the epochs, such as 0.5.")
        if self.k < 1 or not -1 <= self.cosine <= 1:
            raise BadInput(f"--harden {name} has k={self.k},cosine={self.cosine:g}; give k=5,cosine=0.5, for example.")
        _ = self.source, self.kept  # a missing file is told before anything is trained

    @cached_property
    def source(self) -> Source:
        """Where the choices come from."""
        return Neighbours(self.k, self.cosine) if self.words == "neighbours" else Listed.read(self.words)

    @cached_property
    def kept(self) -> frozenset[str]:
        """The words that never change."""
        return ENGLISH if self.stopwords == "english" else read_stopwords(self.stopwords)

    def choices(self, learner: WordLearner, examples: Sequence[Example]) -> Choices:
        """The choices of all texts."""
        services = {"vectors": read_vectors(located(self.vectors))} if self.words == "neighbours" else {}
        return Choices(examples, learner.vocabulary, self.source, self.kept, services)
