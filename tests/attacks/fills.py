"""Language models, encoders and taggers whose every answer is written down, for attacks that read the text."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from mohs.text.questions import Blank, Filled, Guess, Piece, Spot, Tag
from mohs.text.text import words_of


class Written:
    """A model that answers one question after the other."""

    name = "written"
    in_flight = 1

    def __init__(self, answers: Mapping[str, Any]) -> None:
        self.answers = answers
        self.fingerprint = repr(sorted(answers.items()))

    def plan(self, items: list[Any]) -> list[list[Any]]:
        return [[item] for item in sorted(items, key=repr)]

    def launch(self, batch: list[Any]) -> list[Any]:
        return batch

    def collect(self, ticket: list[Any]) -> list[Any]:
        return [self.answer(item) for item in ticket]

    def answer(self, item: Any) -> Any:
        raise NotImplementedError


class Fills(Written):
    """A masked language model: `a _ film` is a blank, `a [good] film` a word that is seen; the answers best first.

    A guess is written as it is, or with its probability behind a colon; 0.1 without.
    """

    def answer(self, item: Any) -> Any:
        string = item.fields[item.field]
        before, word, behind = string[: item.start], string[item.start : item.end], string[item.end :]
        if isinstance(item, Blank):
            return Filled(self.guesses(f"{before}_{behind}", item.k), 0.0)
        return (Piece(word, self.guesses(f"{before}[{word}]{behind}", item.k)),)

    def guesses(self, key: str, k: int) -> tuple[Guess, ...]:
        parts = [guess.partition(":") for guess in self.answers.get(key, "").split()]
        return tuple(Guess(word, math.log(float(chance or 0.1)), True) for word, _, chance in parts)[:k]


class Angles(Written):
    """A sentence encoder in the plane: the direction of a text is the sum of its words', in degrees."""

    def answer(self, item: Any) -> Any:
        angle = math.radians(sum(self.answers.get(word, 0.0) for word in words_of(item)))
        return np.array([math.cos(angle), math.sin(angle)], np.float64)


class Parts(Written):
    """A tagger that knows words without their context; all others are nouns."""

    def answer(self, item: Spot) -> Tag:
        return Tag(self.answers.get(item.text[item.start : item.end].lower(), "NOUN"), "XX")
