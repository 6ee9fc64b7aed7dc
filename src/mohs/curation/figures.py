"""Shares of a benchmark with intervals. Texts made from one benign text are alike, so the benign text is the unit."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mohs.report.rates import wilson

Floats = npt.NDArray[np.float64]


class Answered(NamedTuple):
    """What was said about one text. said: None if the victim raised an error. unit: its benign text."""

    label: int
    said: int | None
    unit: str


@dataclass(frozen=True)
class Figure:
    """A share with its 95% interval. errors: texts without an answer, which are not in `n`.

    units: benign texts behind the n texts. pulls: how far each of them moves the value (linearised), so that one sees
    how figures of the same benign texts go together.
    """

    value: float | None
    low: float | None
    high: float | None
    n: int
    errors: int
    units: int
    of: str
    pulls: Mapping[str, float] = field(default_factory=dict, repr=False)

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dict."""
        interval = None if self.low is None else [self.low, self.high]
        return {
            "value": self.value,
            "interval": interval,
            "n": self.n,
            "errors": self.errors,
            "units": self.units,
            "of": self.of,
        }


def accuracy(answers: Sequence[Answered], of: str = "texts") -> Figure:
    """The share of texts whose label was said."""
    return _share(answers, _right, of)


def f1(answers: Sequence[Answered], of: str = "texts") -> Figure:
    """GLUE's F1: of class 1, whatever the label means. It is 0 if neither anybody says 1 nor any label is 1."""
    return _share(answers, _f1_parts, of)


METRICS = {"accuracy": accuracy, "f1": f1}


def mean(figures: Sequence[Figure], of: str) -> Figure:
    """The plain mean of figures of different texts. That of one figure is the figure."""
    counts = sum(one.n for one in figures), sum(one.errors for one in figures), sum(one.units for one in figures)
    return _combined(figures, [1 / len(figures)] * len(figures), counts, of)


def mean_of_same(figures: Sequence[Figure], of: str) -> Figure:
    """The plain mean of figures of the same texts, as of accuracy and F1, which rise and fall together: so the ends."""
    found, first = mean(figures, of), figures[0]
    low, high = _plain([one.low for one in figures]), _plain([one.high for one in figures])
    return Figure(found.value, low, high, first.n, first.errors, first.units, of, found.pulls)


def _plain(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if len(known) == len(values) else None


def difference(one: Figure, other: Figure, of: str) -> Figure:
    """One figure less another, whose texts are counted."""
    return _combined([one, other], [1.0, -1.0], (other.n, other.errors, other.units), of)


def _combined(figures: Sequence[Figure], weights: Sequence[float], counts: tuple[int, int, int], of: str) -> Figure:
    """A weighted sum, with an interval from those of its parts (Zou and Donner 2008).

    Each part is as uncertain as its own interval says on the side that counts; figures of the same benign texts rise
    and fall together as their pulls do. counts: n, errors and units.
    """
    value, below, above, least = 0.0, [], [], 0.0
    for one, weight in zip(figures, weights, strict=True):
        if one.value is None or one.low is None or one.high is None:
            return Figure(None, None, None, *counts, of)
        value += weight * one.value
        ends = sorted((weight * (one.low - one.value), weight * (one.high - one.value)))
        below.append(ends[0])
        above.append(ends[1])
        if weight * one.value + ends[0] < -1e-12:  # not a share: a difference, or a mean of differences
            least = -1.0
    signs = np.sign(weights)
    alike = _correlations(figures) * np.outer(signs, signs)
    low, high = (math.sqrt(max(0.0, float(np.array(side) @ alike @ np.array(side)))) for side in (below, above))
    pulls: dict[str, float] = defaultdict(float)
    for one, weight in zip(figures, weights, strict=True):
        for unit, pull in one.pulls.items():
            pulls[unit] += weight * pull
    return Figure(value, max(least, value - low), min(1.0, value + high), *counts, of, dict(pulls))


def _correlations(figures: Sequence[Figure]) -> Floats:
    """How the figures go together over benign texts; those of other benign texts do not."""
    places: dict[str, int] = {}
    for one in figures:
        for unit in one.pulls:
            places.setdefault(unit, len(places))
    pulls = np.zeros((len(figures), len(places)))
    for row, one in zip(pulls, figures, strict=True):
        row[[places[unit] for unit in one.pulls]] = list(one.pulls.values())
    lengths = np.sqrt((pulls**2).sum(axis=1))
    pulls /= np.where(lengths > 0, lengths, 1.0)[:, None]
    found: Floats = pulls @ pulls.T
    np.fill_diagonal(found, 1.0)
    return found


def _right(answers: Sequence[Answered]) -> tuple[Floats, Floats]:
    """Hits and size of each text."""
    hits = np.array([float(one.said == one.label) for one in answers])
    return hits, np.ones(len(answers))


def _f1_parts(answers: Sequence[Answered]) -> tuple[Floats, Floats]:
    """Numerator and denominator of F1, a text: 2 TP over 2 TP + FP + FN."""
    said = np.array([float(one.said == 1) for one in answers])
    is_one = np.array([float(one.label == 1) for one in answers])
    return 2 * said * is_one, said + is_one


def _share(answers: Sequence[Answered], parts: Any, of: str) -> Figure:
    whole = [one for one in answers if one.said is not None]
    errors = len(answers) - len(whole)
    units: dict[str, int] = {}
    places = np.array([units.setdefault(one.unit, len(units)) for one in whole], np.int64)
    if not whole:
        return Figure(None, None, None, 0, errors, 0, of)
    top, bottom = parts(whole)
    tops: Floats = np.bincount(places, top, len(units)).astype(np.float64)
    bottoms: Floats = np.bincount(places, bottom, len(units)).astype(np.float64)
    size = float(bottoms.sum())
    value = float(tops.sum()) / size if size else 0.0
    low, high = wilson(value, _effective(top, bottom, tops, bottoms))
    pulls = (tops - value * bottoms) / (size or 1.0)
    return Figure(value, low, high, len(whole), errors, len(units), of, dict(zip(units, pulls.tolist(), strict=True)))


def _effective(top: Floats, bottom: Floats, tops: Floats, bottoms: Floats) -> float:
    """How many independent texts would tell the share as well.

    By the variance of the ratio over benign texts, linearised, or that over texts if it is larger, since texts of one
    source do not tell more than others. Two benign texts are added, one all right and one all wrong, so that neither
    few of them nor a share of 0 or 1 seem to tell much.
    """
    size, units = float(bottom.sum()), int((bottoms > 0).sum())
    if not size:
        return float(len(tops))
    unit, text = size / units, size / int((bottom > 0).sum())
    whole = size + 2 * unit
    moved = (float(top.sum()) + unit) / whole
    added = unit * ((1 - moved) ** 2 + moved**2)
    among = (float(((tops - moved * bottoms) ** 2).sum()) + unit * added) * (units + 2) / (units + 1)
    alone = float(((top - moved * bottom) ** 2).sum()) + text * added
    return max(1.0, moved * (1 - moved) * size * whole / max(among, alone))


def by(answers: Sequence[tuple[str, Answered]]) -> dict[str, list[Answered]]:
    """Answers by a name, in the order in which names come."""
    found: dict[str, list[Answered]] = defaultdict(list)
    for name, one in answers:
        found[name].append(one)
    return dict(found)
