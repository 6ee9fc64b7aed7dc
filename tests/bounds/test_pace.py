"""A time limit is kept, by a clock that the test moves."""

from __future__ import annotations

from typing import Any

import pytest

import mohs
from mohs.bounds import Points, Prover
from mohs.bounds.pace import Pace
from mohs.bounds.task import RadiusTask
from mohs.space import Space
from mohs.text import Text
from tests.toys import Instant, Table, WordCount, now


class Clock:
    """Stands still unless a victim takes its time."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def slow(clock: Clock, seconds: float, answer: Any = lambda fields: (0.9, 0.1)) -> Instant:
    """A victim that takes so long for each text."""

    def answered(fields: Any) -> Any:
        clock.now += seconds
        return answer(fields)

    return Instant(answered)


WORDS = tuple(f"w{i}" for i in range(30))
SPACE = Space(Text(" ".join("abcdefghij")), dict.fromkeys(range(10), WORDS))  # 300 texts, then 40,500


@pytest.mark.parametrize("seconds", [0.0001, 0.002, 0.01, 0.1])
@pytest.mark.parametrize("limit", [0.5, 1.0, 7.0])
def test_a_proof_ends_about_when_its_time_is_up(seconds: float, limit: float) -> None:
    clock = Clock()
    victim = slow(clock, seconds)
    began = clock.now
    proof = now(Prover(3, most=10**9)(Points(SPACE, victim, victim), 0, Pace(limit, clock)))
    took = clock.now - began
    assert proof.stopped == "time"
    # A tenth of the limit, or the eight texts that are asked before anything is known about the speed.
    assert took <= limit + max(0.11 * limit, 8 * seconds)
    assert took > limit
    levels = [300, 300 + 40_500]  # a level counts only if it and what is asked again is done within the limit
    assert proof.certified == sum(1.01 * texts * seconds < limit for texts in levels)


def test_a_level_that_is_finished_too_late_is_not_certified() -> None:
    clock = Clock()
    space = Space(Text("a b"), {0: WORDS, 1: WORDS})
    for limit, certified in ((0.999, 0), (1.5, 1)):  # 60 texts and 30 of them again: 0.9 s, and the last part is late
        victim = slow(clock, 0.0125)
        proof = now(Prover(1)(Points(space, victim, victim), 0, Pace(limit, clock)))
        assert (proof.certified, proof.stopped) == (certified, "" if certified else "time")


def test_parts_grow_to_what_a_tenth_of_the_limit_holds_and_shrink_again() -> None:
    clock = Clock()
    pace = Pace(10.0, clock)
    sizes = []
    for number, part in enumerate(pace.parts(20_000)):
        sizes.append(part.stop - part.start)
        clock.now += sizes[-1] / (1024 if number < 6 else 256)  # texts a second; exact in binary
    assert sizes[:6] == [8, 32, 128, 512, 1024, 1024]
    assert sizes[6:9] == [1024, 256, 256]
    assert sum(sizes) < 20_000
    assert pace.late


def test_without_a_limit_a_chunk_is_asked_at_once() -> None:
    assert list(Pace().parts(5000)) == [slice(0, 5000)]
    assert not Pace().late


def falls(fields: Any) -> tuple[float, float]:
    words = fields[0].split()
    odd = sum(word[0] == "w" and int(word[1:]) % 3 == 0 for word in words)
    return (0.9 - 0.001 * odd, 0.1 + 0.001 * odd) if odd < 2 else (0.3 - 0.01 * len(set(words)), 0.7)


@pytest.mark.parametrize("seconds", [0.0, 1e-5, 0.003, 0.02])
def test_what_is_found_does_not_depend_on_the_speed(seconds: float) -> None:
    """The parts in which a chunk is asked leave no trace: same text found, same margins, digests and counts."""

    def proven(pace: Pace | None, victim: Instant) -> Any:
        points = Points(SPACE, victim, victim)
        proof = now(Prover(2)(points, 0, pace))
        return proof, points.asked, points.failing

    clock = Clock()
    expected = proven(None, Instant(falls))
    assert expected[0].found is not None
    assert expected[0].certified == 1
    assert proven(Pace(1e6, clock), slow(clock, seconds, falls)) == expected
    clock = Clock()
    assert proven(Pace(60.0, clock), slow(clock, seconds, falls)) == expected


def test_a_run_gives_its_clock_to_the_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()

    class Slow(WordCount):
        def scores(self, fields: Any) -> Any:
            clock.now += 0.01
            return super().scores(fields)

    made = RadiusTask.__init__

    def ticking(self: RadiusTask, **fields: Any) -> None:
        made(self, **fields, clock=clock)

    monkeypatch.setattr(RadiusTask, "__init__", ticking)
    given: dict[str, Any] = {"source": Table(tuple((word, WORDS) for word in "abcdef")), "stopwords": "none"}
    (row,) = mohs.radius(Slow({"a": 3.0, "b": 3.0, "c": 3.0}), [("a b c d e f", 1)], time_limit=3, **given).radii()
    assert (row["lower"], row["stopped"]) == (1, "time")  # 180 texts; the 13,500 of the next level would take 135 s
    assert clock.now < 100 + 3 * 1.25
