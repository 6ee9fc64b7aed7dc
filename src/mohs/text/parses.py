"""Dependency parses as plain values: a string's tokens, each with its head."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class ParsedToken(NamedTuple):
    """One token of a parse. White space is no token."""

    text: str
    start: int  # of its characters in the string
    end: int
    head: int  # number of its head among the tokens; its own number for the root of a sentence
    relation: str  # to the head, as the parser calls it: nsubj, dobj, prep ...; ROOT for a root
    pos: str  # universal part of speech
    tag: str  # Penn Treebank tag
    lemma: str
    entity: str = ""  # type of the named entity it is part of: PERSON, GPE, DATE ...; empty for none


Parse = tuple[ParsedToken, ...]


def roots(parse: Sequence[ParsedToken]) -> list[int]:
    """The numbers of the tokens that head a sentence."""
    return [number for number, token in enumerate(parse) if token.head == number]


def children(parse: Sequence[ParsedToken]) -> list[list[int]]:
    """For each token the numbers of its dependents, from left to right."""
    found: list[list[int]] = [[] for _ in parse]
    for number, token in enumerate(parse):
        if token.head != number:
            found[token.head].append(number)
    return found


def subtree(parse: Sequence[ParsedToken], number: int) -> list[int]:
    """The numbers of a token and of everything below it, from left to right."""
    below, found, waiting = children(parse), [], [number]
    while waiting:
        found.append(waiting.pop())
        waiting.extend(below[found[-1]])
    return sorted(found)


def sentences(parse: Sequence[ParsedToken]) -> list[Parse]:
    """Each sentence of a parse by itself: the tokens under one root, which keep their places in the string."""
    found = []
    for root in roots(parse):
        inside = subtree(parse, root)
        number = {old: new for new, old in enumerate(inside)}
        found.append(tuple(parse[old]._replace(head=number[parse[old].head]) for old in inside))
    return found


def depths(parse: Sequence[ParsedToken]) -> list[int]:
    """How many steps each token is from its root. Raises ValueError for heads that go round in a circle."""
    found: list[int | None] = [0 if token.head == number else None for number, token in enumerate(parse)]
    for number in range(len(parse)):
        way: list[int] = []
        at = number
        while found[at] is None:
            if len(way) > len(parse):
                raise ValueError(f"the heads of token {number} go round in a circle")
            way.append(at)
            at = parse[at].head
        depth = found[at] or 0
        for step in reversed(way):
            depth += 1
            found[step] = depth
    return [depth or 0 for depth in found]
