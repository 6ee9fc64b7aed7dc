"""The figures of an attack by class: accuracy and success of each true class, and what it was taken for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mohs.records import Outcome, Record
from mohs.report.listing import named
from mohs.report.rates import Completed, Rate
from mohs.report.table import rate

FEW = 8  # with more classes, tables show the most frequent directions only
MOST_DIRECTIONS = 10  # in a table

_ATTACKED = (Outcome.SUCCESS, Outcome.FAILED, Outcome.EXHAUSTED, Outcome.DETECTED)


@dataclass(frozen=True)
class ClassFigures:
    """The figures of the examples of one class."""

    label: int
    accuracy_before: Rate
    accuracy_under_attack: Completed | None  # None if the goal is to keep the label
    success: Rate


@dataclass(frozen=True)
class Direction:
    """How often a success made the victim take one class for another. The denominator: attacked examples of `true`."""

    true: int
    predicted: int
    rate: Rate


@dataclass(frozen=True)
class ByClass:
    """The figures of all classes of one attack, in order of the labels; directions by frequency."""

    classes: tuple[ClassFigures, ...] = ()
    directions: tuple[Direction, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dict with the values and intervals of all rates."""
        return {
            "classes": [
                {
                    "label": found.label,
                    "accuracy_before": found.accuracy_before.to_json(),
                    "accuracy_under_attack": None
                    if found.accuracy_under_attack is None
                    else found.accuracy_under_attack.to_json(),
                    "success": found.success.to_json(),
                }
                for found in self.classes
            ],
            "directions": [
                {"true": found.true, "predicted": found.predicted, "rate": found.rate.to_json()}
                for found in self.directions
            ],
        }


class ClassTally:
    """Counts by class while records stream by."""

    def __init__(self) -> None:
        self._read: Counter[int] = Counter()
        self._right_before: Counter[int] = Counter()
        self._judged: Counter[int] = Counter()
        self._right_after: Counter[int] = Counter()
        self._attacked: Counter[int] = Counter()
        self._tried_right: Counter[int] = Counter()
        self._won: Counter[int] = Counter()
        self._directions: Counter[tuple[int, int]] = Counter()
        self._errors: Counter[int] = Counter()
        self._won_anyway: Counter[int] = Counter()  # errors of batteries that succeeded all the same
        self._wrong_anyway: Counter[int] = Counter()

    def add(self, record: Record) -> None:
        """Count one record, with the same denominators as the figures of all classes together."""
        label, before = record.label, record.scores_before
        judged, held = record.outcome is not Outcome.ERROR, False
        if judged or before:
            self._read[label] += 1
            self._right_before[label] += bool(before) and _predicted(before) == label
        if judged:
            last = record.scores_after or before
            self._judged[label] += 1
            held = record.outcome is Outcome.DETECTED or (bool(last) and _predicted(last) == label)
            self._right_after[label] += held
        else:
            self._errors[label] += 1
            self._won_anyway[label] += bool(record.by)
            self._wrong_anyway[label] += bool(record.by) and _predicted(record.scores_after) != label
        if record.outcome in _ATTACKED:
            self._attacked[label] += 1
            self._tried_right[label] += held
        if record.outcome is Outcome.SUCCESS:
            self._won[label] += 1
            if record.scores_after and _predicted(record.scores_after) != label:
                self._directions[label, _predicted(record.scores_after)] += 1

    def figures(self, reduces: bool) -> ByClass:
        """The figures so far. `reduces`: the goal is to keep the label, so nothing is taken for another class."""
        classes = tuple(self._of(label, reduces) for label in sorted(self._read))
        order = sorted(self._directions.items(), key=lambda found: (-found[1], found[0]))
        directions = tuple(
            Direction(true, predicted, Rate(count, self._attacked[true], "examples of the class attacked"))
            for (true, predicted), count in order
            if not reduces
        )
        return ByClass(classes, directions)

    def _of(self, label: int, reduces: bool) -> ClassFigures:
        judged, errors = self._judged[label], self._errors[label]
        unread = judged + errors - self._read[label]  # errors before the victim scored the original
        before = Rate(self._right_before[label], self._read[label], "examples of the class scored", unread)
        under = Completed(
            self._right_after[label],
            judged,
            "examples of the class scored",
            errors,
            errors_missed=self._wrong_anyway[label],
            tried=self._attacked[label],
            tried_hits=self._tried_right[label],
            late=errors - unread,
        )
        success = Rate(
            self._won[label], self._attacked[label], "examples of the class attacked", errors, self._won_anyway[label]
        )
        return ClassFigures(label, before, None if reduces else under, success)


def class_lines(found: ByClass, labels: Sequence[str]) -> list[tuple[str, str, str]]:
    """The rows of a table: a figure's name, its value, and its denominator. None if there is one class only.

    With many classes: the most frequent directions alone. With two there is only one way to be wrong, which is
    the success of the class.
    """
    if len(found.classes) < 2:
        return []
    rows = []
    if len(found.classes) <= FEW:
        for one in found.classes:
            name = named(one.label, labels)
            rows.append((f"{name}: accuracy before", rate(one.accuracy_before), f"of {one.accuracy_before.of}"))
            if one.accuracy_under_attack is not None:
                under = one.accuracy_under_attack
                rows.append((f"{name}: under attack", rate(under), f"of {under.of}"))
            turned = sum(way.rate.hits for way in found.directions if way.true == one.label)
            if len(found.classes) > 2 or turned < one.success.hits or one.accuracy_under_attack is None:
                rows.append((f"{name}: attack success", rate(one.success), f"of {one.success.of}"))
            else:
                (other,) = {two.label for two in found.classes} - {one.label}
                rows.append((f"{name} read as {named(other, labels)}", rate(one.success), f"of {one.success.of}"))
    shown = found.directions if len(found.classes) <= FEW else found.directions[:MOST_DIRECTIONS]
    for way in shown if len(found.classes) > 2 else ():
        read = f"{named(way.true, labels)} read as {named(way.predicted, labels)}"
        rows.append((read, rate(way.rate), f"of {way.rate.of}"))
    return rows


def _predicted(scores: Sequence[float]) -> int:
    """The first class with the highest score."""
    return max(range(len(scores)), key=scores.__getitem__)
