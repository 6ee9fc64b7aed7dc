"""Several attacks as one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import pytest

import mohs
from mohs.attacks import catalogue
from mohs.engine import Memory
from mohs.records import Outcome, Record
from tests.toys import Table, WordCount, predict, table


@dataclass(frozen=True)
class Try:
    """Tries the words of its table in order, one query each."""

    needs_scores: ClassVar[bool] = True
    source: Table = table(good="fine")
    constraints: tuple[Any, ...] = ()
    stopwords: frozenset[str] = frozenset()
    breaks: bool = False

    async def __call__(self, x: Any, goal: Any, space: Any, ask: Any) -> Any:
        if self.breaks:
            raise RuntimeError("broken")
        for position in space.positions:
            for word in space.choices[position]:
                candidate = x.replace(position, word)
                (probs,) = await ask.victim([candidate])
                if goal.met(probs):
                    return candidate
        return x


@dataclass(frozen=True)
class Breaks(Try):
    """Raises for the first six examples, and fails for the others."""

    async def __call__(self, x: Any, goal: Any, space: Any, ask: Any) -> Any:
        if x.words[-1] in ("film0", "film1", "film2"):
            raise RuntimeError("broken")
        return x


def records(monkeypatch: pytest.MonkeyPatch, *members: Try, **options: Any) -> dict[str, Record]:
    named = {f"m{i}": {"x": (lambda member=member: member)} for i, member in enumerate(members)}
    monkeypatch.setattr(catalogue, "CATALOGUE", named)
    monkeypatch.setattr(catalogue, "BATTERIES", {"team": tuple(named)})
    rows = [("a good film", 1), ("a great film", 1), ("an awful film", 1), ("a good day", 1)]
    with mohs.attack(options.pop("victim", predict), rows, "team", fair=False, **options) as run:
        return {record.example_id: record for record in run.records()}


def test_a_later_member_is_told_what_an_earlier_one_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    def plain(self: Any, items: Any) -> Any:
        return self.service.ask(items)

    def asked() -> tuple[list[str], dict[str, Record]]:
        victim = WordCount({"good": 1.0, "great": 2.0, "fine": 1.0, "nice": 1.0, "awful": -4.0})
        found = records(monkeypatch, Try(table(great="fine nice")), Try(table(great="nice awful")), victim=victim)
        return sorted(fields[0] for fields in victim.asked), found

    few, found = asked()
    monkeypatch.setattr(Memory, "ask", plain)
    many, expected = asked()
    assert found == expected
    assert found["1"].queries == 3 + 3  # the original and "nice" count for both
    assert few.count("a nice film") == 1
    assert many.count("a nice film") == 2
    assert few.count("a great film") == 1 + 3 + 2  # before and after the run, to see how the victim answers
    assert len(few) < len(many)


GOOD = Try(table(good="fine awful"))
GREAT = Try(table(great="awful"))


def test_later_members_meet_only_what_survived(monkeypatch: pytest.MonkeyPatch) -> None:
    found = records(monkeypatch, GOOD, GREAT)
    assert [(r.attack, r.outcome, r.by) for r in found.values()] == [
        ("team", Outcome.SUCCESS, "m0:x"),
        ("team", Outcome.SUCCESS, "m1:x"),
        ("team", Outcome.SKIPPED, ""),
        ("team", Outcome.SUCCESS, "m0:x"),
    ]
    assert [r.queries for r in found.values()] == [3, 1 + 2, 1, 3]  # the original counts for each member


def test_the_budget_is_for_all_together(monkeypatch: pytest.MonkeyPatch) -> None:
    found = records(monkeypatch, Try(table(great="fine")), GREAT, budget=3)
    assert found["1"].outcome is Outcome.EXHAUSTED
    assert found["1"].queries <= 3
    assert records(monkeypatch, Try(table(great="fine")), GREAT, budget=4)["1"].outcome is Outcome.SUCCESS


def test_an_error_counts_whatever_later_members_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """If only failures after an error were left out, errors would raise the rate of success."""
    found = records(monkeypatch, Try(breaks=True), GOOD)
    assert [r.outcome for r in found.values()] == [Outcome.ERROR, Outcome.ERROR, Outcome.SKIPPED, Outcome.ERROR]
    assert "broken" in (found["1"].error or "")
    assert (found["0"].by, found["1"].by) == ("m1:x", "")
    assert found["0"].perturbed == ("a awful film",)
    assert found["0"].error == "m0:x: RuntimeError: broken (m1:x succeeded all the same)"


def test_errors_do_not_move_the_rate_of_a_battery(monkeypatch: pytest.MonkeyPatch) -> None:
    """A member that breaks on half of the examples: the rate is that of the other half; before, it was higher."""
    rows = [(f"a {word} film{n}", 1) for n in range(6) for word in ("good", "great")]
    monkeypatch.setattr(catalogue, "CATALOGUE", {"b": {"x": Breaks}, "g": {"x": lambda: GOOD}})
    monkeypatch.setattr(catalogue, "BATTERIES", {"team": ("b", "g")})
    with mohs.attack(predict, rows, "team", fair=False) as run:
        (summary,) = run.summary()
    assert summary.outcomes["error"] == 6
    assert (summary.success.hits, summary.success.total) == (3, 6)
    assert summary.success.bounds == (6 / 12, 9 / 12)


def test_it_equals_the_worst_case_of_its_members_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    team = records(monkeypatch, GOOD, GREAT)
    rows = [("a good film", 1), ("a great film", 1), ("an awful film", 1), ("a good day", 1)]
    alone = [list(mohs.attack(predict, rows, [member]).records()) for member in (GOOD, GREAT)]
    for number, record in enumerate(team.values()):
        worst = any(each[number].outcome is Outcome.SUCCESS for each in alone)
        assert (record.outcome is Outcome.SUCCESS) == worst
