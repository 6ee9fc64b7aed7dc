"""The interface of every victim, and checks of its answers."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from mohs.engine import AnswerCache, Service
from mohs.errors import BadInput, VictimError

Fields = tuple[str, ...]  # one string for a text, two for a pair
Scores = tuple[float, ...]  # one probability per class

SUM_TOLERANCE = 1e-3  # lets bf16 and rounded JSON answers pass, but not a forgotten softmax


class Output(StrEnum):
    """What a model's outputs are."""

    PROBABILITIES = "probabilities"
    LOGITS = "logits"
    LABELS = "labels"


class Victim(Protocol):
    """A text classifier under test: a model that a service can batch (see mohs.engine.Model).

    It may also set any of the `Traits` as an attribute of that name; the others have their defaults.
    """

    name: str
    fingerprint: str
    in_flight: int
    hard: bool  # gives labels only: its scores are one-hot
    exact: bool  # a text's scores do not depend on the other texts in the batch
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
        """The number of characters inside the victim's window, for each field; None if everything fits."""
        ...


@dataclass(frozen=True)
class Traits:
    """Properties of a victim. The defaults are safe for any victim."""

    hard: bool = False  # gives labels only: its scores are one-hot
    exact: bool = False  # a text's scores do not depend on the other texts in the batch
    rejects: bool = False  # its last score is not a class but means that it rejects the text
    crowd: int = 256  # the number of concurrent searches that keep it busy
    few: int = 1  # a batch with fewer rows should wait for more
    together: int = 1  # up to this many rows all batches have one shape, so the other texts do not matter
    tolerance: float = 1e-4  # smaller margins decide nothing; the default is for 32-bit numbers
    lends: bool = False  # several processes should share its network
    remote: bool = False  # it answers from another machine or program, which more processes here do not speed up
    verdict: Victim | None = None  # the victim that judges in its place: the same one at higher precision
    inside: Any = None  # the white-box victim: for gradients, rows of tokens, bounds, closed forms


def traits_of(victim: Any) -> Traits:
    """The traits of a victim, with defaults for those it does not set. `inside` defaults to the victim itself."""
    stated = {f.name: getattr(victim, f.name) for f in fields(Traits) if hasattr(victim, f.name)}
    return Traits(**{"inside": victim, **stated})


def service_of(victim: Victim, *, cache: AnswerCache | None = None, judge: bool = False) -> Service[Fields, Scores]:
    """A service for a victim. With `judge`, no answer depends on the other texts in its batch."""
    traits = traits_of(victim)
    alone = judge and not traits.exact
    return Service(victim, cache=cache, alone=alone, together=traits.together, few=traits.few)


def answers_of(victim: Victim, texts: Sequence[Fields]) -> dict[Fields, Scores]:
    """The answers of a victim to some distinct texts, in the batches that it wants, as many in flight as it likes."""
    found: dict[Fields, Scores] = {}
    waiting: deque[tuple[tuple[Fields, ...], Any]] = deque()

    def take() -> None:
        batch, ticket = waiting.popleft()
        found.update(zip(batch, victim.collect(ticket), strict=True))

    for batch in victim.plan(list(texts)):
        while len(waiting) >= max(1, victim.in_flight):
            take()
        waiting.append((tuple(batch), victim.launch(batch)))
    while waiting:
        take()
    return found


def differ(one: Scores, other: Scores, most: float) -> bool:
    """Whether two answers to a text have other numbers of classes, or scores that are further apart than `most`.

    A score that is no number differs from everything.
    """
    return len(one) != len(other) or not all(abs(a - b) <= most for a, b in zip(one, other, strict=True))


def declared(output: Output | str) -> Output:
    """Parse what the user says a model's outputs are."""
    try:
        return Output(output)
    except ValueError:
        raise BadInput(f"Unknown output {output!r}; use {', '.join(Output)}.") from None


def at_least(least: float, **settings: float) -> None:
    """Reject settings below a bound, and nan and infinity."""
    for name, value in settings.items():
        if not least <= value < math.inf:
            raise BadInput(f"Victim option {name}={value} does not fit; it must be at least {least}.")


def in_order(name: str, own: Sequence[str], given: Sequence[str]) -> None:
    """Reject the victim's own class names in another order, since that would swap the classes."""
    if list(own) != list(given) and sorted(own) == sorted(given):
        raise BadInput(f"{name} has its classes in the order {', '.join(own)}; give --labels in that order.")


def scores(name: str, answers: Any, rows: int, output: Output, classes: int | None = None) -> list[Scores]:
    """Check a victim's raw answers and turn them into probabilities, one tuple per text."""
    return list(map(tuple, probabilities(name, answers, rows, output, classes).tolist()))


def probabilities(name: str, answers: Any, rows: int, output: Output, classes: int | None) -> npt.NDArray[np.float64]:
    """Like `scores`, but as a table with one row per text."""
    if hasattr(answers, "detach"):  # a torch tensor on any device
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
            f"{name} gave an answer that is not a table of numbers ({reason}); "
            "it must give one row of class scores per text, as in [[0.1, 0.9], ...]."
        ) from error
    if table.ndim != 2:
        hint = " (if these are labels, say so with --victim-option output=labels --labels NAMES)"
        raise VictimError(
            f"{name} gave an answer with {table.ndim} dimensions; it must give one row of class scores "
            f"per text{hint if table.ndim == 1 else ''}."
        )
    if len(table) != rows:
        raise VictimError(f"{name} gave {len(table)} rows for {rows} texts; it must give one row per text.")
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


def is_scores(answer: Any, width: int) -> bool:
    """Whether a value that was read from a file can be a victim's answer."""
    return (
        isinstance(answer, tuple)
        and len(answer) == width
        and all(type(p) in (int, float) and 0 <= p <= 1 + SUM_TOLERANCE for p in answer)
        and abs(sum(answer) - 1) <= SUM_TOLERANCE
    )


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
        raise VictimError(
            f"{name} gave answers of shape {table.shape} for {rows} texts; it must give one label per text."
        )
    width = classes or 0
    for row, label in enumerate(table.tolist()):
        if not isinstance(label, int) or not 0 <= label < width:
            raise VictimError(
                f"{name} gave the label {label!r} in row {row}; it must be a whole number from 0 to {width - 1} "
                "(name the classes with --labels)."
            )
    return [tuple(float(label == number) for number in range(width)) for label in table.tolist()]
