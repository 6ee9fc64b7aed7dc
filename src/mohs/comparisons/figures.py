"""The figures of a comparison: each run against the first, example by example."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from mohs.comparisons.fairness import PairedFair, paired_fair, successes_of
from mohs.comparisons.questions import CLEAN, DENOMINATORS, OF_ATTACKED, SUCCESS, UNDER, Seen
from mohs.comparisons.sides import Side
from mohs.records import Outcome
from mohs.report.paired import NOT_ASKED, Paired
from mohs.report.rates import Mean, mean_of
from mohs.report.verdicts import Verdicts
from mohs.tasks.inference import holm

BOTH = "examples attacked to the end in both"


@dataclass(frozen=True)
class Row:
    """One question about one attack, in another run against the first. Without a group: about the originals."""

    group: str
    question: str
    paired: Paired

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dict."""
        return {"group": self.group or None, "question": self.question, **self.paired.to_json()}


@dataclass(frozen=True)
class Against:
    """Another run against the first."""

    side: Side
    rows: tuple[Row, ...]
    fair: dict[str, PairedFair] = field(default_factory=dict)  # by attack; empty without a judge
    queries: dict[str, Mean] = field(default_factory=dict)  # by attack: the difference of an example
    only: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = field(default_factory=dict)
    # by attack: examples fooled in the first run alone, and in this one alone, of those attacked in both

    def row(self, group: str, question: str) -> Paired | None:
        """The figures of one question; None if it was not asked."""
        return next((row.paired for row in self.rows if (row.group, row.question) == (group, question)), None)

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dict."""
        return {
            "run": self.side.place,
            "rows": [row.to_json() for row in self.rows],
            "fair": {name: found.to_json() for name, found in self.fair.items()},
            "queries": {name: vars(found) for name, found in self.queries.items()},
            "fooled_only": {
                name: {"first": list(first), "second": list(second)} for name, (first, second) in self.only.items()
            },
        }


def compared(sides: Sequence[Side], verdicts: Sequence[Verdicts] | None) -> list[Against]:
    """Every other run against the first. P values are adjusted over all attacks and runs, for each question apart."""
    base, found = sides[0], []
    for number, side in enumerate(sides[1:], 1):
        groups = [group for group in base.groups if group in side.groups]
        rows = [Row("", CLEAN, _clean(base, side))]
        for group in groups:
            rows += [Row(group, question, paired) for question, paired in _pairs(base, side, group).items()]
        judged = None if verdicts is None else (verdicts[0], verdicts[number])
        found.append(
            Against(
                side,
                tuple(rows),
                fair={} if judged is None else {g: _fair(base, side, g, judged) for g in groups if _lowers(base, g)},
                queries={g: told for g in groups if (told := _queries(base, side, g)).total},
                only={g: names for g in groups if (names := _only(base, side, g)) is not None},
            )
        )
    return _adjusted(found)


def _clean(base: Side, side: Side) -> Paired:
    first, second = base.clean(), side.clean()
    return Paired.of_answers(
        DENOMINATORS[CLEAN], ((None, first[name], second[name]) for name in first if name in second)
    )


def _pairs(base: Side, side: Side, group: str) -> dict[str, Paired]:
    """By question."""
    first, second = base.of_group(group), side.of_group(group)
    questions = dict.fromkeys(name for seen in first.values() for name in seen.groups[group])
    return {
        question: Paired.of_answers(
            DENOMINATORS[question],
            (
                (
                    _kind(question, first[name], second[name]),
                    first[name].groups[group].get(question, NOT_ASKED),
                    second[name].groups[group].get(question, NOT_ASKED),
                )
                for name in first
                if name in second
            ),
        )
        for question in questions
    }


def _kind(question: str, first: Seen, second: Seen) -> tuple[bool, bool] | None:
    """Which of the runs attacked the example; None if an error hides even that, or if it makes no difference."""
    unread = any(seen.outcome is Outcome.ERROR and not seen.attacked for seen in (first, second))
    return None if unread or question in OF_ATTACKED else (first.attacked, second.attacked)


def _lowers(side: Side, group: str) -> bool:
    """Whether the attack tries to change the label: only then people are asked whether a success is fair."""
    return any(UNDER in seen.groups[group] for seen in side.of_group(group).values())


def _fair(base: Side, side: Side, group: str, verdicts: tuple[Verdicts, Verdicts]) -> PairedFair:
    first, second = (successes_of(one.run, said, group) for one, said in zip((base, side), verdicts, strict=True))
    mine, its = base.of_group(group), side.of_group(group)
    pairs = [
        (first[name], second[name])
        for name in mine
        if name in its and mine[name].groups[group][SUCCESS].asked and its[name].groups[group][SUCCESS].asked
    ]
    return paired_fair(pairs, verdicts[0].calibration, verdicts[0].name)


def _queries(base: Side, side: Side, group: str) -> Mean:
    first, second = base.of_group(group), side.of_group(group)
    more = [
        its - mine
        for name in first
        if name in second and (mine := first[name].queries) is not None and (its := second[name].queries) is not None
    ]
    return mean_of(more, BOTH)


def _only(base: Side, side: Side, group: str) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    first, second = base.of_group(group), side.of_group(group)
    alone: tuple[list[str], list[str]] = ([], [])
    for name, seen in first.items():
        if name not in second or SUCCESS not in seen.groups[group]:
            continue
        mine, its = (one.groups[group][SUCCESS] for one in (seen, second[name]))
        if mine.asked and its.asked and None not in (mine.value, its.value) and mine.value != its.value:
            alone[0 if mine.value else 1].append(name)
    return (tuple(alone[0]), tuple(alone[1])) if any(alone) else None


def _adjusted(found: Sequence[Against]) -> list[Against]:
    """With P values adjusted over all rows of the same question (Holm 1979)."""
    places = [(at, number, row) for at, one in enumerate(found) for number, row in enumerate(one.rows)]
    rows = [list(one.rows) for one in found]
    for question in dict.fromkeys(row.question for _, _, row in places):
        some = [(at, number, row) for at, number, row in places if row.question == question]
        for (at, number, row), value in zip(some, holm([row.paired.p for _, _, row in some]), strict=True):
            rows[at][number] = replace(row, paired=replace(row.paired, holm=value))
    return [replace(one, rows=tuple(new)) for one, new in zip(found, rows, strict=True)]
