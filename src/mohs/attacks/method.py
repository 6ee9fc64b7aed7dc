"""What an attack is: a frozen dataclass that says its space and searches it for one example."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, ClassVar, Protocol

from mohs.attacks.goal import Goal
from mohs.engine import Meter, Service
from mohs.errors import BadInput
from mohs.space import Constraint, Source, Space
from mohs.space.constraints import Vector
from mohs.text import Text

Scores = tuple[float, ...]


@dataclass(frozen=True)
class Ask:
    """What a search may ask, and its own randomness."""

    _victim: Meter[tuple[str, ...], Scores]
    _encoder: Service[tuple[str, ...], Vector] | None
    random: Random

    async def victim(self, texts: Sequence[Text]) -> list[Scores]:
        """The victim's probabilities for each text."""
        return await self._victim([text.fields for text in texts])

    def affordable(self, texts: Sequence[Text]) -> list[Text]:
        """The texts, from the first on, that the query budget still allows."""
        return list(texts[: self._victim.affordable([text.fields for text in texts])])

    async def encoder(self, texts: Sequence[str]) -> list[Vector]:
        """Sentence vectors of unit length."""
        if self._encoder is None:
            raise BadInput(
                "This attack compares sentences; name an encoder with --encoder pocket or --encoder hf:PATH."
            )
        return await self._encoder.ask([(text,) for text in texts])


class Attack(Protocol):
    """One method. Its fields are its hyper-parameters; calling it searches the space of one example."""

    paper: ClassVar[str]
    needs_scores: ClassVar[bool]  # cannot work with a victim that gives labels only

    @property
    def source(self) -> Source:
        """Where replacements come from."""
        ...

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """What a candidate must obey."""
        ...

    @property
    def stopwords(self) -> frozenset[str]:
        """Words that are never replaced."""
        ...

    async def __call__(self, x: Text, goal: Goal, space: Space, ask: Ask) -> Text:
        """The best text found; whether it fools the victim is judged by the caller."""
        ...


def needs(attack: Any) -> list[str]:
    """What an attack asks for, in words."""
    found = ["scores" if attack.needs_scores else "labels only"]
    compares = any(not constraint.about_words for constraint in attack.constraints)
    if compares or getattr(attack, "similarity", None) is not None:
        found.append("encoder")
    return found
