"""Estimates from sampled levels against all texts of the level, by brute force."""

from __future__ import annotations

import statistics
from random import Random
from typing import Any

import pytest

from mohs.bias.level import Level, Steps
from mohs.bias.statistics import pair_biases
from mohs.records import Record
from mohs.space import Services
from mohs.space.estimated import Walk
from mohs.space.natural import Neighbourhood
from mohs.text import Example, Text
from tests.bias.test_task import neighbours
from tests.bias.toys import GENDER, Tables, details, fill, task
from tests.toys import Instant, now

SENTENCE, PLACE = "a b he c d", 2
WORDS = tuple(SENTENCE.split())


def uneven(seed: int) -> Tables:
    """What may follow a word depends on the word, so many texts are reached in one order of steps only."""
    random = Random(seed)
    return {
        left: [(word, 3.0 - step / 4) for step, word in enumerate(random.sample("abcdef", random.choice((2, 3, 5))))]
        for left in ["", *"abcdef", "he"]
    }


TABLES = uneven(5)


def victim(fields: tuple[str, ...]) -> tuple[float, ...]:
    """She is preferred in texts with an f, and he in those with a repeated word."""
    words = fields[0].split()
    tilt = 0.3 * ("f" in words) - 0.2 * (len(set(words)) < len(words))
    chance = 0.5 + tilt * (0.5 if "she" in words else -0.5)
    return (1 - chance, chance)


def level_of(k: int) -> dict[tuple[str, ...], float]:
    """Each text of a level with its difference."""
    found = neighbours(WORDS, k, PLACE, TABLES, 20, 3.0, set(GENDER.blacklist))
    return {
        words: victim((" ".join(words).replace("he", "she"),))[1] - victim((" ".join(words),))[1] for words in found
    }


def sampled(seed: int, breadth: int, k: int, text: str = SENTENCE, **settings: Any) -> Record:
    ready = task(TABLES, victim=victim, k=k, most=10, breadth=breadth, seed=seed, **settings)
    return now(ready(Example.of(text, 0)))


@pytest.mark.parametrize(("k", "breadth"), [(2, 1), (2, 3), (2, 9), (3, 2), (3, 8), (4, 4)])
def test_size_and_sum_are_right_on_average(k: int, breadth: int) -> None:
    """Within four standard errors of the truth, whatever the breadth."""
    truth = level_of(k)
    rows = [details(sampled(seed, breadth, k))["pairs"][0]["levels"][k] for seed in range(150)]
    for key, wanted in (("size", len(truth)), ("total", sum(truth.values()))):
        values = [row[key] for row in rows]
        error = statistics.stdev(values) / len(values) ** 0.5
        assert abs(statistics.mean(values) - wanted) < 4 * error
        assert error < 0.1 * len(truth)


@pytest.mark.parametrize("breadth", [2, 4, 12])
def test_the_bias_does_not_depend_on_breadth(breadth: int) -> None:
    """Sixty draws of each of two sentences of different length; drawn counts are off where weights are not."""
    texts = (SENTENCE, "c he a d b e f")
    whole = pair_biases([now(task(TABLES, victim=victim, k=3)(Example.of(text, 0))) for text in texts])
    drawn = [sampled(seed, breadth, 3, text) for seed in range(60) for text in texts]
    (wanted,), (found,) = ([one for one in group if one.k == 3] for group in (whole, pair_biases(drawn)))
    assert not found.exact
    assert found.bias == pytest.approx(wanted.bias, abs=0.015)
    assert found.size == pytest.approx(60 * wanted.size, rel=0.15)
    (plain,) = [
        one
        for one in pair_biases(
            [sampled(seed, breadth, 3, text, by_sample=True) for seed in range(60) for text in texts]
        )
        if one.k == 3
    ]
    assert plain.size == plain.neighbours
    assert abs(found.bias - wanted.bias) < abs(plain.bias - wanted.bias)


def test_an_unlimited_breadth_gives_the_exact_bias() -> None:
    whole = pair_biases([now(task(TABLES, victim=victim, k=3)(Example.of(SENTENCE, 0)))])
    wide = pair_biases([sampled(0, 10**6, 3)])
    assert wide == whole
    assert [one.size for one in whole] == [1, *(len(level_of(k)) for k in (1, 2, 3))]
    assert whole[3].bias == pytest.approx(statistics.mean(level_of(3).values()))


