"""From chosen words to a string."""

from __future__ import annotations

import re

import torch

from mohs.models.tree_rows import Lexicon
from mohs.models.tree_text import Words
from mohs.text.parses import ParsedToken
from mohs.text.tree_search import Steps, TreeQuestion

LEXICON = Lexicon(("do", "n't", "not", "film", "good", ",", "it", "have"), ())
NUMBERS = LEXICON.numbers


def words(text: str, *fixed: int) -> Words:
    spans = [match.span() for match in re.finditer(r"do(?=n't)|n't|\w+|[^\w\s]", text)]
    parse = tuple(ParsedToken(text[a:b], a, b, 0, "dep", "X", "XX", text[a:b]) for a, b in spans)
    question = TreeQuestion((text,), 0, parse, tuple(n in fixed for n in range(len(parse))), 0, None, Steps())
    return Words(question, LEXICON)


def test_signs_unknown_words_and_fixed_ones_stay() -> None:
    found = words("It, good Zork film", 2)
    assert found.free == [True, False, False, False, True]
    assert found.own.tolist() == [NUMBERS["it"], NUMBERS[","], NUMBERS["good"], 0, NUMBERS["film"]]
    allowed = found.allowed(torch.arange(5))
    assert allowed[0].tolist() == [
        False,
        True,
        True,
        True,
        True,
        True,
        False,
        True,
        True,
    ]  # neither unknown nor a comma
    assert not allowed[1:4].any()
    backwards = words("It, good Zork film", 2).allowed(torch.arange(4, -1, -1))
    assert torch.equal(backwards, allowed.flip(0))


def test_a_string_keeps_case_and_signs() -> None:
    found = words("Good, GOOD  film!")
    assert found.string(found.own.tolist()) == ("Good, GOOD  film!", [(0, 4), (4, 5), (6, 10), (12, 16), (16, 17)])
    new = [NUMBERS["film"], NUMBERS[","], NUMBERS["it"], NUMBERS["have"], 0]
    assert found.string(new) == ("Film, IT  have!", [(0, 4), (4, 5), (6, 8), (10, 14), (14, 15)])


def test_a_space_parts_what_would_run_together() -> None:
    found = words("we don't")
    own = found.own.tolist()
    assert found.string([own[0], NUMBERS["have"], own[2]]) == ("we haven't", [(0, 2), (3, 7), (7, 10)])
    assert found.string([own[0], own[1], NUMBERS["not"]]) == ("we do not", [(0, 2), (3, 5), (6, 9)])
    assert found.string([own[0], NUMBERS["it"], NUMBERS["film"]]) == ("we it film", [(0, 2), (3, 5), (6, 10)])
