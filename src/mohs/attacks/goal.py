"""What counts as fooling the model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from mohs.errors import BadInput

DECIMALS = 6  # scores are compared after rounding, so that the last bits of a model decide nothing


def predicted(scores: Sequence[float]) -> int:
    """The class with the highest score; the first of equals."""
    return max(range(len(scores)), key=scores.__getitem__)


class Goal(Protocol):
    """An aim for one example: is it reached, and how near is a text to it?"""

    def met(self, scores: Sequence[float]) -> bool:
        """Whether scores like these reach the goal."""
        ...

    def score(self, scores: Sequence[float]) -> float:
        """Nearer is higher, rounded; only the order matters."""
        ...

    def margin(self, scores: Sequence[float]) -> float:
        """How far the decision is from a tie; small either way means it could have fallen otherwise."""
        ...

    @property
    def label(self) -> int:
        """The true label of the example."""
        ...


@dataclass(frozen=True)
class Untargeted:
    """Any wrong label."""

    label: int

    def met(self, scores: Sequence[float]) -> bool:
        """The prediction is not the true label."""
        return predicted(scores) != self.label

    def score(self, scores: Sequence[float]) -> float:
        """One minus the true label's probability."""
        return round(1 - scores[self.label], DECIMALS)

    def margin(self, scores: Sequence[float]) -> float:
        """The true label's lead over the best other, or the other way round."""
        return abs(scores[self.label] - max(s for i, s in enumerate(scores) if i != self.label))


@dataclass(frozen=True)
class Targeted:
    """One chosen wrong label."""

    label: int
    target: int

    def met(self, scores: Sequence[float]) -> bool:
        """The prediction is the target."""
        return predicted(scores) == self.target

    def score(self, scores: Sequence[float]) -> float:
        """The target's probability."""
        return round(scores[self.target], DECIMALS)

    def margin(self, scores: Sequence[float]) -> float:
        """The target's lead over the best other, or the other way round."""
        return abs(scores[self.target] - max(s for i, s in enumerate(scores) if i != self.target))


@dataclass(frozen=True)
class Below:
    """The true label's probability under a threshold."""

    label: int
    threshold: float

    def met(self, scores: Sequence[float]) -> bool:
        """The true label's probability is under the threshold."""
        return scores[self.label] < self.threshold

    def score(self, scores: Sequence[float]) -> float:
        """One minus the true label's probability."""
        return round(1 - scores[self.label], DECIMALS)

    def margin(self, scores: Sequence[float]) -> float:
        """The distance from the threshold."""
        return abs(scores[self.label] - self.threshold)


def parse_goal(spec: str, label: int, classes: int) -> Goal:
    """`untargeted`, `targeted:LABEL` or `below:T`, for one example."""
    kind, _, value = spec.partition(":")
    try:
        if kind == "untargeted" and not value:
            return Untargeted(label)
        if kind == "targeted" and 0 <= int(value) < classes:
            return Targeted(label, int(value))
        if kind == "below" and 0 < float(value) <= 1:
            return Below(label, float(value))
    except ValueError:
        pass
    raise BadInput(
        f"Unknown goal {spec!r}; use untargeted, targeted:N with a class from 0 to {classes - 1}, "
        "or below:T with 0 < T <= 1."
    )
