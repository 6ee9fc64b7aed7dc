"""A shift and a stretch of a judge's log-odds, fitted to people's verdicts, and how far both may be off.

The curve is Platt's, held near the judge by a prior: z = c + shift + stretch (x - c), where x are the judge's log-odds
of a changed word and c is their mean in the study. Of a text with several changes the words' new probabilities are put
together as the judge does it, so single changes and whole texts are fitted by the same two numbers.

Three things are not known: other texts would give other verdicts (a bootstrap over source texts), so would other people
(what a verdict owes to a single judge, as `mohs.studies.validity` has it), and the prior may be wrong.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mohs.models.refit import Refit, log_odds
from mohs.studies.fit_cases import Cases, Floats
from mohs.studies.ratings import Crossed
from mohs.tasks.inference import interval_of
from mohs.text.calibration import Calibration
from mohs.training.calibrating import auc, calibration_error, reliability

PRIOR = (1.0, 0.5)  # standard deviations of the shift around 0, and of the stretch's logarithm around 0
FOLDS = 5
_DRAWS = 400  # of source texts
_POINTS = 129  # of the stored curve
_ROUNDS = 60
_GROUP = 30  # items of a group whose own shift is looked at
_BINS = 10  # of the calibration error; fewer where there are few items
_NEAR = 1.96  # standard deviations that an interval reaches to each side


@dataclass(frozen=True)
class Panel:
    """Who judged what: `verdict` is what a judgement adds to its item's verdict, as `mohs.studies.validity.moved`."""

    rows: Crossed
    verdict: Floats


@dataclass(frozen=True)
class Curve:
    """The fitted curve. covariance: of the shift and of the stretch's logarithm."""

    center: float
    shift: float
    stretch: float
    covariance: tuple[tuple[float, float], tuple[float, float]]
    spread: float  # how far one group lies from another, as a standard deviation of the shift

    @property
    def shift_ends(self) -> tuple[float, float]:
        """The 95% interval of the shift."""
        half = _NEAR * math.sqrt(self.covariance[0][0])
        return self.shift - half, self.shift + half

    @property
    def stretch_ends(self) -> tuple[float, float]:
        """The 95% interval of the stretch."""
        times = math.exp(_NEAR * math.sqrt(self.covariance[1][1]))
        return self.stretch / times, self.stretch * times

    def probability(self, said: npt.ArrayLike) -> Floats:
        """What the curve makes of probabilities of the judge."""
        z = self.center + self.shift + self.stretch * (log_odds(said) - self.center)
        found: Floats = 1 / (1 + np.exp(-z))
        return found

    def calibration(self, independence: Sequence[float]) -> Calibration:
        """How far the refitted judge may be off, as a shift and a stretch of its own log-odds.

        z moves by d(shift) + d(log stretch) (z - c - shift).
        """
        turn = np.array([[1.0, -(self.center + self.shift)], [0.0, 1.0]])
        found = turn @ np.array(self.covariance) @ turn.T
        offset, slope = np.sqrt(np.diag(found))
        both = float(offset * slope)
        correlation = float(np.clip(found[0, 1] / both, -1, 1)) if both > 0 else 0.0
        numbers = (round(float(one), 4) for one in (offset, slope, correlation, self.spread))
        return Calibration(tuple(independence), *numbers)

    def refit(self, base: str, independence: Sequence[float]) -> Refit:
        """What is stored. base: the fingerprint of the judge that was fitted."""
        ends = log_odds([0.0, 1.0])
        points = np.linspace(ends[0], ends[1], _POINTS)
        said = self.probability(1 / (1 + np.exp(-points)))
        return Refit(
            base,
            tuple(points.round(6).tolist()),
            tuple(said.round(6).tolist()),
            self.calibration(independence),
        )


