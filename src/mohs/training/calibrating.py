"""How well scores tell accepted from refused substitutions, and the curve from scores to probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

import numpy as np
import numpy.typing as npt

from mohs.text.calibration import Calibration

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

BINS = 15
_POINTS = 33  # of a curve
_FOLDS = 5
_DRAWS = 300  # of targets, for the calibration's own error
_ROUNDS = 50
_RIDGE = 1e-3  # keeps the fit finite if scores separate the two kinds completely


def ordered_pairs(scores: Sequence[float], accepted: Sequence[bool]) -> tuple[int, int]:
    """How many pairs of an accepted and a refused item have the accepted one higher, and how many pairs there are.

    Two ties count as one. The share is the area under the ROC curve.
    """
    rows = sorted(zip(scores, accepted, strict=True))
    refused = twice = 0
    for _, group in groupby(rows, key=lambda row: row[0]):
        here = [flag for _, flag in group]
        good = sum(here)
        twice += good * (2 * refused + len(here) - good)
        refused += len(here) - good
    return twice // 2, refused * (len(rows) - refused)


def auc(scores: Sequence[float], accepted: Sequence[bool]) -> float:
    """The area under the ROC curve; nan if there is one kind only."""
    right, of = ordered_pairs(scores, accepted)
    return right / of if of else float("nan")


def reliability(said: Floats, accepted: Flags, bins: int = BINS) -> list[tuple[float, float, int]]:
    """In bins of equal mass: the mean probability said, the share found, and the number of items."""
    parts = np.array_split(np.argsort(said, kind="stable"), min(bins, len(said)))
    return [(float(said[part].mean()), float(accepted[part].mean()), len(part)) for part in parts]


def calibration_error(points: Sequence[tuple[float, float, int]]) -> float:
    """The expected calibration error of a reliability curve."""
    return sum(abs(said - found) * count for said, found, count in points) / sum(count for *_, count in points)


def logistic(scores: Floats, accepted: Flags) -> tuple[float, float]:
    """Platt scaling: the offset and slope that make log-odds of scores."""
    spread = float(scores.std()) or 1.0
    x = np.column_stack([np.ones(len(scores)), (scores - scores.mean()) / spread])
    positive, total = int(accepted.sum()), len(accepted)
    wanted = np.where(accepted, (positive + 1) / (positive + 2), 1 / (total - positive + 2))  # Platt 1999
    found = np.zeros(2)
    for _ in range(_ROUNDS):
        said = 1 / (1 + np.exp(-np.clip(x @ found, -30, 30)))
        step = np.linalg.solve(
            (x * (said * (1 - said))[:, None]).T @ x + _RIDGE * np.eye(2), x.T @ (wanted - said) - _RIDGE * found
        )
        found = found + np.clip(step, -2, 2)
        if np.abs(step).max() < 1e-9:
            break
    slope = float(found[1]) / spread
    return float(found[0]) - slope * float(scores.mean()), slope


def curve(scores: Floats, accepted: Flags) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Points of the curve from scores to probabilities, over the range of the scores. It never falls."""
    offset, slope = logistic(scores, accepted)
    low, high = float(scores.min()), float(scores.max())
    if slope <= 0 or high - low < 1e-6:  # the scores say nothing
        return (low,), (float(accepted.mean()),)
    points = np.linspace(low, high, _POINTS)
    return tuple(points.round(6).tolist()), tuple((1 / (1 + np.exp(-(offset + slope * points)))).round(6).tolist())


def held_out(scores: Floats, accepted: Flags, groups: Sequence[Any], seed: int) -> Floats:
    """The probability of each item by a curve that saw no item of its group."""
    names = sorted(set(groups))
    number = dict(zip(names, np.random.default_rng(seed).permutation(len(names)) % _FOLDS, strict=True))
    fold = np.array([number[group] for group in groups])
    found = np.full(len(scores), float(accepted.mean()))
    for one in range(_FOLDS):
        inside, others = fold == one, fold != one
        if inside.any() and 0 < accepted[others].sum() < others.sum():
            found[inside] = np.interp(scores[inside], *curve(scores[others], accepted[others]))
    return found


def uncertain(odds: Floats, accepted: Flags, groups: Sequence[Any], seed: int, whole: Calibration) -> Calibration:
    """What so few judgements leave open about the log-odds: how a fit to them varies if groups are drawn again.

    How words add up to a text, and how kinds of texts differ, is taken from `whole`: it cannot be seen here.
    """
    rows: dict[Any, list[int]] = {}
    for number, group in enumerate(groups):
        rows.setdefault(group, []).append(number)
    parts = [np.array(numbers) for numbers in rows.values()]
    chance = np.random.default_rng(seed)
    fits = []
    for _ in range(_DRAWS):
        drawn = np.concatenate([parts[number] for number in chance.integers(0, len(parts), len(parts))])
        if 0 < accepted[drawn].sum() < len(drawn) and odds[drawn].std() > 0:
            fits.append(logistic(odds[drawn], accepted[drawn]))
    if len(parts) < 5 or len(fits) < _DRAWS // 2:  # nothing can be said; the defaults are wide
        return Calibration(whole.independence, spread=whole.spread)
    table = np.array(fits)
    offset, slope = table.std(axis=0)
    correlation = np.corrcoef(table.T)[0, 1] if offset > 0 and slope > 0 else 0.0
    return Calibration(
        whole.independence, round(float(offset), 4), round(float(slope), 4), round(float(correlation), 4), whole.spread
    )
