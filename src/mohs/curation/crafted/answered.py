"""What a question asks for, said with its answer: "which team" and "A" as "the team A"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from mohs.curation.crafted.sentences import said
from mohs.text.parses import Parse, ParsedToken

TIMES = frozenset("year month day decade century date season".split())
_KINDS = frozenset("type types kind kinds sort sorts".split())
_LINKING = frozenset(  # an answer that begins with one of these needs no other
    "in on at by for since from to until during before after because with through within between under over as".split()
)
_MONTH = "(?:January|February|March|April|May|June|July|August|September|October|November|December)"
_DAY = re.compile(rf"\b\d{{1,2}} {_MONTH}\b|\b{_MONTH} \d{{1,2}}\b|\b\w+day\b")  # 18 May 1842, Monday


class Asking(NamedTuple):
    """The part of a question that asks, from token `first` up to, not including, token `after`."""

    first: int
    after: int
    head: int  # the token on which the rest hangs
    word: str  # what, who, how ...
    preposition: str  # in front of it: in what year


def with_answer(tokens: Parse, asking: Asking, answer: str) -> str:
    """The asking phrase with the answer.

    What team: the team A. How many men: 5 men. What kind of tree: oak tree. Which son of B: A, the son of B.
    """
    at = asking.first + bool(asking.preposition)
    more = list(tokens[at + 1 : asking.after])
    names = [token.text.lower() for token in more]
    if not more or (len(names) == 1 and names[0] in ("much", "many", "long", *TIMES)):
        return answer
    if asking.word == "how":
        return _measured(answer, more)
    if asking.word == "whose":
        return said([f"{answer}'s", *more])
    if names[0] in ("percent", "percentage") and answer[:1].isdigit():
        return said([f"{answer.removesuffix('%').removesuffix('percent').strip()} percent", *more[1:]])
    if names[0] in _KINDS and len(names) > 2 and names[1] == "of":  # oak tree, but lanterns
        return said([answer, *more[2:]]) if re.fullmatch(r"[a-z]*[a-rt-z]", answer) else answer
    if names[0] == "of":
        return f"{answer}, one {said(more)},"
    if any(token.relation == "prep" for token in more):
        return f"{answer}, the {said(more)},"
    return f"the {said(more)} {answer}" if answer[:1].isupper() else answer


def _measured(answer: str, more: Sequence[ParsedToken]) -> str:
    """How many people, how tall, how old: with a number and perhaps its unit."""
    word = more[0].text.lower()
    if word in ("much", "many"):
        return said([answer, *more[1:]])
    if not answer.replace(",", "").isdigit():
        return said([answer, *more])
    return f"{answer} years old" if word == "old" else answer


def linked(preposition: str, answer: str) -> str:
    """An answer behind a preposition, unless it has its own; days have "on"."""
    if answer.split(" ")[0].lower() in _LINKING:
        return answer
    return f"{'on' if preposition == 'in' and _DAY.search(answer) else preposition} {answer}"
