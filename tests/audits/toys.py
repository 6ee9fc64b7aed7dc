"""Small models whose answers can be computed by hand, and runs made of them."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mohs.engine import by_size
from mohs.records import Outcome, Record
from mohs.runs.run import Run
from mohs.tasks.services import _TEXT
from mohs.text import Text
from mohs.text.questions import Blank, Filled, Scored
from tests.report.made import kept

PROOF = _TEXT  # the first question to every model


class Toy:
    """A model that answers item by item and remembers what it was asked."""

    in_flight = 1
    name = "toy"

    def __init__(self, version: str = "1", poison: str | None = None) -> None:
        self.fingerprint = f"{type(self).__name__}-{version}"
        self.poison = poison
        self.asked: list[Any] = []

    def plan(self, items: list[Any]) -> list[list[Any]]:
        return by_size(items, lambda item: len(str(item)), 8)

    def launch(self, batch: list[Any]) -> list[Any]:
        self.asked += [item for item in batch if PROOF not in str(item)]
        return batch

    def collect(self, ticket: list[Any]) -> list[Any]:
        if self.poison is not None and any(self.poison in str(item) for item in ticket):
            raise RuntimeError(f"cannot read {self.poison}")
        return [self.answer(item) for item in ticket]

    def answer(self, item: Any) -> Any:
        raise NotImplementedError


class Checker(Toy):
    """Every word that starts with `bad` breaks the rule of that name, in capitals."""

    def answer(self, item: str) -> tuple[str, ...]:
        return rules(item)


def rules(text: str) -> tuple[str, ...]:
    return tuple(word.upper() for word in re.findall(r"\bbad\w*", text))


class Encoder(Toy):
    """A text is an angle: a tenth for each word with an x."""

    def answer(self, item: tuple[str, ...]) -> Any:
        angle = 0.1 * turned(item[0])
        return np.array([math.cos(angle), math.sin(angle)], np.float32)


def turned(text: str) -> int:
    return sum("x" in word for word in text.split())


def cosine(one: str, other: str) -> float:
    return math.cos(0.1 * (turned(one) - turned(other)))


class Lm(Toy):
    """A token is a word, and its log-probability is minus its length."""

    def answer(self, item: str) -> Scored:
        found = list(re.finditer(r"\w+", item))
        return Scored(
            tuple(m.start() for m in found), tuple(m.end() for m in found), tuple(-float(len(m[0])) for m in found)
        )


def perplexity(text: str) -> float:
    lengths = [len(word) for word in re.findall(r"\w+", text)]
    return math.exp(sum(lengths) / len(lengths))


class MaskedLm(Toy):
    """The log-probability of a word is minus its length; words with a q are not in its vocabulary."""

    def answer(self, item: Blank) -> Filled:
        return Filled((), 0.0, tuple(math.nan if "q" in word else -float(len(word)) for word in item.words))


class Vectors:
    """The cosine of two words is 1 minus a tenth of their difference in length; words with a q are not known."""

    name = "toy vectors"
    fingerprint = "toy-vectors"

    def cosines(self, word: str, others: Sequence[str]) -> list[float]:
        return [word_cosine(word, other) for other in others]


def word_cosine(one: str, other: str) -> float:
    return math.nan if "q" in one + other else 1 - abs(len(one) - len(other)) / 10


def tools(**more: Any) -> dict[str, Any]:
    return {"grammar": Checker(), "encoder": Encoder(), "vectors": Vectors(), **more}


def record(
    number: int, original: str, changes: dict[int, str] | None = None, attack: str = "textfooler:paper", **more: Any
) -> Record:
    """A success with these words changed; without changes, a failure."""
    text = Text(original)
    final = text.replace_all(changes or {})
    values: dict[str, Any] = {
        "attack": attack,
        "example_id": f"e{number}",
        "outcome": Outcome.SUCCESS if changes else Outcome.FAILED,
        "label": number % 2,
        "names": ("text",),
        "original": (original,),
        "seed": 0,
        "words": len(text),
        "perturbed": final.fields,
        "edits": text.edits(final),
        "scores_before": (0.9, 0.1) if number % 2 == 0 else (0.1, 0.9),
        "scores_after": (0.1, 0.9) if (number % 2 == 0) == bool(changes) else (0.9, 0.1),
        "queries": 5,
    }
    return Record(**(values | more))


def run_of(records: list[Record], folder: Path | None = None, **more: Any) -> Run:
    """An attack run of these records."""
    config: dict[str, Any] = {"attacks": list(dict.fromkeys(r.attack for r in records)), "source": None}
    identity = more.pop("identity", {})
    examples = len({r.example_id for r in records})
    return kept("attack", records, {"examples": examples, **identity}, folder=folder, **(config | more))