@dataclass(frozen=True)
class Check:
    """The judge before and after, on items of source texts that the curve did not see."""

    items: int
    sources: int
    loss: tuple[float, float]  # mean log-loss
    gain: float  # loss after minus loss before
    gain_ends: tuple[float, float] | None
    error: tuple[float, float]  # of calibration
    bins: int
    auc: tuple[float, float]
    said: tuple[float, float]  # mean probability

    @property
    def helps(self) -> bool:
        """Whether the curve does better on what it did not see."""
        return self.gain < 0


def fitted_curve(cases: Cases, panel: Panel | None = None, spread: float = 0.0, seed: int = 0) -> Curve:
    """Fit the curve, and say how far it may be off. panel: the judges, if it is known who judged what.

    spread: how far kinds of text lie apart at least.
    """
    center, random = cases.center, np.random.default_rng(seed)
    found = _fitted(cases, np.ones((1, len(cases))), center)[0]
    inverse: Floats = np.linalg.inv(_information(cases, found, center) + np.diag(_precision())).astype(np.float64)
    redrawn = _fitted(cases, _redrawn(cases.sources, random), center, found)
    covariance: Floats = np.asarray(np.cov(redrawn.T) + inverse @ np.diag(_precision()) @ inverse, np.float64)
    if panel is not None:
        covariance += _of_judges(cases, panel, found, center, inverse)
    (a, b), (_, d) = covariance
    return Curve(
        center,
        float(found[0]),
        float(np.exp(found[1])),
        ((float(a), float(b)), (float(b), float(d))),
        max(spread, _between(cases, found, center)),
    )


