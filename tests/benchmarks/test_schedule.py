"""The schedule of a run on paper."""

from __future__ import annotations

import importlib.util
import math
import sys
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

FILE = Path(__file__).parents[2] / "benchmarks" / "schedule.py"


def loaded() -> ModuleType:
    spec = importlib.util.spec_from_file_location("schedule_benchmark", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


on_paper = loaded()
Worker = on_paper.Worker
SECONDS = st.lists(st.integers(1, 64).map(lambda eighths: eighths / 8), max_size=30)  # exact sums
SPEEDS = st.lists(st.sampled_from([0.25, 0.5, 1.0, 2.0]), min_size=1, max_size=5)
DEATHS = st.lists(st.integers(0, 60).map(lambda eighths: eighths / 4), max_size=3).map(tuple)
HOLD = st.integers(1, 4)


@given(SECONDS, HOLD)
def test_one_worker_takes_the_sum(seconds: list[float], hold: int) -> None:
    found = on_paper.shared(seconds, [Worker()], hold=hold, load=2.0)
    assert found.makespan == (2.0 + sum(seconds) if seconds else 0.0)
    assert on_paper.static(seconds, [range(len(seconds))], [Worker()], load=2.0).makespan == found.makespan


@given(st.integers(0, 50), st.integers(1, 8))
def test_equal_workers_with_equal_examples_take_turns(count: int, workers: int) -> None:
    found = on_paper.shared([1.0] * count, [Worker()] * workers)
    assert found.makespan == math.ceil(count / workers)
    parts = on_paper.by_number(count, workers)
    assert on_paper.static([1.0] * count, parts, [Worker()] * workers).makespan == found.makespan


@given(SECONDS, SPEEDS, HOLD)
def test_no_schedule_is_better_than_the_ideal_one(seconds: list[float], speeds: list[float], hold: int) -> None:
    workers = [Worker(speed) for speed in speeds]
    best = on_paper.ideal(seconds, workers)
    assert on_paper.shared(seconds, workers, hold=hold).makespan >= best - 1e-9
    parts = on_paper.by_number(len(seconds), len(workers))
    assert on_paper.static(seconds, parts, workers).makespan >= best - 1e-9


@given(SECONDS, st.integers(1, 6))
def test_a_counter_is_at_most_one_example_worse_than_the_ideal(seconds: list[float], workers: int) -> None:
    found = on_paper.shared(seconds, [Worker()] * workers).makespan
    assert found <= sum(seconds) / workers + max(seconds, default=0.0)  # Graham 1966


@given(st.integers(0, 40), st.integers(1, 6), st.randoms(use_true_random=False))
def test_with_equal_examples_and_workers_no_division_beats_the_counter(
    count: int, workers: int, chance: object
) -> None:
    parts: list[list[int]] = [[] for _ in range(workers)]
    for number in range(count):
        parts[chance.randrange(workers)].append(number)  # type: ignore[attr-defined]
    counter = on_paper.shared([1.0] * count, [Worker()] * workers).makespan
    assert on_paper.static([1.0] * count, parts, [Worker()] * workers).makespan >= counter


def test_with_uneven_examples_a_lucky_division_beats_the_counter() -> None:
    assert on_paper.shared([1.0, 1.0, 2.0], [Worker()] * 2).makespan == 3.0
    assert on_paper.static([1.0, 1.0, 2.0], [[0, 1], [2]], [Worker()] * 2).makespan == 2.0


@given(SECONDS, st.lists(DEATHS, min_size=1, max_size=4), HOLD, st.booleans(), st.sampled_from([0.0, 1.0]))
def test_a_death_neither_loses_nor_doubles_an_example(
    seconds: list[float], deaths: list[tuple[float, ...]], hold: int, survives: bool, again: float
) -> None:
    workers = [Worker(dies=each) for each in deaths]
    found = on_paper.shared(seconds, workers, hold=hold, load=1.0, again=again, survives=survives)
    assert sorted(found.finished) == list(range(len(seconds)))
    assert found.busy - found.lost == pytest.approx(sum(seconds))  # each example was finished once
    parts = on_paper.by_number(len(seconds), 3)
    found = on_paper.static(seconds, parts, workers, load=1.0, again=again)
    assert sorted(found.finished) == list(range(len(seconds)))
    assert found.busy - found.lost == pytest.approx(sum(seconds))


def test_what_a_death_costs() -> None:
    seconds, workers = [1.0] * 6, [Worker(), Worker(dies=(2.5,))]
    ended = on_paper.shared(seconds, workers, again=10.0)  # two and two are finished, two half done
    assert (ended.makespan, ended.lost, ended.starts) == (13.5, 1.0, 2)
    inherited = on_paper.shared(seconds, workers, survives=True)  # one goes on, then does the other's
    assert (inherited.makespan, inherited.lost, inherited.starts) == (4.0, 0.5, 1)
    parts = on_paper.static(seconds, on_paper.by_number(6, 2), workers, again=10.0)  # only one part waits
    assert (parts.makespan, parts.lost, parts.starts) == (13.5, 0.5, 3)


def test_a_worker_that_holds_many_leaves_the_others_without_work() -> None:
    seconds = [1.0] * 8
    assert on_paper.shared(seconds, [Worker()] * 2).makespan == 4.0
    assert on_paper.shared(seconds, [Worker()] * 2, hold=8).makespan == 8.0


def test_a_straggler_takes_less_from_a_counter() -> None:
    workers, seconds = [Worker(), Worker(0.25)], [1.0] * 20
    assert on_paper.shared(seconds, workers).makespan == 16.0
    assert on_paper.static(seconds, on_paper.by_number(20, 2), workers).makespan == 40.0
    assert on_paper.static(seconds, on_paper.by_number(20, 10), workers).makespan == 16.0  # more parts than machines
