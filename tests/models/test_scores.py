"""A victim's answers are checked, and a broken promise is one sentence that names the victim and the row."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mohs.errors import BadInput, VictimError
from mohs.models.victim import Output, at_least, declared, scores

NAN = math.nan


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        ([[0.5, 0.5], [NAN, 1.0]], ["row 1", "not finite"]),
        ([[0.5, 0.5], [math.inf, 0.0]], ["row 1", "not finite"]),
        ([[0.5, 0.5], [None, 1.0]], ["row 1", "not finite"]),
        ([[0.5, 0.5], [0.7, 0.7]], ["row 1", "sums to 1.4", "output=logits"]),
        ([[0.5, 0.5], [0.9, 0.09]], ["row 1", "sums to 0.99"]),
        ([[0.5, 0.5], [1.2, -0.2]], ["row 1", "[1.2, -0.2]"]),
        ([[0.5, 0.5]], ["1 rows for 2 texts"]),
        ([[0.5, 0.5]] * 3, ["3 rows for 2 texts"]),
        ([[1.0], [1.0]], ["row 0", "1 scores", "at least 2"]),
        ([[0.5, 0.5], [0.2, 0.3, 0.5]], ["row 1", "3 scores", "2 are expected"]),
        ([[0.5, 0.5], []], ["row 1", "0 scores", "2 are expected"]),
        ([0.5, 0.5], ["1 dimensions", "output=labels --labels NAMES"]),
        (0.5, ["0 dimensions"]),
        ([[[0.5, 0.5]], [[0.5, 0.5]]], ["3 dimensions"]),
        ([["0.5", "0.5"], ["0.5", "0.5"]], ["not a table of numbers"]),
        ([[0.5j, 0.5], [0.5, 0.5]], ["not a table of numbers"]),
        ({"probabilities": [[0.5, 0.5]]}, ["not a table of numbers"]),
        ([[10**400, 0], [0, 1]], ["not a table of numbers"]),
        ("positive", ["not a table of numbers"]),
        (None, ["0 dimensions"]),
    ],
)
def test_broken_probabilities(answers: Any, words: list[str]) -> None:
    with pytest.raises(VictimError) as caught:
        scores("my-model", answers, 2, Output.PROBABILITIES)
    sentence = str(caught.value)
    assert sentence.startswith("my-model ")
    assert "\n" not in sentence
    for word in words:
        assert word in sentence


def test_width_by_class_count() -> None:
    with pytest.raises(VictimError, match="gave 2 scores in row 0; 3 are expected"):
        scores("m", [[0.5, 0.5]], 1, Output.PROBABILITIES, 3)
    with pytest.raises(VictimError, match="gave 3 scores in row 1; 2 are expected"):
        scores("m", [[0.5, 0.5], [0.5, 0.25, 0.25]], 2, Output.PROBABILITIES, 2)


def test_rounded_probabilities_pass() -> None:
    assert scores("m", [[0.333, 0.333, 0.3335]], 1, Output.PROBABILITIES) == [(0.333, 0.333, 0.3335)]


@given(st.lists(st.lists(st.floats(-1e4, 1e4), min_size=3, max_size=3), min_size=1, max_size=5))
def test_logits(table: list[list[float]]) -> None:
    found = scores("m", table, len(table), Output.LOGITS)
    for row, logits in zip(found, table, strict=True):
        assert math.isclose(sum(row), 1.0)
        powers = [math.exp(value - max(logits)) for value in logits]
        assert row == pytest.approx([power / sum(powers) for power in powers])


def test_nan_logits() -> None:
    with pytest.raises(VictimError, match=r"m gave \[nan, 1.0\] in row 1"):
        scores("m", [[0, 1], [NAN, 1]], 2, Output.LOGITS)


def test_arrays_and_tensors() -> None:
    wanted = [(0.25, 0.75)]
    assert scores("m", np.array([[0.25, 0.75]], np.float32), 1, Output.PROBABILITIES) == wanted
    assert scores("m", torch.tensor([[0.25, 0.75]], requires_grad=True), 1, Output.PROBABILITIES) == wanted


def test_labels() -> None:
    assert scores("m", [1, 0, 2], 3, Output.LABELS, 3) == [(0, 1, 0), (1, 0, 0), (0, 0, 1)]
    assert scores("m", np.array([1]), 1, Output.LABELS, 2) == [(0, 1)]


@pytest.mark.parametrize(
    ("answers", "word"),
    [
        ([0, 2], "label 2 in row 1"),
        ([0, -1], "label -1 in row 1"),
        ([0.0, 1.0], "label 0.0 in row 0"),
        (["yes", "no"], "label 'yes' in row 0"),
        ([0], r"shape \(1,\) for 2 texts"),
        ([[0], [1]], r"shape \(2, 1\)"),
        ([[0], [1, 1]], "not a table"),
        (None, r"shape \(\)"),
    ],
)
def test_broken_labels(answers: Any, word: str) -> None:
    with pytest.raises(VictimError, match=f"^my-model .*(?:{word})"):
        scores("my-model", answers, 2, Output.LABELS, 2)


def test_declared() -> None:
    assert declared("logits") is Output.LOGITS
    with pytest.raises(BadInput, match="'x'; use probabilities, logits, labels"):
        declared("x")


@pytest.mark.parametrize("value", [0, -1, NAN, math.inf])
def test_at_least(value: float) -> None:
    at_least(1, batch=1)
    with pytest.raises(BadInput, match=f"batch={value} .* at least 1"):
        at_least(1, batch=value)
