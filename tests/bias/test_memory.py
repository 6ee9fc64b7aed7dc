"""Long texts in the walks of `mohs bias` and `mohs second-order`: slices, and a limit for what is held."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import mohs
from mohs.attacks import slices
from mohs.bias import Pairs
from tests.toys import Wordlike, bundled

LONG = " ".join(["The actor was awful and the movie was bad but she liked music."] * 8) + " He said it was fine."
ROWS = [("He said it was a good film.", 1), (LONG, 1)]
PAIRS = Pairs("toy", (("he", "her"), ("fine", "good")), frozenset())
ALLOWED = "more than the 0.0005 GB allowed; shorten it, or allow more with --most-memory."


def positive(texts: list[str]) -> list[list[float]]:
    return [[0.25, 0.75] for _ in texts]


def bias(**options: Any) -> mohs.Run:
    return mohs.token_bias(positive, ROWS, PAIRS, masked_lm=Wordlike(), most=200, breadth=5, **options)


def second_order(**options: Any) -> mohs.Run:
    vectors = bundled()["vectors"]
    return mohs.second_order_attack(positive, ROWS, "so-enum", masked_lm=Wordlike(), vectors=vectors, **options)


@pytest.mark.parametrize("start", [bias, second_order])
def test_an_example_that_would_take_too_much_memory_is_an_error(start: Callable[..., mohs.Run], tmp_path: Path) -> None:
    def errors(**options: Any) -> list[str | None]:
        with start(k=2, **options) as run:
            return [record.error for record in run.records()]

    first, error = errors(most_memory=0.0005, out=tmp_path / "run")
    assert first is None
    assert error is not None
    assert error.startswith("The text has 109 words, and its ")
    assert error.endswith(ALLOWED)
    assert errors(most_memory=0.0005, out=tmp_path / "run") == [first, error]  # also on resuming
    with start(k=1, most_memory=0.0005) as run:  # nothing is held for a next level
        assert not any(record.error for record in run.records())


@pytest.mark.parametrize("budget", [None, 193, 200])
def test_slices_change_no_bias(budget: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    def records() -> list[mohs.Record]:
        with mohs.token_bias(positive, ROWS[:1], PAIRS, masked_lm=Wordlike(), k=1, budget=budget) as run:
            return list(run.records())

    whole = records()
    monkeypatch.setattr(slices, "_BYTES", 1)
    monkeypatch.setattr(slices, "_FEWEST", 3)
    assert records() == whole
