"""Constraints: a measure and a threshold. A search obeys and an audit reports the same measures.

A measure gives a number for each candidate text, compared with the original or with the text before the step. Measures
that need only the replaced word and its replacement (`of_words`) are applied when the space is built. Each measure has
a class in the taxonomy of Morris et al. 2020 ("Pragmatic evaluation", section 3): morphology, semantics, grammar,
suspicion.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol, runtime_checkable

from mohs.errors import BadInput
from mohs.space.services import Services
from mohs.text import Text


class Family(StrEnum):
    """What a constraint protects."""

    MORPHOLOGY = "morphology"  # the text looks the same: few characters or words change
    SEMANTICS = "semantics"  # it means the same
    GRAMMAR = "grammar"  # it is as correct as before
    SUSPICION = "suspicion"  # it could have been written by a person


class Measure(Protocol):
    """A number for each candidate text."""

    @property
    def name(self) -> str:
        """Its name in records."""
        ...

    @property
    def family(self) -> Family:
        """Its class in the taxonomy."""
        ...

    @property
    def needs(self) -> tuple[str, ...]:
        """The kinds of services it uses (see mohs.space.services.KINDS)."""
        ...

    @property
    def stepwise(self) -> bool:
        """Whether it judges single steps; then the final text alone cannot show whether every step obeyed."""
        ...

    async def of_texts(
        self, original: Text, current: Text | None, candidates: Sequence[Text], ask: Services
    ) -> list[float]:
        """The value of each candidate as a step from `current`; without one, of whole texts against the original."""
        ...


@runtime_checkable
class WordMeasure(Protocol):
    """A measure that can judge a single replacement."""

    def of_words(self, old: str, new: Sequence[str], ask: Services) -> list[float]:
        """The value of each replacement of a word."""
        ...


@dataclass(frozen=True)
class Constraint:
    """A measure that must stay at or above a threshold, or at or below one.

    Short texts can have another threshold: with fewer words than `short`, `at_least_short` applies instead.
    """

    measure: Measure
    at_least: float = -math.inf
    at_most: float = math.inf
    short: int = 0
    at_least_short: float = -math.inf

    def __post_init__(self) -> None:
        if any(map(math.isnan, (self.at_least, self.at_most, self.at_least_short))):
            raise BadInput(f"A threshold of {self.measure.name} is nan; give a number.")
        low, high = getattr(self.measure, "limits", (-math.inf, math.inf))
        least = max(self.at_least, self.at_least_short if self.short else -math.inf)
        if least > high or self.at_most < low:
            asked = f">={least:g}" if least > high else f"<={self.at_most:g}"
            lies = f"is at least {low:g}" if high == math.inf else f"lies between {low:g} and {high:g}"
            raise BadInput(
                f"No text passes {self.measure.name}{asked}, because it {lies}; give a threshold in that range."
            )

    def holds(self, value: float, words: int) -> bool:
        """Whether a value passes for a text of `words` words; nan never does."""
        least = self.at_least_short if words < self.short else self.at_least
        return least <= value <= self.at_most

    @property
    def about_words(self) -> bool:
        """Whether it can be applied when the space is built."""
        return hasattr(self.measure, "of_words") and not self.measure.stepwise
