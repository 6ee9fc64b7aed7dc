from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mohs.errors import BadInput
from mohs.text import Example, Text


def test_one_text() -> None:
    example = Example.of("a b", 1, id="x")
    assert (example.id, example.label, example.names) == ("x", 1, ("text",))
    assert example.text == Text("a b")
    assert example.positions == (0, 1)


def test_in_a_pair_the_second_text_may_change() -> None:
    example = Example.of(("a b", "c d"), 0)
    assert example.names == ("premise", "hypothesis")
    assert example.positions == (2, 3)


def test_named_fields_may_change() -> None:
    assert Example.of(("a b", "c"), 0, changeable=["premise"]).positions == (0, 1)
    assert Example.of(("a b", "c"), 0, changeable=["hypothesis", "premise"]).positions == (0, 1, 2)
    assert Example.of(["q", "s t"], 0, names=["question", "sentence"]).positions == (1, 2)


def test_a_text_without_words_has_no_positions() -> None:
    assert Example.of("", 0).positions == ()
    assert Example.of(("a", "!"), 0).positions == ()
    assert Example.of(("", "a"), 0).positions == (0,)


def test_examples_are_values() -> None:
    one, other = Example.of("a", 1), Example.of("a", 1)
    assert one == other
    assert hash(one) == hash(other)
    assert one != Example.of("a", 0)
    assert one.positions == (0,)
    assert one == other  # a filled cache is not a difference


@pytest.mark.parametrize("label", [np.int64(1), np.int8(1), 1.0])
def test_labels_become_plain_numbers(label: Any) -> None:
    example = Example.of("a", label)
    assert type(example.label) is int
    assert example.label == 1


@pytest.mark.parametrize("label", [-1, 7.5, float("nan"), float("inf"), True, False, None, "1", "positive", [1]])
def test_a_label_is_a_whole_number_from_0(label: Any) -> None:
    with pytest.raises(BadInput) as caught:
        Example.of("a", label, id="e7")
    assert str(caught.value) == f"Example e7 has label {label!r}; labels are whole numbers from 0."


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            {"text": ("a", "b", "c")},
            "Example 0 has 3 texts for the fields premise, hypothesis; give as many texts as fields.",
        ),
        (
            {"text": "a", "names": ["p", "h"]},
            "Example 0 has 1 texts for the fields p, h; give as many texts as fields.",
        ),
        ({"text": ("a", "b"), "names": ["t", "t"]}, "Example 0 has the fields t, t; give one, or two different ones."),
        (
            {"text": ("a", "b", "c"), "names": ["p", "q", "r"]},
            "Example 0 has the fields p, q, r; give one, or two different ones.",
        ),
        ({"text": "a", "changeable": ["body"]}, "Field 'body' cannot change: the fields are text."),
        ({"text": None}, "Example 0 holds None, which is not a text."),
        ({"text": ("a", 5)}, "Example 0 holds 5, which is not a text."),
        ({"text": "a", "id": 7}, "The id 7 is not a string; write it as '7'."),
        (
            {"text": "a \ud800", "id": "é"},
            "Example '\\xe9' holds half a surrogate pair, which is not valid text; remove it.",
        ),
        (
            {"text": "a", "id": "\udc80"},
            "Example '\\udc80' holds half a surrogate pair, which is not valid text; remove it.",
        ),
    ],
)
def test_mistakes_are_named(arguments: dict[str, Any], sentence: str) -> None:
    with pytest.raises(BadInput) as caught:
        Example.of(label=0, **arguments)
    assert str(caught.value) == sentence


def test_no_texts_at_all() -> None:
    with pytest.raises(BadInput, match="Example 0 has the fields none"):
        Example("0", Text(), 0, names=())
