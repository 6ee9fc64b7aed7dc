"""Classes of crafted examples as classes of a task."""

from __future__ import annotations

import pytest

from mohs.curation.crafted.classes import class_of


@pytest.mark.parametrize(
    ("name", "labels", "number"),
    [
        ("positive", ["negative", "positive"], 1),
        ("negative", ["NEG", "POS"], 0),
        ("duplicate", ["not_duplicate", "duplicate"], 1),
        ("different", ["not_duplicate", "duplicate"], 0),
        ("not_entailment", ["entailment", "not-entailment"], 1),
        ("neutral", ["entailment", "not_entailment"], 1),
        ("contradiction", ["entailment", "not_entailment"], 1),
        ("contradiction", ["contradiction", "entailment", "not_entailment"], 0),  # its own name comes first
        ("neutral", ["contradiction", "entailment"], None),
        ("entailment", ["not_entailment", "other"], None),
        ("Sports", ["world", "sports"], 1),
        ("weather", ["world", "sports"], None),
    ],
)
def test_by_name(name: str, labels: list[str], number: int | None) -> None:
    assert class_of(name, labels, {}) == number


def test_as_the_user_calls_them() -> None:
    labels = ["no", "yes"]
    assert class_of("entailment", labels, {"entailment": "yes"}) == 1
    assert class_of("neutral", labels, {"entailment": "yes"}) is None
    assert class_of("no", labels, {"no": "yes"}) == 1  # what is named goes before what can be guessed
