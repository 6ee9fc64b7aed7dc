"""Measures of meaning: the similarity of two texts by a sentence encoder or token by token."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mohs.space.constraints import Family
from mohs.space.measure import Compared
from mohs.space.services import Services
from mohs.space.settings import at_least
from mohs.text import Text
from mohs.text.bertscore import bert_score
from mohs.text.questions import Vector


@dataclass(frozen=True)
class SentenceSimilarity(Compared):
    """The similarity of two texts by a sentence encoder.

    With `angular` it is 1 - angle/pi of the two vectors, otherwise the cosine. `window` compares only that many words
    around the changed one, as TextFooler does; `previous` compares with the text before the step. An audit always
    compares whole texts with the original.
    """

    angular: bool = True
    window: int | None = None
    previous: bool = False

    def __post_init__(self) -> None:
        at_least(1, window=self.window)

    family = Family.SEMANTICS
    needs = ("encoder",)

    @property
    def name(self) -> str:
        """The name depends on the scale."""
        return "sentence similarity" if self.angular else "sentence cosine"

    @property
    def limits(self) -> tuple[float, float]:
        """A cosine may be negative."""
        return (0, 1) if self.angular else (-1, 1)

    async def of_texts(
        self, original: Text, current: Text | None, candidates: Sequence[Text], ask: Services
    ) -> list[float]:
        """Encode each distinct text or window once."""
        pairs = [self._views(original, current, candidate) for candidate in candidates]
        needed = list(dict.fromkeys(view for pair in pairs for view in pair))
        vectors = dict(zip(needed, await ask.encoder(needed), strict=True))
        return [1.0 if one == other else self.of_vectors(vectors[one], vectors[other]) for one, other in pairs]

    def of_vectors(self, one: Vector, other: Vector) -> float:
        """The similarity of two unit vectors, rounded so that an encoder's last bits decide nothing."""
        cosine = min(1.0, max(-1.0, float(np.dot(one, other))))
        return round(1 - math.acos(cosine) / math.pi if self.angular else cosine, 6)

    def _views(self, original: Text, current: Text | None, candidate: Text) -> tuple[str, str]:
        """The two strings to compare: windows around the changed word, or whole texts."""
        reference = self.reference(original, current)
        if self.window is not None and current is not None and current.same_shape(candidate):
            changed = current.changes(candidate)
            together = changed and changed[-1] - changed[0] == len(changed) - 1  # one word, or neighbours merged
            if together and reference.same_shape(candidate):
                return reference.around(changed[0], self.window), candidate.around(changed[0], self.window)
        return str(reference), str(candidate)


@dataclass(frozen=True)
class BertScore(Compared):
    """BERTScore F1 against the original (Zhang et al. 2020): tokens matched greedily by their contextual vectors.

    There are no idf weights and no rescaling, so only values of the same token encoder are comparable.
    """

    name = "BERTScore"
    limits = (0, 1)
    family = Family.SEMANTICS
    needs = ("token_encoder",)

    async def against(self, reference: Text, candidates: Sequence[Text], ask: Services) -> list[float]:
        """Encode each distinct text once."""
        needed = list(dict.fromkeys([str(reference), *map(str, candidates)]))
        vectors = dict(zip(needed, await ask.token_encoder(needed), strict=True))
        before = vectors[str(reference)]
        return [round(bert_score(vectors[str(candidate)], before)[2], 6) for candidate in candidates]
