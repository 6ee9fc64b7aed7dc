"""Shares of a benchmark with intervals. Texts made from one benign text are alike, so the benign text is the unit."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mohs.report.rates import wilson

Floats = npt.NDArray[np.float64]
_Z = 1.959963984540054


class Answered(NamedTuple):
    """What was said about one text. said: None if the victim raised an error. unit: its benign text."""

    label: int
    said: int | None
    unit: str


@dataclass(frozen=True)
class Figure:
    """A share with its 95% interval. errors: texts without an answer, which are not in `n`.

    units: benign texts behind the n texts. variance: that of the value, kept from being 0 at the ends; for averages.
    """

    value: float | None
    low: float | None
    high: float | None
    n: int
    errors: int
    units: int
    variance: float
    of: str

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


def mean_of_figures(figures: Sequence[Figure], of: str) -> Figure:
    """The plain mean of figures of different texts; its variance is that of independent ones.

    The mean of accuracy and F1 of the same texts is not one of independent figures; use `mean_of_alike`.
    """
    return _averaged(figures, sum(one.variance for one in figures) / max(len(figures), 1) ** 2, of)


def mean_of_alike(figures: Sequence[Figure], of: str) -> Figure:
    """The plain mean of figures of the same texts, which rise and fall together: the deviations are averaged."""
    deviation = sum(math.sqrt(one.variance) for one in figures) / max(len(figures), 1)
    return _averaged(figures, deviation**2, of)


def difference(one: Figure, other: Figure, of: str) -> Figure:
    """One figure less another of other texts."""
    if one.value is None or other.value is None:
        return Figure(None, None, None, min(one.n, other.n), 0, min(one.units, other.units), 0.0, of)
    value, variance = one.value - other.value, one.variance + other.variance
    half = _Z * math.sqrt(variance)
    low, high = max(-1.0, value - half), min(1.0, value + half)
    return Figure(value, low, high, min(one.n, other.n), 0, min(one.units, other.units), variance, of)


def _averaged(figures: Sequence[Figure], variance: float, of: str) -> Figure:
    known = [one.value for one in figures if one.value is not None]
    counts = sum(one.n for one in figures), sum(one.errors for one in figures), sum(one.units for one in figures)
    if not figures or len(known) < len(figures):
        return Figure(None, None, None, *counts, 0.0, of)
    value, half = math.fsum(known) / len(known), _Z * math.sqrt(variance)
    return Figure(value, max(0.0, value - half), min(1.0, value + half), *counts, variance, of)


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
        return Figure(None, None, None, 0, errors, 0, 0.0, of)
    top, bottom = parts(whole)
    tops: Floats = np.bincount(places, top, len(units)).astype(np.float64)
    bottoms: Floats = np.bincount(places, bottom, len(units)).astype(np.float64)
    size = float(bottoms.sum())
    value = float(tops.sum()) / size if size else 0.0
    count = _effective(value, top, bottom, tops, bottoms)
    low, high = wilson(value, count)
    moved = (value * count + 2) / (count + 4)
    return Figure(value, low, high, len(whole), errors, len(units), moved * (1 - moved) / count, of)


def _effective(value: float, top: Floats, bottom: Floats, tops: Floats, bottoms: Floats) -> float:
    """How many independent texts would tell the share as well: the number of texts over the design effect.

    The design effect is the variance of the ratio over units, over that over texts, both linearised; at least 1, since
    texts of one source do not tell more than others.
    """
    n = float((bottom > 0).sum())
    if not n:
        return float(len(top))
    if len(tops) < 2:
        return 1.0
    among = float(((tops - value * bottoms) ** 2).sum()) * len(tops) / (len(tops) - 1)
    alone = float(((top - value * bottom) ** 2).sum()) * len(top) / max(len(top) - 1, 1)
    size = float(bottom.sum())
    if alone <= 0:  # all right or all wrong: texts of one source may be quite alike
        return float(len(tops)) * min(1.0, n / len(top))
    if not (bottom == 1).all():  # a ratio: how well it is known, as a share of so many texts
        variance = max(among, alone) / size**2
        return max(1.0, value * (1 - value) / variance)
    return n / max(1.0, among / alone)


def by(answers: Sequence[tuple[str, Answered]]) -> dict[str, list[Answered]]:
    """Answers by a name, in the order in which names come."""
    found: dict[str, list[Answered]] = defaultdict(list)
    for name, one in answers:
        found[name].append(one)
    return dict(found)
