"""What every victim promises, and the check that it keeps it."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from mohs.errors import VictimError

Fields = tuple[str, ...]  # the strings of one text: one, or two for a pair
Scores = tuple[float, ...]  # one probability for each class

SUM_TOLERANCE = 1e-3  # bf16 and rounded JSON answers still pass; a forgotten softmax does not


class Output(StrEnum):
    """What the numbers of a model are."""

    PROBABILITIES = "probabilities"
    LOGITS = "logits"
    LABELS = "labels"


class Victim(Protocol):
    """A text classifier under test, as a model that a service can batch (see mohs.engine.Model)."""

    name: str
    fingerprint: str
    in_flight: int
    hard: bool  # gives labels only: its scores are zeros and a one
    exact: bool  # a text's scores do not depend on its companions in the batch
    labels: tuple[str, ...]  # names of the classes; empty if unknown

    def plan(self, items: list[Fields]) -> list[list[Fields]]:
        """Split waiting texts into batches."""
        ...

    def launch(self, batch: list[Fields]) -> Any:
        """Start a batch."""
        ...

    def collect(self, ticket: Any) -> Sequence[Scores]:
        """Finish a batch."""
        ...

    def visible(self, fields: Fields) -> tuple[int, ...] | None:
        """How many characters of each field fit into the victim's window; None if everything does."""
        ...


def scores(name: str, answers: Any, rows: int, output: Output, classes: int | None = None) -> list[Scores]:
    """A victim's raw answers as checked probabilities, one tuple a text."""
    try:
        table: npt.NDArray[Any] = np.asarray(answers)
        if output is Output.LABELS:
            return _one_hot(name, table, rows, classes)
        table = table.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise VictimError(f"{name} answered with something that is not a table of numbers ({error}).") from error
    if table.ndim != 2:
        raise VictimError(f"{name} answered with {table.ndim} dimensions; one row of class scores a text is expected.")
    if len(table) != rows:
        raise VictimError(f"{name} gave {len(table)} rows for {rows} texts.")
    if table.shape[1] < 2 or (classes is not None and table.shape[1] != classes):
        wanted = classes or "at least 2"
        raise VictimError(f"{name} gave {table.shape[1]} scores in row 0; {wanted} are expected, one for each class.")
    bad = ~np.isfinite(table).all(axis=1)
    if bad.any():
        row = int(np.argmax(bad))
        raise VictimError(f"{name} gave {table[row].tolist()} in row {row}, which is not finite.")
    if output is Output.LOGITS:
        table = np.exp(table - table.max(axis=1, keepdims=True))
        table /= table.sum(axis=1, keepdims=True)
    else:
        total = table.sum(axis=1)
        bad = (table.min(axis=1) < 0) | (np.abs(total - 1) > SUM_TOLERANCE)
        if bad.any():
            row = int(np.argmax(bad))
            shown = [round(value, 6) for value in table[row].tolist()]
            raise VictimError(
                f"{name} gave {shown} in row {row}, which sums to {total[row]:.4g} and is not a probability for each "
                "class; if these are logits, say so with --victim-option output=logits."
            )
    return list(map(tuple, table.tolist()))


def _one_hot(name: str, table: npt.NDArray[Any], rows: int, classes: int | None) -> list[Scores]:
    if table.shape != (rows,):
        raise VictimError(f"{name} gave answers of shape {table.shape} for {rows} texts; one label a text is expected.")
    width = classes or 0
    for row, label in enumerate(table.tolist()):
        if not isinstance(label, int) or not 0 <= label < width:
            raise VictimError(
                f"{name} gave the label {label!r} in row {row}; whole numbers from 0 to {width - 1} are expected "
                "(name the classes with --labels)."
            )
    return [tuple(float(label == number) for number in range(width)) for label in table.tolist()]
