"""A prover that is spared texts by a bound comes to the same as one that asks them all."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
from hypothesis import given, settings

import mohs
from mohs.bounds import Points, Prover
from mohs.bounds.cnn_bound import bound_of
from mohs.bounds.points import Table, Whole
from mohs.bounds.prover import margin_of
from mohs.bounds.pruning import Open
from mohs.models.wrapper import Wrapper
from mohs.space import Space
from tests.bounds.test_cnn_bound import drawn_space, victim_of
from tests.bounds.test_radius import space_of, spaces
from tests.second_order.toys import chances
from tests.toys import Instant, now
from tests.toys import Table as Offers


class Known:
    """A bound that knows the least logit margin of every set, less something that depends on the set."""

    def __init__(self, space: Space, victim: Any, label: int, loose: float) -> None:
        self._points = Points(space, Instant(victim), Instant(victim))
        self._victim = victim
        self._label = label
        self._loose = loose

    def lower(self, places: Whole, picks: Whole) -> Table:
        return np.array([self._one(*rows) for rows in zip(places.tolist(), picks.tolist(), strict=True)])

    def _one(self, places: list[int], picks: list[int]) -> float:
        least = math.inf
        free = [range(self._points.sizes[at]) if pick < 0 else (pick,) for at, pick in zip(places, picks, strict=True)]
        for chosen in np.array(np.meshgrid(*free)).reshape(len(places), -1).T.tolist():
            text = self._points.space.text.replace_all(self._points.edits(places, chosen))
            scores = self._victim(text.fields)
            others = max(p for i, p in enumerate(scores) if i != self._label)
            least = min(least, math.log(scores[self._label]) - math.log(others))
        return least - self._loose * ((sum(places) + sum(picks)) % 2)


class Helpless:
    """A bound that says nothing."""

    def lower(self, places: Whole, picks: Whole) -> Table:
        return np.full(len(places), -math.inf)


@settings(max_examples=150, deadline=None)
@given(
    rows=spaces,
    salt=st.text("xyz", max_size=3),
    classes=st.integers(2, 4),
    max_r=st.integers(1, 5),
    loose=st.sampled_from([0.0, 0.3, 1.1, 9.0]),
)
def test_the_same_comes_out(rows: list[Any], salt: str, classes: int, max_r: int, loose: float) -> None:
    space, victim = space_of(rows), chances(classes, salt)
    scores = victim(space.text.fields)
    label = max(range(classes), key=lambda i: scores[i])
    points, judge = Points(space, Instant(victim), Instant(victim)), Instant(victim)
    plain = now(Prover(max_r)(Points(space, judge, judge), label))
    proof = now(Prover(max_r)(points, label, bound=Known(space, victim, label, loose)))
    assert proof.certified == plain.certified
    assert (proof.found is None) == (plain.found is None)
    if proof.found is not None and plain.found is not None:
        assert len(proof.found) == len(plain.found)
        assert margin_of(victim(space.text.replace_all(proof.found).fields), label) < 0
    for ours, theirs in zip(proof.levels, plain.levels, strict=True):
        assert ours.size == theirs.size
        assert ours.margin <= theirs.margin + 1e-6
    if proof.found is None:
        assert points.asked + sum(level.pruned for level in proof.levels) == sum(level.size for level in proof.levels)


def test_a_perfect_bound_spares_everything_and_no_bound_nothing() -> None:
    space = space_of([("a", ["b", "c"]), ("b", ["c", "d"]), ("c", ["d"])])
    victim = lambda fields: (0.9, 0.1)  # noqa: E731
    for bound, pruned in ((Known(space, victim, 0, 0.0), [0, 8, 4]), (Helpless(), [0, 0, 0])):
        points = Points(space, Instant(victim), Instant(victim))
        proof = now(Prover(3)(points, 0, bound=bound))
        assert proof.certified == 3
        assert [level.pruned for level in proof.levels] == pruned
        assert points.asked == 17 - sum(pruned)


def test_others_may_go_on_before_each_look_at_a_bound() -> None:
    space = space_of([("a", ["b", "c"]), ("b", ["c", "d"]), ("c", ["d"])])
    judge = Instant(lambda fields: (0.9, 0.1))
    points = Points(space, judge, judge)
    assert list(Open(Known(space, judge.answer, 0, 0.0), points, range(3), 2)) == [None]
    found = list(Open(Helpless(), points, range(3), 2))
    assert (found.count(None), len(found)) == (3, 3 + 8)


@settings(max_examples=150, deadline=None)
@given(seed=st.integers(0, 9), classes=st.integers(2, 3), data=st.data())
def test_windows_in_the_prover(seed: int, classes: int, data: st.DataObject) -> None:
    victim, space = victim_of(seed, classes), drawn_space(data)

    def scores(fields: tuple[str, ...]) -> Any:
        return victim.collect(victim.launch([fields]))[0]

    label = max(range(classes), key=lambda i: scores(space.text.fields)[i])
    bound = bound_of(victim, space, label)
    assert bound is not None
    judge = Instant(scores)
    plain = now(Prover(4)(Points(space, judge, judge), label))
    proof = now(Prover(4)(Points(space, judge, judge), label, bound=bound))
    assert (proof.certified, proof.stopped) == (plain.certified, plain.stopped)
    assert (proof.found is None) == (plain.found is None)


def test_certificates_with_bounds_can_be_checked(tmp_path: Path) -> None:
    victim = victim_of(1)
    rows = [("a b c d e f g a b", label) for label in (0, 1)] + [("c c a f b e", label) for label in (0, 1)]
    given: dict[str, Any] = {"source": "thesaurus:" + str(tmp_path / "t.json"), "stopwords": "none", "max_r": 3}
    (tmp_path / "t.json").write_text('{"a": ["b", "c"], "b": ["a", "d"], "c": ["e"], "d": ["f", "g"], "e": ["a"]}')
    with mohs.radius(victim, rows, **given, out=tmp_path / "run") as run:
        ours = run.radii()
        file = run.certificates(tmp_path / "c.jsonl")
    assert any(sum(row["pruned"]) for row in ours)
    for certificate, checked in mohs.verify(file, victim):
        assert checked.sound
        assert checked.same
        spared = sum(level.pruned for level in certificate.levels)
        assert checked.asked == sum(level.size for level in certificate.levels) - spared
    assert all(checked.sound for _, checked in mohs.verify(file, victim, sample=3))
    for certificate, checked in mohs.verify(file, victim, bounds=False):
        assert (checked.sound, checked.asked) == (True, sum(level.size for level in certificate.levels))
        assert checked.same is (None if any(level.pruned for level in certificate.levels) else True)
    with mohs.radius(victim, rows, **given, bounds=False) as run:
        plain = run.radii()
    for one, other in zip(ours, plain, strict=True):
        assert (one["lower"], one["upper"]) == (other["lower"], other["upper"])
        assert (one["by"], other["by"]) == ("enumeration and bounds", "enumeration")


class Pairs(Wrapper):
    """A wrapper that forgot to say that the bounds of the victim inside are not its own."""

    def launch(self, batch: list[Any]) -> Any:
        return batch, super().launch(batch)

    def collect(self, ticket: Any) -> list[Any]:
        batch, inside = ticket
        steps = [-1 if text.count("b") > 2 else 1 for (text,) in batch]
        return [row[::step] for row, step in zip(super().collect(inside), steps, strict=True)]


def test_a_bound_is_not_believed_of_a_wrapper_that_answers_otherwise() -> None:
    source = Offers((("a", ("b", "c")),))
    inside = victim_of(7)
    label = max((0, 1), key=inside.collect(inside.launch([("a a a a a",)]))[0].__getitem__)
    asked: dict[str, Any] = {"source": source, "stopwords": "none", "max_r": 3}
    with mohs.radius(Wrapper(inside), [("a a a a a", label)], **asked) as run:
        assert run.radii()[0]["by"] == "enumeration and bounds"
        assert run.radii()[0]["lower"] == 3
    with mohs.radius(Pairs(inside), [("a a a a a", label)], **asked) as run:
        assert (run.radii()[0]["by"], run.radii()[0]["lower"]) == ("enumeration", 2)
