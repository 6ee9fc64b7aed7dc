"""Constraints: a measure and a threshold, so that what a search obeys is what an audit reports.

A measure of words compares a word with its replacement and needs no context; a measure of texts compares whole texts
and may ask a model. Each says its class in the taxonomy of Morris et al. 2020: morphology, semantics, grammar,
suspicion.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from mohs.text import Text, pocket
from mohs.text.lexicon import NOUN, VERB

Vector = npt.NDArray[np.float32]


class Services(Protocol):
    """The models a measure may ask, as one search sees them."""

    @property
    def encoder(self) -> Callable[[Sequence[str]], Awaitable[list[Vector]]]:
        """Sentence vectors of unit length."""
        ...


class WordMeasure(Protocol):
    """A number for a word and its replacement."""

    @property
    def name(self) -> str:
        """How records call it."""
        ...

    @property
    def family(self) -> str:
        """Its class in the taxonomy."""
        ...

    def of_words(self, old: str, new: str) -> float:
        """The measure of one replacement."""
        ...


class TextMeasure(Protocol):
    """A number for each candidate text, compared with a reference text."""

    @property
    def name(self) -> str:
        """How records call it."""
        ...

    @property
    def family(self) -> str:
        """Its class in the taxonomy."""
        ...

    @property
    def previous(self) -> bool:
        """Whether a step is compared with the text before it, rather than with the original."""
        ...

    async def of_texts(
        self, original: Text, current: Text | None, candidates: Sequence[Text], ask: Services
    ) -> list[float]:
        """The measure of each candidate as a step from `current`; without one, of whole texts against the original."""
        ...


@dataclass(frozen=True)
class Constraint:
    """A measure that must stay at or above a threshold, or at or below one."""

    measure: WordMeasure | TextMeasure
    at_least: float = -math.inf
    at_most: float = math.inf

    def holds(self, value: float) -> bool:
        """Whether a value passes; not-a-number never does."""
        return self.at_least <= value <= self.at_most

    @property
    def about_words(self) -> bool:
        """Whether it can be decided when the space is built."""
        return hasattr(self.measure, "of_words")


@dataclass(frozen=True)
class PosShared:
    """1 if the two words can be of the same part of speech, 0 if not; noun and verb count as one where allowed.

    Decided by a word list without context: the classes each word has in WordNet. A word the list does not know
    shares nothing.
    """

    noun_is_verb: bool = True
    name: str = "part of speech"
    family: str = "grammar"

    def of_words(self, old: str, new: str) -> float:
        """Whether the classes of the two words meet."""
        lexicon = pocket.lexicon()
        one, other = lexicon.parts_of_speech(old.lower()), lexicon.parts_of_speech(new.lower())
        if self.noun_is_verb:
            both = NOUN | VERB
            one, other = (part | both if part & both else part for part in (one, other))
        return float(bool(one & other))


@dataclass(frozen=True)
class SentenceSimilarity:
    """How alike two texts are to a sentence encoder.

    `angular` gives 1 - angle/pi of the two vectors, otherwise the cosine. `window` compares only that many words
    around the changed one, as TextFooler does; `previous` compares with the text before the step.
    """

    angular: bool = True
    window: int | None = None
    previous: bool = False
    name: str = "sentence similarity"
    family: str = "semantics"

    async def of_texts(
        self, original: Text, current: Text | None, candidates: Sequence[Text], ask: Services
    ) -> list[float]:
        """One encoding for each distinct text or window."""
        pairs = [self._views(original, current, candidate) for candidate in candidates]
        needed = list(dict.fromkeys(view for pair in pairs for view in pair))
        vectors = dict(zip(needed, await ask.encoder(needed), strict=True))
        return [1.0 if one == other else self.of_vectors(vectors[one], vectors[other]) for one, other in pairs]

    def of_vectors(self, one: Vector, other: Vector) -> float:
        """The similarity of two unit vectors, rounded so that the last bits of an encoder decide nothing."""
        cosine = min(1.0, max(-1.0, float(np.dot(one, other))))
        return round(1 - math.acos(cosine) / math.pi if self.angular else cosine, 6)

    def _views(self, original: Text, current: Text | None, candidate: Text) -> tuple[str, str]:
        """The two strings to compare: windows around the word that the step changed, or whole texts."""
        reference = current if current is not None and self.previous else original
        if self.window is not None and current is not None and current.same_shape(candidate):
            changed = [edit.position for edit in current.edits(candidate)]
            if len(changed) == 1:
                return reference.around(changed[0], self.window), candidate.around(changed[0], self.window)
        return str(reference), str(candidate)
