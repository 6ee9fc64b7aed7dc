"""What an attack is after: fooling the model, or for input reduction a shorter text that it reads alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from mohs.errors import BadInput

_CLASSES_NAMED = 12
SCORE_DECIMALS = 6  # scores are compared after rounding, so that the last bits of a model decide nothing


def predicted(scores: Sequence[float]) -> int:
    """The class with the highest score; the first of equals."""
    return scores.index(max(scores))


class Goal(Protocol):
    """An aim for one example: is it reached, and how near is a text to it?"""

    label: int  # the true label of the example

    def met(self, scores: Sequence[float]) -> bool:
        """Whether scores like these reach the goal, as far as scores can tell."""
        ...

    def won(self, scores: Sequence[float], left: int) -> bool:
        """The verdict on a text with these scores and so many words left in the fields that may change."""
        return self.met(scores)

    def skips(self, scores: Sequence[float], left: int) -> bool:
        """Whether an original like this is no case for an attack: at the goal already, or misread."""
        return self.met(scores)

    def score(self, scores: Sequence[float]) -> float:
        """Nearer is higher, rounded; only the order matters."""
        ...

    def margin(self, scores: Sequence[float]) -> float:
        """How far the decision is from a tie; small either way means it could have fallen otherwise.

        Unless a goal says otherwise: the true label's lead over the best other, or the other way round.
        """
        return _lead(scores, self.label)


@dataclass(frozen=True)
class Untargeted(Goal):
    """Any wrong label."""

    label: int
    refusal: int | None = None  # the column that says "rejected", which is no label

    def met(self, scores: Sequence[float]) -> bool:
        """The prediction is a label, and not the true one."""
        return predicted(scores) not in (self.label, self.refusal)

    def score(self, scores: Sequence[float]) -> float:
        """One minus the true label's probability, and minus that of being rejected."""
        return _lost(scores, self.label, self.refusal)


@dataclass(frozen=True)
class Targeted(Goal):
    """One chosen wrong label."""

    label: int
    target: int

    def met(self, scores: Sequence[float]) -> bool:
        """The prediction is the target."""
        return predicted(scores) == self.target

    def skips(self, scores: Sequence[float], left: int) -> bool:
        """What is the target already, and what is wrong in another way."""
        return self.met(scores) or predicted(scores) != self.label

    def score(self, scores: Sequence[float]) -> float:
        """The target's probability."""
        return round(scores[self.target], SCORE_DECIMALS)

    def margin(self, scores: Sequence[float]) -> float:
        """The target's lead over the best other, or the other way round."""
        return _lead(scores, self.target)


@dataclass(frozen=True)
class Below(Goal):
    """The true label's probability under a threshold."""

    label: int
    threshold: float
    refusal: int | None = None  # the column that says "rejected"

    def met(self, scores: Sequence[float]) -> bool:
        """The true label's probability is under the threshold, and the text is not rejected."""
        return scores[self.label] < self.threshold and predicted(scores) != self.refusal

    def score(self, scores: Sequence[float]) -> float:
        """One minus the true label's probability, and minus that of being rejected."""
        return _lost(scores, self.label, self.refusal)

    def margin(self, scores: Sequence[float]) -> float:
        """The distance from the threshold."""
        return abs(scores[self.label] - self.threshold)


@dataclass(frozen=True)
class Reduced(Goal):
    """The true label still, with at most so many words left (TextAttack's goal of input reduction, where it is one)."""

    label: int
    words: int

    def met(self, scores: Sequence[float]) -> bool:
        """The prediction is the true label; how short the text is, scores cannot tell."""
        return predicted(scores) == self.label

    def won(self, scores: Sequence[float], left: int) -> bool:
        """The prediction is the true label, and few enough words are left."""
        return self.met(scores) and left <= self.words

    def skips(self, scores: Sequence[float], left: int) -> bool:
        """What is wrong, and what is short enough already."""
        return not self.met(scores) or left <= self.words

    def score(self, scores: Sequence[float]) -> float:
        """The true label's probability."""
        return round(scores[self.label], SCORE_DECIMALS)


def _lost(scores: Sequence[float], label: int, refusal: int | None) -> float:
    rejected = 0.0 if refusal is None else scores[refusal]
    return round(1 - scores[label] - rejected, SCORE_DECIMALS)


def _lead(scores: Sequence[float], label: int) -> float:
    return abs(scores[label] - max(s for i, s in enumerate(scores) if i != label))


UNTARGETED = "untargeted"  # the goal of a run unless told otherwise; an attack with a goal of its own has that instead


def keeps_label(spec: str) -> bool:
    """Whether the prediction is to stay: then a success fools nobody, and accuracy under attack says nothing."""
    return spec.partition(":")[0] == "reduced"


def parse_goal(spec: str, label: int, classes: int, names: Sequence[str] = (), refusal: int | None = None) -> Goal:
    """`untargeted`, `targeted:LABEL`, `below:T` or `reduced:N`, for one example.

    refusal: the column of the scores that says "rejected", where a victim can reject a text.
    """
    kind, _, value = spec.partition(":")
    try:
        if kind == "untargeted" and not value:
            return Untargeted(label, refusal)
        if kind == "targeted" and 0 <= int(value) < classes:
            return Targeted(label, int(value))
        if kind == "below" and 0 < float(value) <= 1:
            return Below(label, float(value), refusal)
        if kind == "reduced" and int(value) >= 1:
            return Reduced(label, int(value))
    except ValueError:
        pass
    named = f"targeted:N with a class from 0 to {classes - 1}"
    if names:
        more = f" and {len(names) - _CLASSES_NAMED} more" if len(names) > _CLASSES_NAMED else ""
        some = ", ".join(names[:_CLASSES_NAMED])
        named = f"targeted:CLASS with a class of {some}{more} (or its number, 0 to {classes - 1})"
    raise BadInput(
        f"Unknown goal {spec!r}; use untargeted, {named}, "
        "below:T with 0 < T <= 1, or for input reduction reduced:N with at least one word."
    )
