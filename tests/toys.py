"""Small victims and spaces whose right answers are known by hand."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, ClassVar, TypeVar

from mohs.engine import by_size
from mohs.models.victim import Fields, Scores
from mohs.space import Services
from mohs.text import Text
from mohs.text.text import like, words_of

Result = TypeVar("Result")


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


def services(seed: int = 0, **answers: Any) -> Services:
    """Services made of functions from an item to its answer; whatever is no function is a word book."""
    parts = {kind: Instant(part) if callable(part) else part for kind, part in answers.items()}
    return Services(parts, Random(seed))


def now(coroutine: Coroutine[Any, None, Result]) -> Result:
    """The result of a coroutine whose services answer at once."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        result: Result = stop.value
        return result
    raise AssertionError("it waits for something")


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
