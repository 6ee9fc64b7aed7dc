"""Words counted in training data, on corpora small enough to count by hand."""

from __future__ import annotations

import pytest

from mohs.analyses.frequencies import Training
from mohs.errors import BadInput
from mohs.text import Example

ROWS = [
    Example.of("Good good film, a GOOD day.", 1, id="1"),  # 6 words, 3 good
    Example.of("A bad film; good try", 0, id="2"),  # 5 words, 1 good, 1 bad
    Example.of("bad", 0, id="3"),
]


def test_counts_and_relative_frequencies() -> None:
    training = Training(frozenset({"good", "bad", "film", "never"}))
    training.read(iter(ROWS), 2)
    assert training.rows == 3
    assert dict(training.words) == {1: 6, 0: 6}
    assert [training.count(word) for word in ("good", "Good", "bad", "film", "never")] == [4, 4, 2, 2, 0]
    assert training.relative("good") == {0: 1 / 6, 1: 3 / 6}
    assert training.relative("bad") == {0: 2 / 6, 1: 0}
    assert training.elsewhere("good", 1) is False
    assert training.elsewhere("good", 0) is True
    assert training.elsewhere("film", 0) is False  # a tie is not elsewhere
    assert training.elsewhere("film", 1) is False
    assert training.elsewhere("never", 0) is None


def test_classes_of_different_sizes_count_by_share() -> None:
    training = Training(frozenset({"plot"}))
    training.read([Example.of("plot " + "word " * 9, 0), Example.of("plot plot " + "word " * 98, 1)], None)
    assert training.count("plot") == 3
    assert training.elsewhere("plot", 1) is True  # 1 of 10 against 2 of 100


def test_pairs_count_both_texts() -> None:
    training = Training(frozenset({"dog"}))
    training.read([Example.of(("A dog runs.", "The dog sleeps."), 0)], 3)
    assert training.count("dog") == 2
    assert training.words[0] == 6


def test_labels_that_the_run_does_not_have() -> None:
    with pytest.raises(BadInput, match=r"label 1 in row 1, but the run has 1 classes"):
        Training(frozenset()).read(ROWS, 1)
    with pytest.raises(BadInput, match="no rows"):
        Training(frozenset()).read([], 2)
