"""The goal of an attack: to fool the model or, for input reduction, to find a shorter text with the same prediction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from mohs.errors import BadInput

_CLASSES_NAMED = 12
SCORE_DECIMALS = 6  # scores are rounded before comparison, so that a model's last bits decide nothing


def predicted(scores: Sequence[float]) -> int:
    """The class with the highest score; the first if there are several."""
    return scores.index(max(scores))


class Goal(Protocol):
    """A goal for one example: whether a text reaches it, and how near a text is to it."""

    label: int  # the true label of the example

    def met(self, scores: Sequence[float]) -> bool:
        """Whether these scores reach the goal, as far as scores can tell."""
        ...

    def won(self, scores: Sequence[float], left: int) -> bool:
        """The verdict on a text with these scores. left: the number of words in the fields that may change."""
        return self.met(scores)

    def skips(self, scores: Sequence[float], left: int) -> bool:
        """Whether to skip an original with these scores: it reaches the goal already, or is misclassified."""
        return self.met(scores)

    def score(self, scores: Sequence[float]) -> float:
        """How near to the goal: higher is nearer. The value is rounded; only the order matters."""
        ...

    def reached(self, table: Sequence[Sequence[float]]) -> list[int]:
        """The numbers of the rows of scores that reach the goal, as `met` says."""
        return [number for number, scores in enumerate(table) if self.met(scores)]

    def each(self, table: Sequence[Sequence[float]]) -> list[float]:
        """The `score` of each row of scores."""
        return list(map(self.score, table))

    def margin(self, scores: Sequence[float]) -> float:
        """The distance of the decision from a tie. A small margin means that it could have gone the other way.

        By default, this is the absolute difference between the true label's score and the best other score.
        """
        return _lead(scores, self.label)


@dataclass(frozen=True)
class Untargeted(Goal):
    """Any wrong label."""

    label: int
    refusal: int | None = None  # the column that means "rejected"; it is not a label

    def met(self, scores: Sequence[float]) -> bool:
        """Whether the prediction is a wrong label, and not a rejection."""
        return predicted(scores) not in (self.label, self.refusal)

    def score(self, scores: Sequence[float]) -> float:
        """One minus the probabilities of the true label and of a rejection."""
        return _lost(scores, self.label, self.refusal)

    def reached(self, table: Sequence[Sequence[float]]) -> list[int]:
        """The numbers of the rows of scores that reach the goal."""
        others = (self.label, self.refusal)
        return [number for number, scores in enumerate(table) if scores.index(max(scores)) not in others]

    def each(self, table: Sequence[Sequence[float]]) -> list[float]:
        """The score of each row of scores."""
        if self.refusal is not None:
            return super().each(table)
        label = self.label
        return [round(1 - scores[label], SCORE_DECIMALS) for scores in table]


@dataclass(frozen=True)
class Targeted(Goal):
    """One chosen wrong label."""

    label: int
    target: int

    def met(self, scores: Sequence[float]) -> bool:
        """Whether the prediction is the target."""
        return predicted(scores) == self.target

    def skips(self, scores: Sequence[float], left: int) -> bool:
        """Skips what is classified as the target already, or misclassified otherwise."""
        return self.met(scores) or predicted(scores) != self.label

    def score(self, scores: Sequence[float]) -> float:
        """The target's probability."""
        return round(scores[self.target], SCORE_DECIMALS)

    def margin(self, scores: Sequence[float]) -> float:
        """The absolute difference between the target's score and the best other score."""
        return _lead(scores, self.target)


@dataclass(frozen=True)
class Below(Goal):
    """The true label's probability below a threshold.

    If the victim can reject texts, the probability is that among the classes: a detector that grows suspicious lowers
    the scores of all classes, and that alone fools nobody.
    """

    label: int
    threshold: float
    refusal: int | None = None  # the column that means "rejected"

    def met(self, scores: Sequence[float]) -> bool:
        """Whether the true label's probability is below the threshold and the text is not rejected."""
        return self._share(scores) < self.threshold and predicted(scores) != self.refusal

    def score(self, scores: Sequence[float]) -> float:
        """One minus the probabilities of the true label and of a rejection."""
        return _lost(scores, self.label, self.refusal)

    def margin(self, scores: Sequence[float]) -> float:
        """The distance from the threshold."""
        return abs(self._share(scores) - self.threshold)

    def _share(self, scores: Sequence[float]) -> float:
        """The true label's probability, given that the text is not rejected."""
        accepted = 1.0 if self.refusal is None else 1 - scores[self.refusal]
        return scores[self.label] / accepted if accepted > 0 else 1.0


@dataclass(frozen=True)
class Reduced(Goal):
    """The true label with at most `words` words left (TextAttack's goal of input reduction, if given as a goal)."""

    label: int
    words: int

    def met(self, scores: Sequence[float]) -> bool:
        """Whether the prediction is the true label. Scores cannot tell how short the text is."""
        return predicted(scores) == self.label

    def won(self, scores: Sequence[float], left: int) -> bool:
        """Whether the prediction is the true label and few enough words are left."""
        return self.met(scores) and left <= self.words

    def skips(self, scores: Sequence[float], left: int) -> bool:
        """Skips what is misclassified or short enough already."""
        return not self.met(scores) or left <= self.words

    def score(self, scores: Sequence[float]) -> float:
        """The true label's probability."""
        return round(scores[self.label], SCORE_DECIMALS)


def _lost(scores: Sequence[float], label: int, refusal: int | None) -> float:
    rejected = 0.0 if refusal is None else scores[refusal]
    return round(1 - scores[label] - rejected, SCORE_DECIMALS)


def _lead(scores: Sequence[float], label: int) -> float:
    return abs(scores[label] - max(s for i, s in enumerate(scores) if i != label))


UNTARGETED = "untargeted"  # the default goal; an attack's own goal replaces it


def keeps_label(spec: str) -> bool:
    """Whether the goal keeps the prediction. A success then fools nobody, and accuracy under attack is meaningless."""
    return spec.partition(":")[0] == "reduced"


def parse_goal(spec: str, label: int, classes: int, names: Sequence[str] = (), refusal: int | None = None) -> Goal:
    """The goal for one example from `untargeted`, `targeted:LABEL`, `below:T` or `reduced:N`.

    refusal: the score column that means "rejected", if the victim can reject a text.
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
    named = f"targeted:N with N from 0 to {classes - 1}"
    if names:
        more = f" and {len(names) - _CLASSES_NAMED} more" if len(names) > _CLASSES_NAMED else ""
        some = ", ".join(names[:_CLASSES_NAMED])
        named = f"targeted:CLASS with CLASS one of {some}{more} (or its number, 0 to {classes - 1})"
    raise BadInput(
        f"Unknown goal {spec!r}; use untargeted, {named}, "
        "below:T with 0 < T <= 1, or, for input reduction only, reduced:N with N >= 1."
    )
