"""Four versions of one example: how natural each is, and whether the synonym p leaves the feeling (Zhang et al. 2021).

Of each version of each example the median of the judges counts (3.3.3 and A.2 of the paper). Intervals are for other
examples; what judges add is in them as far as it differs between examples.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from mohs.report.rates import Mean, Rate, mean_of
from mohs.studies.design import Question
from mohs.studies.drawing import VERSIONS
from mohs.studies.item import Item
from mohs.studies.pool import Pool
from mohs.tasks.inference import interval_of, paired_interval

_WITHOUT, _WITH = (VERSIONS[0], VERSIONS[2]), (VERSIONS[1], VERSIONS[3])
_NAMES = {VERSIONS[0]: "the original", VERSIONS[2]: "the neighbour"}

Medians = Mapping[tuple[str, str], float]  # by example and version


@dataclass(frozen=True)
class Difference:
    """The difference of two versions of the same examples, with its 95% interval."""

    value: float | None
    low: float | None
    high: float | None
    examples: int

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dict."""
        return vars(self)


@dataclass(frozen=True)
class Natural:
    """A question on a scale: the mean over examples of the medians of each version, and paired differences."""

    question: str
    versions: Mapping[str, Mean]
    neighbour: Difference  # x~ minus x
    synonym: Mapping[str, Difference]  # with p minus without it, of x and of x~

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dict."""
        return {
            "question": self.question,
            "means_of_medians": {name: vars(one) for name, one in self.versions.items()},
            "neighbour_minus_original": self.neighbour.to_json(),
            "with_p_minus_without": {name: one.to_json() for name, one in self.synonym.items()},
        }


@dataclass(frozen=True)
class Same:
    """A question with groups of answers: how often two versions are of one kind, before and after p.

    Two versions are the same only if both medians are of the group of the lowest answer, or both of the highest: two
    neutral texts are not.
    """

    question: str
    after_synonym: Mapping[str, Rate]  # of x and of x~
    difference: Difference  # the share for x~ minus that for x, on the same examples

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dict."""
        return {
            "question": self.question,
            "same_after_p": {name: one.to_json() for name, one in self.after_synonym.items()},
            "neighbour_minus_original": self.difference.to_json(),
        }


@dataclass(frozen=True)
class Versions:
    """The figures of a second-order design."""

    natural: tuple[Natural, ...]
    same: tuple[Same, ...]

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dict."""
        return {"scales": [one.to_json() for one in self.natural], "same": [one.to_json() for one in self.same]}


def versions(pool: Pool, items: Sequence[Item]) -> Versions:
    """The figures of items that are versions of examples."""
    natural, same = [], []
    for question in pool.design.questions:
        found = _medians(pool, [item for item in items if item.question == question.name])
        if any(answer.group for answer in question.answers):
            same.append(_same(question, found))
        else:
            natural.append(_natural(question, found))
    return Versions(tuple(natural), tuple(same))


def _medians(pool: Pool, items: Sequence[Item]) -> Medians:
    given = pool.ratings(items).by_item
    return {
        (f"{item.group}/{item.facts.get('example')}", str(item.facts.get("version"))): float(median(given[item.key]))
        for item in items
        if item.key in given
    }


def _natural(question: Question, found: Medians) -> Natural:
    least, most = min(question.values), max(question.values)
    means = {
        version: mean_of([value for (_, of), value in found.items() if of == version], "examples", least, most)
        for version in VERSIONS
    }
    return Natural(
        question.name,
        means,
        _difference(found, VERSIONS[2], VERSIONS[0]),
        {version: _difference(found, with_p, version) for version, with_p in zip(_WITHOUT, _WITH, strict=True)},
    )


def _difference(found: Medians, first: str, second: str) -> Difference:
    examples = dict.fromkeys(example for example, _ in found)
    apart = [
        found[example, first] - found[example, second]
        for example in examples
        if (example, first) in found and (example, second) in found
    ]
    if not apart:
        return Difference(None, None, None, 0)
    low, high = interval_of(apart) or (None, None)
    return Difference(sum(apart) / len(apart), low, high, len(apart))


def pole_of(question: Question, value: float) -> str | None:
    """The group of a median, if it is that of the lowest or of the highest answer; None for what lies between."""
    near = sorted(question.values, key=lambda answer: abs(answer - value))
    beside = [answer for answer in near if abs(answer - value) == abs(near[0] - value)]
    groups = {question.group(answer) for answer in beside}
    poles = {question.group(min(question.values)), question.group(max(question.values))}
    return next(iter(groups)) if len(groups) == 1 and groups <= poles else None


def _same(question: Question, found: Medians) -> Same:
    alike: dict[str, dict[str, bool]] = {}
    for without, with_p in zip(_WITHOUT, _WITH, strict=True):
        alike[without] = {}
        for example in dict.fromkeys(example for example, _ in found):
            if (example, without) in found and (example, with_p) in found:
                one, other = (pole_of(question, found[example, version]) for version in (without, with_p))
                alike[without][example] = one is not None and one == other
    rates = {version: Rate(sum(held.values()), len(held), "examples") for version, held in alike.items()}
    first, second = alike[_WITHOUT[1]], alike[_WITHOUT[0]]
    both = [example for example in first if example in second]
    gained = sum(first[example] and not second[example] for example in both)
    lost = sum(second[example] and not first[example] for example in both)
    if not both:
        return Same(question.name, rates, Difference(None, None, None, 0))
    low, high = paired_interval(gained, lost, len(both)) or (None, None)
    return Same(question.name, rates, Difference((gained - lost) / len(both), low, high, len(both)))


def named(version: str) -> str:
    """A version in words."""
    return f"{_NAMES[version]} ({version})" if version in _NAMES else version
