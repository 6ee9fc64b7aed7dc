"""How far the judge's probabilities may be off, and how those of words make that of a text.

scripts/train_judge.py calls `calibration` and stores what it gives. On its own it shows the numbers and two
reliability curves for the judge that ships:

    python -m scripts.judge_calibration --assets DIR

Words: the scores of SWORDS dev come from cross-validation, and so do the curves that turn them into probabilities.
What a finite number of targets leaves open is a bootstrap over targets; how far one kind of text or of substitute lies
from another is the spread of the shift over slices, less their own sampling error.

Texts: people who were asked about whole texts (scripts/judge_texts.py) say how much a second and third changed word
count. They answered other questions, so each data set has its own shift, and both share a stretch, of which nothing is
assumed but that it lies between 0 and 1.5.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mohs.text.calibration import Calibration

Rows = npt.NDArray[Any]

VALUES = 9  # equally likely values of k that are stored
_EDGE = 1e-4
_K = np.linspace(0, 1, 41)
_STRETCH = np.linspace(0.0, 1.5, 31)
_SHIFT = np.linspace(-4, 8, 61)
_LEAST = 400  # rows of a slice


def log_odds(probability: Rows) -> Rows:
    clipped = np.clip(probability, _EDGE, 1 - _EDGE)
    return np.log(clipped) - np.log1p(-clipped)


def logistic(odds: Rows, hits: Rows, counts: Rows, *, stretch: bool) -> tuple[float, float]:
    """The shift, and the stretch unless it is held at 1, that fit outcomes best (Newton's method)."""
    shift, slope = 0.0, 1.0
    for _ in range(40):
        said = 1 / (1 + np.exp(-(shift + slope * odds)))
        left, weight = hits - counts * said, counts * said * (1 - said)
        if not stretch:
            step = np.clip(left.sum() / weight.sum(), -1, 1)
            shift += step
        else:
            gradient = np.array([left.sum(), (left * odds).sum()])
            cross = (weight * odds).sum()
            step = np.linalg.solve([[weight.sum(), cross], [cross, (weight * odds**2).sum()]], gradient)
            shift, slope = shift + step[0], slope + step[1]
        if np.abs(step).max() < 1e-9:
            break
    return float(shift), float(slope)


def doubt(odds: Rows, accepted: Rows, groups: Rows, draws: int = 300) -> tuple[float, float, float]:
    """Standard deviations of shift and stretch over a bootstrap of targets, and their correlation."""
    random, size = np.random.default_rng(0), int(groups.max()) + 1
    found = []
    for _ in range(draws):
        counts = np.bincount(random.integers(0, size, size), minlength=size)[groups].astype(float)
        found.append(logistic(odds, counts * accepted, counts, stretch=True))
    (shift, slope) = np.std(found, axis=0, ddof=1)
    return float(shift), float(slope), float(np.corrcoef(np.array(found).T)[0, 1])


def between(odds: Rows, accepted: Rows, groups: Rows, slices: dict[str, dict[str, Rows]]) -> float:
    """The standard deviation of the shift over slices, less what sampling explains; of the way that has most of it."""
    found = []
    for way, parts in slices.items():
        shifts, errors = [], []
        for name, inside in parts.items():
            if inside.sum() < _LEAST or accepted[inside].sum() < 20:
                continue
            shift, _ = logistic(odds[inside], accepted[inside], np.ones(inside.sum()), stretch=False)
            error = _error(odds[inside] + shift, accepted[inside], groups[inside])
            shifts.append(shift)
            errors.append(error)
            print(f"  {way}, {name}: {inside.sum()} rows, shift {shift:+.2f}, standard error {error:.2f}")
        if len(shifts) > 1:
            found.append(apart(np.array(shifts), np.array(errors)))
            print(f"  {way}: standard deviation {np.std(shifts, ddof=1):.2f}, without sampling {found[-1]:.2f}")
    return max(found)


def apart(values: Rows, errors: Rows) -> float:
    """The standard deviation between true values of which estimates with errors are known (DerSimonian and Laird)."""
    weights = errors**-2.0
    mean = (weights * values).sum() / weights.sum()
    excess = (weights * (values - mean) ** 2).sum() - (len(values) - 1)
    return float(max(0.0, excess / (weights.sum() - (weights**2).sum() / weights.sum())) ** 0.5)


def _error(odds: Rows, accepted: Rows, groups: Rows) -> float:
    """The standard error of a shift, the rows of a target not being independent."""
    said = 1 / (1 + np.exp(-odds))
    left = np.bincount(groups, accepted - said)
    targets = len(np.unique(groups))
    return float(np.sqrt((left**2).sum() * targets / (targets - 1)) / (said * (1 - said)).sum())


def whole(texts: Sequence[Sequence[float]], k: float) -> Rows:
    return np.array([Calibration((float(k),)).whole(words) for words in texts])


def independence(people: dict[str, tuple[list[list[float]], list[bool]]]) -> tuple[float, ...]:
    """Equally likely values of k: flat priors on k, the stretch, and each data set's shift."""
    table = np.zeros((len(_K), len(_STRETCH)))
    for title, (texts, accepted) in people.items():
        yes = np.array(accepted)
        own = np.zeros_like(table)
        for row, k in enumerate(_K):
            odds = log_odds(whole(texts, k))
            for column, stretch in enumerate(_STRETCH):
                values = _SHIFT[:, None] + stretch * odds
                logs = np.where(yes, -np.logaddexp(0, -values), -np.logaddexp(0, values)).sum(axis=1)
                own[row, column] = np.logaddexp.reduce(logs)
        _said(f"k from {title} alone ({len(texts)} texts, {yes.mean():.2f} accepted)", own)
        table += own
    return _said("k from all", table)


def _said(title: str, table: Rows) -> tuple[float, ...]:
    chance = np.exp(table - table.max())
    chance /= chance.sum()
    by_k, by_stretch = chance.sum(axis=1), chance.sum(axis=0)
    width = _K[1] - _K[0]
    inner = np.concatenate([[0.0], np.cumsum((by_k[1:] + by_k[:-1]) / 2 * width)])
    inner /= inner[-1]
    found = np.interp((np.arange(VALUES) + 0.5) / VALUES, inner, _K)
    print(
        f"{title}: mean {(by_k * _K).sum():.2f}, values {np.round(found, 3).tolist()}; stretch "
        f"{(by_stretch * _STRETCH).sum():.2f}"
    )
    return tuple(round(float(k), 4) for k in found)


def slices(columns: Callable[[str], Rows], sources: Rows) -> dict[str, dict[str, Rows]]:
    """The rows by what an attack might draw from: class of word, cosine, frequency, document."""
    kind, cosine, rank = columns("kind"), columns("cosine"), columns("frequency_new")
    classes = ("noun", "verb", "adjective", "adverb")
    documents, number = np.unique(sources, return_inverse=True)
    return {
        "class": {name: kind == value for value, name in enumerate(classes)},
        "cosine": {
            "under 0.2": cosine < 0.2,
            "0.2 to 0.5": (cosine >= 0.2) & (cosine < 0.5),
            "from 0.5": cosine >= 0.5,
            "unknown": np.isnan(cosine),
        },
        "frequency": {
            "common": rank < 7.5,
            "middle": (rank >= 7.5) & (rank < 9.5),
            "rare": rank >= 9.5,
        },
        "document": {name: number == value for value, name in enumerate(documents.tolist())},
    }


def calibration(
    probability: Rows, accepted: Rows, groups: Rows, sliced: dict[str, dict[str, Rows]], people: dict[str, Any]
) -> Calibration:
    """All numbers. `probability` must not have been fitted to the rows it stands for."""
    odds = log_odds(probability)
    shift, slope = logistic(odds, accepted.astype(float), np.ones(len(odds)), stretch=True)
    offset, stretch, correlation = doubt(odds, accepted, groups)
    print(f"cross-validated: shift {shift:+.3f}, slope {slope:.3f}; standard deviations {offset:.3f}, {stretch:.3f}, ")
    print(f"  correlation {correlation:.2f}")
    spread = between(odds, accepted, groups, sliced)
    print(f"spread {spread:.3f}")
    return Calibration(independence(people), *(round(n, 4) for n in (offset, stretch, correlation, spread)))


def reliability(title: str, said: Rows, accepted: Rows, bins: int) -> None:
    parts = np.array_split(np.argsort(said, kind="stable"), bins)
    points = "  ".join(f"{said[part].mean():.3f} {accepted[part].mean():.3f} ({len(part)})" for part in parts)
    print(f"{title} (said, found, how many): {points}")


def main() -> None:
    from mohs.text.judge import bundled
    from scripts import judge_texts

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--assets", type=Path, required=True)
    people = judge_texts.people(parser.parse_args().assets / "human", bundled())
    known = bundled().calibration
    print(known)
    independence(people)
    for title, (texts, accepted) in people.items():
        yes = np.array(accepted)
        said = np.array([known.whole(words) for words in texts])
        shift, _ = logistic(log_odds(said), yes.astype(float), np.ones(len(yes)), stretch=False)
        reliability(f"{title}, texts", said, yes, 5)
        moved = 1 / (1 + np.exp(-(log_odds(said) + shift)))
        reliability(f"{title}, texts, all shifted by {shift:+.2f} for the other question", moved, yes, 5)


if __name__ == "__main__":
    main()
