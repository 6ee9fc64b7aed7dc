"""What a comparison asks of each record: yes or no, by verb.

Groups are attacks; of a certify run budgets, of a radius run numbers of substitutions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from mohs.attacks.goal import keeps_label
from mohs.bounds.finding import RadiusFinding
from mohs.certifying.finding import CertifyFinding
from mohs.records import Outcome, Record
from mohs.report.certify.figures import words
from mohs.report.listing import first_of_highest
from mohs.report.paired import HIDDEN, NOT_ASKED, Answer, answered
from mohs.runs.run import Run

CLEAN = "accuracy before"
UNDER = "accuracy under attack"
SUCCESS = "attack success"
FOUND, FOUND_OF_ALL = "vulnerable example found", "found, of all examples"
ROBUST, CERTIFIED = "robust accuracy", "certified accuracy"
PROVEN, UNBROKEN = "proven to withstand", "not known to break"

DENOMINATORS: Mapping[str, str] = {
    CLEAN: "examples scored in both",
    UNDER: "examples scored in both",
    SUCCESS: "examples attacked in both",
    FOUND: "examples with a patch pair in both",
    FOUND_OF_ALL: "examples whose pairs are known in both",
    ROBUST: "examples without an error in both",
    CERTIFIED: "examples without an error in both",
    PROVEN: "examples without an error in both",
    UNBROKEN: "examples without an error in both",
}
OF_ATTACKED = (SUCCESS, FOUND)  # asked only about examples that were attacked
LOWER_IS_BETTER = (SUCCESS, FOUND, FOUND_OF_ALL)
_TRIED = (Outcome.SUCCESS, Outcome.FAILED, Outcome.EXHAUSTED, Outcome.DETECTED)
_MOST_RADII = 3  # numbers of substitutions asked about


@dataclass(frozen=True)
class Seen:
    """What one record says."""

    example_id: str
    label: int
    outcome: Outcome
    clean: Answer
    groups: Mapping[str, Mapping[str, Answer]] = field(default_factory=dict)  # by group, then by question
    attacked: bool = False  # known to have been attacked, also if that ended in an error
    queries: int | None = None  # None if it was not attacked to the end
    changed: int | None = None  # words changed, of a success
    beyond: int = 0  # words outside the victim's window


def reader_of(run: Run) -> Callable[[Record], Seen]:
    """Reads the records of a run."""
    return _READERS[run.command](run)


def _attacks(run: Run) -> Callable[[Record], Seen]:
    goal_of = cache(run.goal_of)
    return lambda record: _attack(record, keeps_label(goal_of(record.attack)))


def _attack(record: Record, reduces: bool) -> Seen:
    """As the report counts, see `mohs.report.attack.figures`."""
    tried, error = record.outcome in _TRIED, record.outcome is Outcome.ERROR
    late = error and bool(record.scores_before)
    under, success = HIDDEN, HIDDEN
    if not error:
        right = record.outcome is Outcome.DETECTED or _right(record, record.scores_after or record.scores_before)
        under = answered(right)
        success = answered(record.outcome is Outcome.SUCCESS) if tried else NOT_ASKED
    elif record.by:  # a member of a battery had succeeded before another ended in the error
        right = _right(record, record.scores_after)
        under, success = Answer(None, most=right), Answer(None, least=True)
    answers = {SUCCESS: success} if reduces else {UNDER: under, SUCCESS: success}
    hit = record.outcome is Outcome.SUCCESS
    return _seen(record, {record.attack: answers}, tried or late, tried, len(record.edits) if hit else None)


def _second_orders(run: Run) -> Callable[[Record], Seen]:
    return _second_order


def _second_order(record: Record) -> Seen:
    tried, error = record.outcome in _TRIED, record.outcome is Outcome.ERROR
    hit = record.outcome is Outcome.SUCCESS
    answers = {
        FOUND_OF_ALL: HIDDEN if error else answered(hit),
        FOUND: HIDDEN if error else answered(hit) if tried else NOT_ASKED,
    }
    late = error and record.finding is not None
    return _seen(record, {record.attack: answers}, tried or late, tried, len(record.edits) if hit else None)


def _certificates(run: Run) -> Callable[[Record], Seen]:
    budgets = str(run.manifest.get("config", {}).get("budget") or "all").split(",")
    return lambda record: _certificate(record, budgets)


def _certificate(record: Record, budgets: Sequence[str]) -> Seen:
    """A text that is read wrong is neither robust nor certified."""
    finding: Any = record.finding
    measured = record.outcome is Outcome.MEASURED and isinstance(finding, CertifyFinding)
    told = {"all" if one.budget is None else str(one.budget): one for one in (finding.budgets if measured else ())}
    groups = {}
    for budget in budgets:
        found = told.get(budget)
        answers = found is not None and not found.fooled, found is not None and found.certified
        groups[words(budget)] = _two(record, (ROBUST, CERTIFIED), answers)
    return _seen(record, groups, clean=_measured(record))


def _radii(run: Run) -> Callable[[Record], Seen]:
    return _radius


def _radius(record: Record) -> Seen:
    finding: Any = record.finding
    found = finding if record.outcome is Outcome.MEASURED and isinstance(finding, RadiusFinding) else None
    groups = {}
    for r in range(1, _MOST_RADII + 1):
        unbroken = found is not None and (found.whole or found.upper is None or found.upper > r)
        proven = found is not None and (found.whole or found.lower >= r)
        groups[f"{r} substitution{'s' * (r > 1)}"] = _two(record, (UNBROKEN, PROVEN), (unbroken, proven))
    return _seen(record, groups, clean=_measured(record))


def _two(record: Record, questions: Sequence[str], answers: Sequence[bool]) -> dict[str, Answer]:
    hidden = record.outcome is Outcome.ERROR
    return {one: HIDDEN if hidden else answered(yes) for one, yes in zip(questions, answers, strict=True)}


def _measured(record: Record) -> Answer:
    """Whether the text was read right: others are neither certified nor searched."""
    return HIDDEN if record.outcome is Outcome.ERROR else answered(record.outcome is Outcome.MEASURED)


def _seen(
    record: Record,
    groups: Mapping[str, Mapping[str, Answer]],
    attacked: bool = False,
    tried: bool = False,
    changed: int | None = None,
    clean: Answer | None = None,
) -> Seen:
    if clean is None:
        read = record.outcome is not Outcome.ERROR or bool(record.scores_before)
        clean = answered(_right(record, record.scores_before)) if read else HIDDEN
    queries = record.queries if tried else None
    return Seen(
        record.example_id,
        record.label,
        record.outcome,
        clean,
        groups,
        attacked,
        queries,
        changed,
        record.beyond_window,
    )


def _right(record: Record, scores: Sequence[float]) -> bool:
    return bool(scores) and first_of_highest(scores) == record.label


_READERS: Mapping[str, Callable[[Run], Callable[[Record], Seen]]] = {
    "attack": _attacks,
    "second-order": _second_orders,
    "certify": _certificates,
    "radius": _radii,
}
COMMANDS = tuple(_READERS)
