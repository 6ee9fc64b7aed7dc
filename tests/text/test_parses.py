"""Dependency parses as values."""

from __future__ import annotations

import pytest

from mohs.text.parses import ParsedToken, children, depths, roots, subtree
from tests.toy_parser import parse


def tokens(*heads: int) -> tuple[ParsedToken, ...]:
    return tuple(
        ParsedToken(f"w{n}", 3 * n, 3 * n + 2, head, "ROOT" if n == head else "dep", "X", "XX", f"w{n}")
        for n, head in enumerate(heads)
    )


def test_heads_children_and_depths() -> None:
    found = tokens(1, 1, 1, 2, 5, 5)  # two sentences: 1 <- (0, 2 <- 3) and 5 <- 4
    assert roots(found) == [1, 5]
    assert children(found) == [[], [0, 2], [3], [], [], [4]]
    assert depths(found) == [1, 0, 1, 2, 1, 0]
    assert subtree(found, 1) == [0, 1, 2, 3]
    assert subtree(found, 2) == [2, 3]
    assert depths(()) == roots(()) == []


def test_a_circle_is_refused() -> None:
    with pytest.raises(ValueError, match="go round in a circle"):
        depths(tokens(1, 2, 0))


def test_a_deep_chain_needs_no_recursion() -> None:
    assert depths(tokens(*range(1, 5000), 4999)) == list(range(4999, -1, -1))


def test_the_toy_parser_by_hand() -> None:
    found = parse("The good film bored me.")
    told = [(token.text, token.start, token.end, token.head, token.relation) for token in found]
    assert told == [
        ("The", 0, 3, 2, "det"),
        ("good", 4, 8, 2, "amod"),
        ("film", 9, 13, 3, "nsubj"),
        ("bored", 14, 19, 3, "ROOT"),
        ("me", 20, 22, 3, "dobj"),
        (".", 22, 23, 3, "punct"),
    ]
    assert parse("") == ()