def checked(cases: Cases, seed: int = 0) -> Check:
    """Cross-validate: each item by a curve that saw no item of its source."""
    names = sorted(set(cases.sources))
    folds = np.random.default_rng(seed).permutation(len(names)) % FOLDS
    number = dict(zip(names, folds, strict=True))
    fold = np.array([number[name] for name in cases.sources])
    after = np.empty(len(cases))
    for one in range(FOLDS):
        inside = fold == one
        if not inside.any():
            continue
        others = cases.only(~inside)
        params = _fitted(others, np.ones((1, len(others))), others.center)
        after[inside] = cases.only(inside).said(params, others.center)[0][0]
    before = cases.said(np.zeros((1, 2)), cases.center)[0][0]
    losses = [-np.log(np.where(cases.valid, said, 1 - said)) for said in (before, after)]
    differences = losses[1] - losses[0]
    rows: dict[str, list[float]] = {}
    for name, difference in zip(cases.sources, differences.tolist(), strict=True):
        rows.setdefault(name, []).append(difference)
    ends = interval_of([float(np.mean(row)) for row in rows.values()], [len(row) for row in rows.values()])
    bins = max(2, min(_BINS, len(cases) // 10))
    truth = cases.valid.tolist()
    return Check(
        len(cases),
        len(names),
        (float(losses[0].mean()), float(losses[1].mean())),
        float(differences.mean()),
        ends,
        (
            calibration_error(reliability(before, cases.valid, bins)),
            calibration_error(reliability(after, cases.valid, bins)),
        ),
        bins,
        (auc(before.tolist(), truth), auc(after.tolist(), truth)),
        (float(before.mean()), float(after.mean())),
    )


def _precision() -> Floats:
    return np.array([1 / PRIOR[0] ** 2, 1 / PRIOR[1] ** 2])


def _fitted(cases: Cases, weights: Floats, center: float, start: Floats | None = None) -> Floats:
    """The most probable shift and log stretch for each row of weights (Fisher scoring, with the prior)."""
    params = np.tile(np.zeros(2) if start is None else start, (len(weights), 1))
    precision = _precision()
    value = _posterior(cases, weights, params, center)
    for _ in range(_ROUNDS):
        said, by = cases.said(params, center)
        worth = weights / (said * (1 - said))
        gradient = ((worth * (cases.valid - said))[..., None] * by).sum(1) - precision * params
        information = np.einsum("bn,bni,bnj->bij", worth, by, by) + np.diag(precision)
        step = np.clip(np.linalg.solve(information, gradient[..., None])[..., 0], -1, 1)
        if np.abs(step).max() < 1e-7:
            break
        for _ in range(20):  # halve the steps that lead downwards
            tried = _posterior(cases, weights, params + step, center)
            worse = tried < value - 1e-12
            if not worse.any():
                break
            step[worse] /= 2
        step[tried < value - 1e-12] = 0.0
        params, value = params + step, np.maximum(tried, value)
    return params


def _posterior(cases: Cases, weights: Floats, params: Floats, center: float) -> Floats:
    said = cases.said(params, center)[0]
    found: Floats = (weights * np.log(np.where(cases.valid, said, 1 - said))).sum(1)
    found -= (_precision() * params**2).sum(1) / 2
    return found


def _information(cases: Cases, params: Floats, center: float) -> Floats:
    said, by = cases.said(params[None], center)
    found: Floats = np.einsum("n,ni,nj->ij", 1 / (said[0] * (1 - said[0])), by[0], by[0])
    return found


def _redrawn(sources: Sequence[str], random: np.random.Generator) -> Floats:
    """How often each case counts if sources are drawn anew, one row a draw."""
    numbers = {name: number for number, name in enumerate(dict.fromkeys(sources))}
    own = np.array([numbers[name] for name in sources])
    drawn: npt.NDArray[Any] = random.multinomial(len(numbers), np.full(len(numbers), 1 / len(numbers)), _DRAWS)
    return drawn[:, own].astype(np.float64)


def _of_judges(cases: Cases, panel: Panel, params: Floats, center: float, inverse: Floats) -> Floats:
    """What judges add to the covariance who see several items."""
    said, by = cases.said(params[None], center)
    pull = (by[0] / (said[0] * (1 - said[0]))[:, None]) @ inverse  # how far a verdict moves each number
    share = panel.rows.equal_items()

    def added(weights: Floats) -> float:
        own = weights[panel.rows.items]
        return panel.rows.judge_part(own * panel.verdict, np.abs(own) * share)[0]

    a, d, whole = added(pull[:, 0]), added(pull[:, 1]), added(pull.sum(1))
    most = math.sqrt(a * d)
    b = min(max((whole - a - d) / 2, -most), most)
    return np.array([[a, b], [b, d]])


def _between(cases: Cases, params: Floats, center: float) -> float:
    """The standard deviation of the shift between groups, less what sampling explains (DerSimonian and Laird)."""
    shifts, errors = [], []
    for name in sorted(set(cases.groups)):
        some = np.array([group == name for group in cases.groups])
        hits = int(cases.valid[some].sum())
        if some.sum() < _GROUP or not 3 <= hits <= some.sum() - 3:
            continue
        own = cases.only(some)
        shift = 0.0
        for _ in range(_ROUNDS):
            said, by = own.said((params + np.array([shift, 0.0]))[None], center)
            worth = by[0, :, 0] / (said[0] * (1 - said[0]))
            known = float((worth * by[0, :, 0]).sum()) + 1e-6
            step = float(np.clip((worth * (own.valid - said[0])).sum() / known, -1, 1))
            shift += step
            if abs(step) < 1e-7:
                break
        parts: dict[str, float] = {}
        for source, moved in zip(own.sources, (worth * (own.valid - said[0])).tolist(), strict=True):
            parts[source] = parts.get(source, 0.0) + moved
        shifts.append(shift)
        errors.append(max(1e-6, math.sqrt(sum(part**2 for part in parts.values())) / known))
    if len(shifts) < 2:
        return 0.0
    values, weights = np.array(shifts), np.array(errors) ** -2.0
    mean = (weights * values).sum() / weights.sum()
    excess = float((weights * (values - mean) ** 2).sum()) - (len(values) - 1)
    return math.sqrt(max(0.0, excess / float(weights.sum() - (weights**2).sum() / weights.sum())))
