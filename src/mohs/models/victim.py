"""What every victim promises, and the check that it keeps it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from mohs.engine import AnswerCache, Service
from mohs.errors import BadInput, VictimError

Fields = tuple[str, ...]  # the strings of one text: one, or two for a pair
Scores = tuple[float, ...]  # one probability for each class

SUM_TOLERANCE = 1e-3  # bf16 and rounded JSON answers still pass; a forgotten softmax does not


class Output(StrEnum):
    """What the numbers of a model are."""

    PROBABILITIES = "probabilities"
    LOGITS = "logits"
    LABELS = "labels"


class Victim(Protocol):
    """A text classifier under test, as a model that a service can batch (see mohs.engine.Model).

    It may also state any of its `Traits` as an attribute of that name; what it does not state has its default.
    """

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


@dataclass(frozen=True)
class Traits:
    """What a victim can do and likes, beside answering batches. The defaults fit one of which nothing is known."""

    hard: bool = False  # gives labels only: its scores are zeros and a one
    exact: bool = False  # a text's scores do not depend on its companions in the batch
    rejects: bool = False  # its last score is no class: it says that the victim rejects the text
    crowd: int = 256  # searches alive at once that keep it busy
    few: int = 1  # rows under which a batch had better wait for company
    together: int = 1  # rows up to which all its batches have one shape, in which companions do not matter
    tolerance: float = 1e-4  # margins below this decide nothing; the default is for 32-bit numbers
    lends: bool = False  # its network had better be shared by several processes
    verdict: Victim | None = None  # the victim that judges in its place: the same one with finer numbers
    inside: Any = None  # the victim whose weights may be looked at: for gradients, rows of tokens, bounds, closed forms


def traits_of(victim: Any) -> Traits:
    """The traits that a victim states, and defaults for the others. A plain victim shows its own inside."""
    stated = {f.name: getattr(victim, f.name) for f in fields(Traits) if hasattr(victim, f.name)}
    return Traits(**{"inside": victim, **stated})


def service_of(victim: Victim, *, cache: AnswerCache | None = None, judge: bool = False) -> Service[Fields, Scores]:
    """A queue for a victim; as a judge it asks in batches whose companions do not matter."""
    traits = traits_of(victim)
    alone = judge and not traits.exact
    return Service(victim, cache=cache, alone=alone, together=traits.together, few=traits.few)


def declared(output: Output | str) -> Output:
    """What a user says a model's numbers are."""
    try:
        return Output(output)
    except ValueError:
        raise BadInput(f"Unknown output {output!r}; use {', '.join(Output)}.") from None


def at_least(least: float, **settings: float) -> None:
    """Refuse numbers below a bound, and those that are none."""
    for name, value in settings.items():
        if not least <= value < math.inf:
            raise BadInput(f"Victim option {name}={value} does not fit; it must be at least {least}.")


def in_order(name: str, own: Sequence[str], given: Sequence[str]) -> None:
    """Refuse the victim's own class names in another order, which would turn every figure round."""
    if list(own) != list(given) and sorted(own) == sorted(given):
        raise BadInput(f"{name} has its classes in the order {', '.join(own)}; --labels names them in another.")


def scores(name: str, answers: Any, rows: int, output: Output, classes: int | None = None) -> list[Scores]:
    """A victim's raw answers as checked probabilities, one tuple a text."""
    return list(map(tuple, probabilities(name, answers, rows, output, classes).tolist()))


def probabilities(name: str, answers: Any, rows: int, output: Output, classes: int | None) -> npt.NDArray[np.float64]:
    """The same as a table, one row a text."""
    if hasattr(answers, "detach"):  # a torch tensor, wherever it is
        answers = answers.detach().cpu()
    try:
        table: npt.NDArray[Any] = np.asarray(answers)
        if output is Output.LABELS:
            return np.array(_one_hot(name, table, rows, classes), np.float64).reshape(rows, -1)
        if table.dtype.kind not in "biufO":
            raise TypeError(f"the type is {table.dtype}")
        table = table.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        if output is not Output.LABELS:
            _refuse_ragged(name, answers, classes)
        reason = " ".join(str(error).split()).rstrip(".")
        raise VictimError(
            f"{name} answered with something that is not a table of numbers ({reason}); "
            "one row of class scores a text is expected, as [[0.1, 0.9], ...]."
        ) from error
    if table.ndim != 2:
        hint = " (if these are labels, say so with --victim-option output=labels --labels NAMES)"
        raise VictimError(
            f"{name} answered with {table.ndim} dimensions; one row of class scores a text is "
            f"expected{hint if table.ndim == 1 else ''}."
        )
    if len(table) != rows:
        raise VictimError(f"{name} gave {len(table)} rows for {rows} texts.")
    if table.shape[1] < 2 or (classes is not None and table.shape[1] != classes):
        raise _width(name, table.shape[1], 0, classes)
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
                "class; divide by the sum, or if these are logits, say so with --victim-option output=logits."
            )
    return table


def _width(name: str, width: int, row: int, classes: int | None) -> VictimError:
    wanted = classes if classes and classes > 1 else "at least 2"
    return VictimError(f"{name} gave {width} scores in row {row}; {wanted} are expected, one for each class.")


def _refuse_ragged(name: str, answers: Any, classes: int | None) -> None:
    if (
        not isinstance(answers, list | tuple)
        or not answers
        or not all(isinstance(row, list | tuple | np.ndarray) for row in answers)
    ):
        return
    expected = classes or len(answers[0])
    for number, row in enumerate(answers):
        if len(row) != expected:
            raise _width(name, len(row), number, expected)


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
