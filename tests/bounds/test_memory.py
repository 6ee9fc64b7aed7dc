"""Long texts in `mohs radius`: texts in slices, and a limit for what would take too much memory."""

from __future__ import annotations

from itertools import cycle, islice
from pathlib import Path
from typing import Any

import pytest

import mohs
from mohs.attacks import slices
from mohs.bounds.additive import bytes_of_levels
from mohs.bounds.share import Share
from mohs.text import pocket

ALLOWED = "more than the 0.0001 GB allowed; shorten it, or allow more with --most-memory."


def positive(texts: list[str]) -> list[list[float]]:
    return [[0.0, 1.0] for _ in texts]


def long_text(words: int) -> str:
    return " ".join(islice((word for row in cycle(pocket.reviews("train")) for word in row["text"].split()), words))


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"attacks": ["greedy"]}, "candidates would take about"),
        ({"share": "25%"}, "and the draws for its share would take about"),
    ],
)
def test_an_example_that_would_take_too_much_memory_is_an_error(
    options: dict[str, Any], what: str, tmp_path: Path
) -> None:
    rows = [("a film", 1), (long_text(80), 1)]

    def start(**more: Any) -> list[str | None]:
        with mohs.radius(positive, rows, max_r=1, out=tmp_path / "run", **options, **more) as run:
            return [record.error for record in run.records()]

    first, error = start(most_memory=0.0001)
    assert first is None
    assert error is not None
    assert error.startswith("The text has 80 words, and ")
    assert what in error
    assert error.endswith(ALLOWED)
    assert start(most_memory=0.0001) == [first, error]  # also on resuming
    assert start() == [None, None]


def test_a_closed_form_of_many_levels_is_refused() -> None:
    praise = " ".join(["wonderful excellent superb moving"] * 60)
    with mohs.radius("pocket", [(praise, 1)], most_memory=0.0001) as run:
        (record,) = run.records()
    assert record.error is not None
    assert "levels would take about" in record.error
    assert record.error.endswith(ALLOWED)


def test_slices_change_no_radius(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [(row["text"], row["label"]) for row in islice(pocket.reviews("test"), 4)]

    def found() -> list[list[Any]]:
        told = []
        for victim in ("pocket", positive):
            with mohs.radius(victim, rows, attacks=["textfooler"], tagger="pocket", max_r=1, share=1) as run:
                told.append([(r.error, r.finding, r.perturbed) for r in run.records()])
        return told

    whole = found()
    assert not any(error for told in whole for error, *_ in told)
    monkeypatch.setattr(slices, "_BYTES", 1)
    monkeypatch.setattr(slices, "_FEWEST", 3)
    assert found() == whole


def test_estimates() -> None:
    assert bytes_of_levels(3, 5) == bytes_of_levels(1, 1) * (1 + 2 + 3 + 3 + 3)
    assert Share("10", n=100).memory(50, 80) == 8 * 11 * 150
