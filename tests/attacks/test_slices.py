"""Long texts: candidates in slices, and a limit for those that would take too much memory."""

from __future__ import annotations

import tracemalloc
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import pytest

import mohs
from mohs.attacks import slices
from mohs.attacks.random_words import RandomWords
from mohs.errors import BadInput
from mohs.text import Text, pocket

ATTACKS = ["textfooler", "textfooler:released", "textbugger:textattack", "deepwordbug:textattack", "pwws"]


def long_text(words: int) -> str:
    return " ".join(islice((word for row in cycle(pocket.reviews("train")) for word in row["text"].split()), words))


@pytest.mark.parametrize("budget", [None, 1, 30, 47, 48, 80, 200])
def test_slices_change_no_record(monkeypatch: pytest.MonkeyPatch, budget: int | None) -> None:
    def records() -> list[mohs.Record]:
        options: dict[str, Any] = {"source": "neighbours", "goal": "below:0.000001", "stopwords": "english"}
        reviews = [(row["text"], row["label"]) for row in islice(pocket.reviews("test"), 2)]
        with mohs.attack("pocket", reviews, ATTACKS, tagger="pocket", budget=budget, **options) as run:
            return list(run.records())

    whole = records()
    assert not any(record.error for record in whole)
    monkeypatch.setattr(slices, "_BYTES", 1)
    monkeypatch.setattr(slices, "_FEWEST", 5)
    assert records() == whole


def test_a_slice_has_few_long_texts_and_all_short_ones() -> None:
    keys = range(2000)
    assert slices.slices(Text("a good film"), keys) == [keys]
    parts = slices.slices(Text(long_text(2000)), keys)
    assert len(parts) > 5
    assert [key for part in parts for key in part] == list(keys)


def test_memory_does_not_grow_with_the_square_of_the_words() -> None:
    sizes: list[int] = []

    def watching(texts: list[str]) -> list[list[float]]:
        if len(texts) > 1:
            sizes.append(tracemalloc.get_traced_memory()[0])
        return positive(texts)

    tracemalloc.start()
    try:
        with mohs.attack(watching, [(long_text(3000), 1)], ["textfooler"], tagger="pocket", budget=2600) as run:
            (record,) = run.records()
        assert record.queries > 1000, record.error
        assert max(sizes) < 50_000_000  # with all candidates at once it would be twice as much
    finally:
        tracemalloc.stop()


def test_an_example_that_would_take_too_much_memory_is_an_error_of_its_own(tmp_path: Path) -> None:
    rows = [("a good film", 1), (long_text(400), 1), ("a fine film", 1)]

    def start(**options: Any) -> list[str | None]:
        with mohs.attack(positive, rows, ["greedy"], budget=5, out=tmp_path / "run", **options) as run:
            return [record.error for record in run.records()]

    first, error, last = start(most_memory=0.001)
    assert first is None
    assert last is None
    assert error is not None
    assert error.startswith("The text has 400 words, and its ")
    assert error.endswith(
        " GB of memory, more than the 0.001 GB allowed; shorten it, or allow more with --most-memory."
    )
    assert start(most_memory=0.001) == [first, error, last]  # also on resuming
    assert start() == [None, None, None]
    with mohs.attack(positive, rows, [RandomWords(walks=1)], most_memory=0.001) as run:  # one word at a time
        assert not any(record.error for record in run.records())


def positive(texts: list[str]) -> list[list[float]]:
    return [[0.0, 1.0] for _ in texts]


@pytest.mark.parametrize("size", [0.0, -1.0, float("nan"), float("inf")])
def test_limits_that_are_none(size: float) -> None:
    with pytest.raises(BadInput, match="it must be a number of gigabytes above 0"):
        mohs.attack("pocket", "pocket", ["random"], n=1, most_memory=size)