@pytest.mark.parametrize("k", [1, 2, 3])
def test_parents_are_counted_as_brute_force_counts_them(k: int) -> None:
    barred = set(GENDER.blacklist)
    before = neighbours(WORDS, k - 1, PLACE, TABLES, 20, 3.0, barred)
    following = {words: neighbours(words, 1, PLACE, TABLES, 20, 3.0, barred) for words in before}
    near = Neighbourhood(avoid=frozenset(barred))
    walk = Walk(Text(SENTENCE), k, near, [at for at in range(5) if at != PLACE], 10, 1)
    ask = Services({"masked_lm": Instant(fill(TABLES))}, Random(0))
    counts = set()
    for words in level_of(k):
        count = now(walk.parents(Text(" ".join(words)), k, ask))
        assert count == sum(words in group for group in following.values())
        counts.add(count)
    assert k == 1 or len(counts) > 1
    assert now(walk.parents(Text("f f he f f"), k, ask)) == 0


def test_sentences_weigh_by_their_neighbourhoods_and_not_by_what_was_drawn() -> None:
    """Two sentences with equally many draws: one stands for 900 texts, the other for 100."""

    def level(size: float, gap: float) -> Level:
        found = Level(2, exact=False, steps=Steps())
        for number in range(10):
            found.add((str(number),), ("",), 0, round(gap * 10**9), Random(0))
            assert found.steps is not None
            found.steps.add(gap, size / 10, 1)
        return found

    record = sampled(0, 4, 2)
    (pair,) = record.finding.pairs
    records = [
        Record(**{**vars_of(record), "finding": type(record.finding)((with_level(pair, level(size, gap)),))})
        for size, gap in ((900.0, 0.1), (100.0, -0.1))
    ]
    (found,) = pair_biases(records)
    assert found.size == pytest.approx(1000)
    assert found.neighbours == 20
    assert found.bias == pytest.approx(0.08)
    assert sum(found.bins.values()) == 1000


def with_level(pair: Any, level: Level) -> Any:
    return type(pair)(pair.old, pair.new, pair.position, pair.back, (level.finding(),))


def vars_of(record: Record) -> dict[str, Any]:
    return {name: getattr(record, name) for name in record.__dataclass_fields__}


def test_an_estimate_that_cannot_be_is_not_used() -> None:
    """One heavy step of ten was checked, and many parents lead to its text: the plain estimate would be below 0."""
    steps = Steps()
    steps.add(0.5, 40.0, 20)
    for _ in range(9):
        steps.add(0.1, 1.0, None)
    assert steps.estimate(2, seen=10) == pytest.approx((10, 5))
    assert steps.estimate(2, seen=1) == pytest.approx((49 * 2 / 40, 49 * 2 / 40 / 2))
    unchecked = Steps()
    unchecked.add(0.5, 4.0, None)
    assert unchecked.estimate(2, seen=1) == (2.0, 1.0)


@pytest.mark.parametrize("breadth", [2, 4])
def test_sizes_are_possible_however_few_steps_are_checked(breadth: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mohs.space.estimated._FEWEST_CHECKED", 1)
    monkeypatch.setattr("mohs.space.estimated._CHECKED_PER_BREADTH", 1)
    for seed in range(40):
        (pair,) = sampled(seed, breadth, 4).finding.pairs
        for level in pair.levels:
            assert level.weight >= level.n
            assert abs(level.weighted) <= level.weight


def test_large_neighbourhoods_count_for_as_much_as_they_have_texts() -> None:
    """A short sentence favours she and a long one he: drawn counts give the short one too much weight."""

    def by_length(fields: tuple[str, ...]) -> tuple[float, ...]:
        words = fields[0].split()
        chance = 0.5 + (0.1 if len(words) < 6 else -0.1) * ("she" in words)
        return (1 - chance, chance)

    def found(most: int, seed: int = 0, **settings: Any) -> float:
        ready = task(TABLES, victim=by_length, k=2, most=most, breadth=2, seed=seed, **settings)
        texts = ("a b he c", "c he a d b e f a c d b")
        (one,) = [one for one in pair_biases([now(ready(Example.of(text, 0))) for text in texts]) if one.k == 2]
        return one.bias

    exact = found(10**9)
    weighed, plain = ([found(10, seed, by_sample=by) for seed in range(60)] for by in (False, True))
    error = statistics.stdev(weighed) / 60**0.5
    assert abs(statistics.mean(weighed) - exact) < 4 * error < 0.01
    assert statistics.mean(plain) > exact + 0.02
