"""A masked language model and a victim small enough to work everything out by hand."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mohs.bias import BiasTask, Pairs
from mohs.records import Record
from mohs.space import MaskedWords
from mohs.space.natural import Neighbourhood
from mohs.tasks.subject import Target
from mohs.text import Example
from mohs.text.questions import Blank, Filled, Guess
from tests.toys import Instant, WordCount, now

Tables = Mapping[str, Sequence[tuple[str, float]]]  # the word before a blank ("" for none) -> guesses and their logits

GENDER = Pairs("toy", (("he", "she"), ("his", "her"), ("him", "her")), frozenset("he she his him her king".split()))


def fill(tables: Tables) -> Callable[[Blank], Filled]:
    """A masked language model that looks at the word before the blank."""

    def answer(blank: Blank) -> Filled:
        left = blank.fields[blank.field][: blank.start].split()
        guesses = sorted(tables.get(left[-1].lower() if left else "", ()), key=lambda guess: -guess[1])
        return Filled(tuple(Guess(word, logit, True) for word, logit in guesses[: blank.k]), 10.0)

    return answer


def chance(fields: tuple[str, ...]) -> float:
    """A victim without rhyme or reason: every text has a chance of its own."""
    return int.from_bytes(hashlib.sha256("|".join(fields).encode()).digest()[:4], "big") / 2**32


def random_victim(fields: tuple[str, ...]) -> tuple[float, ...]:
    return (1 - chance(fields), chance(fields))


def task(tables: Tables, victim: Callable[[Any], Any] = random_victim, **settings: Any) -> BiasTask:
    settings = {"pairs": GENDER, "k": 3, "most": 10**9, "breadth": 1, "model": WordCount({}), **settings}
    near = settings.pop("near", Neighbourhood(MaskedWords(k=20, gap=3.0)))
    service = settings.pop("service", None) or Instant(victim)
    judge = settings.pop("judge", None) or Instant(victim)
    return BiasTask(
        name="bias:toy",
        target=Target(settings.pop("model"), service, judge, 2),
        services={"masked_lm": Instant(fill(tables))},
        near=near,
        **settings,
    )


def measure(text: str | tuple[str, str], tables: Tables, **settings: Any) -> Record:
    return now(task(tables, **settings)(Example.of(text, 0)))


def details(record: Record) -> Any:
    """What was found, as the record's JSON has it."""
    return record.to_row()["details"]
