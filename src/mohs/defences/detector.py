"""A victim that rejects texts which a detector finds suspicious."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from mohs.defences.fitting import Arrays, Rows, keep, kept, rows_of
from mohs.errors import BadInput
from mohs.models.victim import Fields, Scores, Victim, answers_of, traits_of
from mohs.models.wrapper import Wrapper

Numbers = npt.NDArray[np.float64]

_HELD = "held"  # the key of the held-out texts' suspicions among the arrays
_ROWS = 1024  # texts in one batch of this victim; the victim inside splits them as it likes
_VERSION = 1  # of what detectors learn: what was kept by another version is learnt again


class Ready(Protocol):
    """A fitted detector for one victim."""

    def suspicions(self, texts: Sequence[Fields], answers: Numbers) -> Numbers:
        """How suspicious each text is; `answers` are the victim's probabilities."""
        ...


class Detector(Protocol):
    """The settings of a detector. Its repr is its identity."""

    @property
    def needs(self) -> tuple[str, ...]:
        """The word books it asks, by kind."""
        ...

    def check(self, victim: Victim) -> None:
        """Refuse a victim that it cannot watch."""
        ...

    def learnt(self, victim: Victim, rows: Rows, classes: int, seed: int) -> Mapping[str, npt.NDArray[Any]]:
        """What it learns from training data, as arrays."""
        ...

    def ready(self, victim: Victim, arrays: Mapping[str, npt.NDArray[Any]]) -> Ready:
        """The detector with what it has learnt."""
        ...


@dataclass(frozen=True, eq=False)
class Fitted:
    """A detector with what it learnt, and the threshold that a share `rate` of ordinary texts may pass."""

    detector: Any
    arrays: Arrays
    identity: str  # of victim, data and settings
    rate: float
    threshold: float
    scale: float  # how far suspicions usually lie from the threshold


def fitted(
    detector: Any, victim: Victim, train: Any, held: Any = None, *, rate: float = 0.1, seed: int = 0, books: str = ""
) -> Fitted:
    """Fit a detector for a victim, or take what was learnt before from the same victim, data and settings.

    train: a file, a Dataset or examples. held: others that the victim has not seen, for the threshold; by default a
    fifth of the training data. books: the fingerprints of the word books that the detector asks.
    """
    if not 0 < rate < 1:
        raise BadInput(f"A detector's rate={rate:g} is the share of false alarms; it must lie between 0 and 1.")
    if traits_of(victim).rejects:
        raise BadInput(f"{victim.name} rejects texts already; a detector stands around a victim that does not.")
    detector.check(victim)
    rows = rows_of(train, held, victim.labels, seed)
    classes = len(victim.labels) or len(_answers(victim, rows.held_texts()[:1] or [("It was a good day.",)])[0])
    rows.check(victim.name, classes)
    identity = f"{_VERSION} {detector!r} {books} {seed} {victim.fingerprint} {rows.identity}"
    arrays = kept(identity)
    if arrays is None or _HELD not in arrays:
        learnt = detector.learnt(victim, rows, classes, seed)
        texts = rows.held_texts()
        found = detector.ready(victim, learnt).suspicions(texts, _answers(victim, texts)) if texts else np.zeros(0)
        arrays = {**learnt, _HELD: found}
        keep(identity, arrays)
    held_out = np.sort(arrays[_HELD])
    threshold = threshold_of(held_out, rate)
    scale = float(np.median(np.abs(held_out - threshold))) or 1.0
    return Fitted(detector, arrays, identity, rate, threshold, scale)


def threshold_of(suspicions: Numbers, rate: float) -> float:
    """The least of these suspicions that a further text of the same kind passes with a chance of at most `rate`.

    Of n + 1 texts in random order, the last one is above the k-th smallest of the others with a chance of at most
    1 - k / (n + 1); so k is (1 - rate)(n + 1), rounded up.
    """
    n = len(suspicions)
    k = math.ceil((1 - rate) * (n + 1) - 1e-9)
    if k > n:
        raise BadInput(
            f"A rate of {rate:g} false alarms needs at least {math.ceil((1 - rate) / rate - 1e-9)} held-out texts, but "
            f"there are {n}; give more training data, held-out data (held=FILE) or a larger rate."
        )
    return float(np.sort(suspicions)[k - 1])


class Rejecting(Wrapper):
    """The victim inside, which rejects a text if the detector is more suspicious of it than its threshold.

    The scores have one more column, for "rejected". Let p be the victim's probabilities, m the largest of them, and z
    how far the suspicion lies above the threshold, in units of its usual distance from it. The scores are p and
    m (1 + z / (1 + |z|)), divided by their sum. So the last column is the largest if and only if z > 0, the classes
    keep their order and their proportions, and a search always sees which way leads to less suspicion: the factor
    levels off slowly, not as an exponential would. A hard answer (0, ..., 0, 1) would hide that from an attack, and
    the figures would be too good.
    """

    def __init__(self, victim: Victim, fit: Fitted, name: str) -> None:
        self.fit = fit
        self._ready = fit.detector.ready(victim, fit.arrays)
        self._made = name
        told = f"{fit.identity} {fit.rate} {victim.fingerprint}"
        super().__init__(
            victim,
            name=name,
            fingerprint=hashlib.sha256(told.encode()).hexdigest()[:32],
            inside=None,
            rejects=True,
            hard=False,
            exact=False,
            together=1,
        )
        self.in_flight = 1

    def _around(self, verdict: Victim) -> Victim:
        return Rejecting(verdict, self.fit, self._made)

    def judged(self, texts: Sequence[Fields]) -> tuple[Numbers, Numbers]:
        """The victim's probabilities and the detector's suspicion of each text."""
        answers = _answers(self.victim, texts)
        return answers, self._ready.suspicions(texts, answers)

    def plan(self, items: list[Fields]) -> list[list[Fields]]:
        """Large batches; long texts stand together."""
        ordered = sorted(items, key=lambda fields: (-sum(map(len, fields)), fields))
        return [ordered[start : start + _ROWS] for start in range(0, len(ordered), _ROWS)]

    def launch(self, batch: list[Fields]) -> Any:
        """The batch; it is asked when its answers are collected."""
        return list(batch)

    def collect(self, ticket: list[Fields]) -> list[Scores]:
        """Ask the victim and the detector."""
        answers, suspicions = self.judged(ticket)
        found = with_rejection(answers, (suspicions - self.fit.threshold) / self.fit.scale)
        return [tuple(row) for row in found.tolist()]


def with_rejection(answers: Numbers, z: Numbers) -> Numbers:
    """Probabilities with one more column, the largest if and only if z > 0 (see `Rejecting`)."""
    factor = 1 + z / (1 + np.abs(z))
    factor = np.where(z > 0, np.maximum(factor, 1 + 1e-9), np.minimum(factor, 1))  # rounding must not decide
    table = np.column_stack([answers, answers.max(1) * factor])
    return np.asarray(table / table.sum(1, keepdims=True), np.float64)


def _answers(victim: Victim, texts: Sequence[Fields]) -> Numbers:
    found = answers_of(victim, list(dict.fromkeys(texts)))
    return np.array([found[text] for text in texts], np.float64)
