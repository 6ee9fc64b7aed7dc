"""Small victims and spaces whose right answers are known by hand."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Any, ClassVar, TypeVar

import numpy as np

from mohs.engine import by_size
from mohs.models.boundary import planned
from mohs.models.encoder import PocketEncoder
from mohs.models.tagger import PocketTagger
from mohs.models.victim import Fields, Scores
from mohs.space import Services
from mohs.tasks.subject import Searched
from mohs.text import Text, pocket
from mohs.text.questions import (
    Blank,
    Filled,
    Guess,
    Labelled,
    Piece,
    Pieces,
    Scored,
    Sentence,
    SentenceVector,
    Slope,
    Spelling,
)
from mohs.text.text import like, words_of
from mohs.text.vectors import read_vectors

Result = TypeVar("Result")

AFTER = 4  # texts asked after a run of one example: a probe and the example, each alone and in a batch


class WordCount:
    """P(positive) rises with the share of good words and falls with the share of bad ones."""

    name = "word count"
    in_flight = 1
    hard = False
    exact = True
    labels: tuple[str, ...] = ("negative", "positive")

    def __init__(self, weights: dict[str, float], in_flight: int = 1, rows: int = 64) -> None:
        self.weights = weights
        self.in_flight = in_flight
        self.rows = rows
        self.fingerprint = f"word-count-{sorted(weights.items())}"
        self.asked: list[Fields] = []
        self.batches: list[int] = []

    def plan(self, items: list[Fields]) -> list[list[Fields]]:
        return by_size(items, lambda fields: sum(map(len, fields)), self.rows)

    def launch(self, batch: list[Fields]) -> list[Fields]:
        self.batches.append(len(batch))
        self.asked.extend(batch)
        return batch

    def collect(self, ticket: list[Fields]) -> Sequence[Scores]:
        return [self.scores(fields) for fields in ticket]

    def scores(self, fields: Fields) -> Scores:
        logit = sum(self.weights.get(word, 0.0) for word in words_of(fields))
        positive = round(1 / (1 + 2.0**-logit), 9)
        return (1 - positive, positive)

    def visible(self, fields: Fields) -> tuple[int, ...] | None:
        return None

    def gradients(self) -> CountSlopes:
        return CountSlopes(self)


class CountSlopes:
    """The inside of a word count: a word's vector is its weight, and a sentence's vector the log-odds."""

    in_flight = 1

    def __init__(self, victim: WordCount) -> None:
        self.victim = victim
        self.name, self.fingerprint = "count slopes", f"{victim.fingerprint}-gradients"

    def plan(self, items: list[Any]) -> list[list[Any]]:
        return planned(items, lambda kind: by_size(kind, lambda item: sum(map(len, item.fields)), 16))

    def launch(self, batch: list[Any]) -> list[Any]:
        return batch

    def collect(self, ticket: list[Any]) -> list[Slope | Sentence]:
        return [self.sentence(item) if isinstance(item, SentenceVector) else self.slope(item) for item in ticket]

    def sentence(self, item: SentenceVector) -> Sentence:
        negative, positive = self.victim.scores(item.fields)
        odds = math.log(max(positive, 1e-300)) - math.log(max(negative, 1e-300))
        towards = np.array([-1.0 if odds > 0 else 1.0], np.float32) if item.normal else None
        return Sentence(np.array([odds], np.float32), towards)

    def slope(self, item: Labelled) -> Slope:
        chance = self.victim.scores(item.fields)[item.label]
        text = Text(*item.fields)
        steps = np.full((len(text), 1), math.log(2) * (1 - chance) * (1 if item.label else -1), np.float32)
        weights = np.array([[self.victim.weights.get(word.lower(), 0.0)] for word in text.words], np.float32)
        return Slope(math.log(max(chance, 1e-300)), tuple(text.spans()), steps, weights.reshape(-1, 1))

    def vectors(self, words: Sequence[str]) -> list[Any]:
        return [np.array([self.victim.weights.get(word.lower(), 0.0)], np.float32) for word in words]


@dataclass(frozen=True)
class Table:
    """A source of candidates written out by hand."""

    rows: tuple[tuple[str, tuple[str, ...]], ...]

    needs: ClassVar[tuple[str, ...]] = ()

    async def __call__(self, text: Text, positions: Sequence[int], ask: Services) -> list[dict[str, str]]:
        return [self.of_word(text.words[position]) for position in positions]

    def of_word(self, word: str) -> dict[str, str]:
        others = dict(self.rows).get(word.lower(), ())
        return {like(other, word): "table" for other in others if other != word.lower()}


def table(**rows: str) -> Table:
    return Table(tuple((word, tuple(others.split())) for word, others in rows.items()))


class Instant:
    """A service that answers at once, item by item."""

    def __init__(self, answer: Callable[[Any], Any]) -> None:
        self.answer = answer
        self.asked: list[Any] = []

    async def ask(self, items: Sequence[Any]) -> list[Any]:
        self.asked.extend(items)
        return [self.answer(item) for item in items]


def asked_with_texts(answer: Callable[[Any], Any]) -> Searched:
    """The same, asked with texts about their strings."""
    return Searched(Instant(answer), None)


def services(seed: int = 0, **answers: Any) -> Services:
    """Services made of functions from an item to its answer; whatever is no function is a word book."""
    parts = {kind: Instant(part) if callable(part) else part for kind, part in answers.items()}
    return Services(parts, Random(seed))


def now(coroutine: Coroutine[Any, None, Result]) -> Result:
    """The result of a coroutine whose services answer at once; giving way to others is not waiting."""
    try:
        while coroutine.send(None) == ():
            pass
    except StopIteration as stop:
        result: Result = stop.value
        return result
    raise AssertionError("it waits for something")


class Wordlike:
    """A masked and a causal language model that know only the bundled neighbours and the frequency of words."""

    name = "wordlike"
    fingerprint = "wordlike-1"
    in_flight = 1

    def near(self, word: str, k: int) -> list[str]:
        return [other for other, _ in pocket.lexicon().near(word.lower(), k, 0.5)]

    def plan(self, items: list[Any]) -> list[list[Any]]:
        return [[item] for item in sorted(items, key=repr)]

    def launch(self, batch: list[Any]) -> list[Any]:
        return batch

    def collect(self, ticket: list[Any]) -> list[Any]:
        return [self.answer(item) for item in ticket]

    def answer(self, item: Any) -> Any:
        if isinstance(item, Blank):
            word = item.fields[item.field][item.start : item.end] or "good"
            words = [*self.near(word.split()[0], item.k - 1), word.lower()][: item.k]
            return Filled(
                tuple(Guess(w, 9.0 - i / 8, True) for i, w in enumerate(words)), 10.0, (-3.0,) * len(item.words)
            )
        if isinstance(item, Pieces):
            word = item.fields[item.field][item.start : item.end].lower()
            return (Piece(word, tuple(Guess(w, 9.0 - i / 8, True) for i, w in enumerate(self.near(word, item.k)))),)
        if isinstance(item, Spelling):
            return float(sum(map(len, item.pieces)))
        index = pocket.lexicon().index
        found = [(m.start(), m.end(), index.get(m.group().lower(), 20_000)) for m in re.finditer(r"\w+", item)]
        return Scored(
            tuple(a for a, _, _ in found),
            tuple(b for _, b, _ in found),
            tuple(-1 - rank / 4000 for _, _, rank in found),
        )


@cache
def bundled() -> dict[str, Any]:
    """The bundled tagger, vectors and encoder: loaded once, they remember answers from one run to the next."""
    return {"tagger": PocketTagger(), "vectors": read_vectors("pocket"), "encoder": PocketEncoder()}


class Purist:
    """A grammar checker that objects to a word with the same first letter as the one before."""

    name = "purist"
    fingerprint = "purist-1"
    in_flight = 2

    def plan(self, items: list[str]) -> list[list[str]]:
        return by_size(items, len, 64)

    def launch(self, batch: list[str]) -> list[str]:
        return batch

    def collect(self, ticket: list[str]) -> list[tuple[str, ...]]:
        return [tuple(re.findall(r"\b(?=(\w)\w*\W+\1)", text.lower())) for text in ticket]


def toy_services() -> dict[str, Any]:
    """For attacks that need what is not bundled, or takes long."""
    book = _Book(Wordlike())
    return {"masked_lm": Wordlike(), "lm": Wordlike(), "grammar": Purist(), "wordnet": book, "sememes": book}


@dataclass(frozen=True)
class _Book:
    """WordNet and a sememe table, likewise."""

    words: Wordlike
    name: str = "toy book"
    fingerprint: str = "toy-book-1"

    def synonyms(self, word: str, pos: str | None = None) -> list[str]:
        return self.words.near(word, 6)

    def heads(self, word: str) -> list[str]:
        return self.words.near(word, 3)

    def substitutes(self, word: str, kind: str, tag: str, vocabulary: Any) -> list[str]:
        return self.words.near(word, 6)


def predict(texts: list[Any]) -> list[list[float]]:
    """A function victim for `python:tests.toys:predict`."""
    model = WordCount({"good": 2, "great": 3, "bad": -2, "awful": -3, "fine": 1})
    return [list(model.scores((text,) if isinstance(text, str) else text)) for text in texts]


def raises_on(poison: str) -> Callable[[list[str]], list[list[float]]]:
    """A victim that cannot stand one word."""

    def answer(texts: list[str]) -> list[list[float]]:
        if any(poison in text for text in texts):
            raise RuntimeError(f"cannot read {poison}")
        return predict(texts)

    return answer
