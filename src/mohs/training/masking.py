"""Training for smoothing: copies drawn as the smoothed victims draw their versions, anew in every step.

`ranmask(V)` asks V about texts with most words hidden, and `safer(V)` about texts with all words drawn from their
perturbation sets. V should have learnt such texts (Zeng et al. 2021, Section 4; Ye et al. 2020, Section 5).

Differs from the papers: there the drawn copies take the place of the originals; here, as with every augmentation, both
are learnt with equal weight.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from random import Random

from mohs.assets import located
from mohs.defences.smoothing import RanMask, Safer
from mohs.text.vectors import read_vectors
from mohs.text.wordnet import WordNet
from mohs.training.hardening import Batch, Fields
from mohs.training.learner import Learner


@dataclass(frozen=True)
class Mask:
    """A copy with a share of the words hidden, as `ranmask(V, rate=0.9)` hides them."""

    rate: float = 0.9
    mask: str = "[MASK]"

    wants_slopes = False

    def __post_init__(self) -> None:
        RanMask(rate=self.rate, mask=self.mask)  # refuses what does not fit

    def texts(
        self, learner: Learner, batch: Batch, importance: list[list[float]] | None, chance: Random
    ) -> list[Fields]:
        """One text for each text of the batch."""
        defence = RanMask(n=1, rate=self.rate, mask=self.mask)
        return [defence.versions(fields, chance)[0] for fields in batch.texts]


@dataclass(frozen=True)
class SaferWords:
    """A copy with every word drawn uniformly from itself and its synonyms, as `safer(V)` draws them."""

    words: str = "neighbours"  # neighbours or wordnet
    k: int = 100
    cosine: float = 0.8
    vectors: str = "pocket"

    wants_slopes = False

    def __post_init__(self) -> None:
        Safer(words=self.words, k=self.k, cosine=self.cosine)  # refuses what does not fit

    @cached_property
    def _defence(self) -> Safer:
        if self.words == "wordnet":
            return Safer(1, self.words, self.k, self.cosine, {"wordnet": WordNet(located("wordnet"))})
        return Safer(1, self.words, self.k, self.cosine, {"vectors": read_vectors(located(self.vectors))})

    def texts(
        self, learner: Learner, batch: Batch, importance: list[list[float]] | None, chance: Random
    ) -> list[Fields]:
        """One text for each text of the batch."""
        return [self._defence.versions(fields, chance)[0] for fields in batch.texts]
