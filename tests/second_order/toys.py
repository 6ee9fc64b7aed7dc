"""Algorithm 1 of Zhang et al. 2021 written out plainly, and a masked language model with tables by hand."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any

from mohs.attacks.method import Ask
from mohs.engine import Meter
from mohs.text.questions import Blank, Filled, Guess
from tests.toys import Instant, asked_with_texts

Words = tuple[str, ...]
Tables = Mapping[str, Sequence[tuple[str, float]]]  # the word before a blank -> guesses and their logits

KAPPA, DELTA = 3, 3.0


def fill(tables: Tables) -> Callable[[Blank], Filled]:
    """A masked language model that looks at the word before the blank."""

    def answer(blank: Blank) -> Filled:
        string = blank.fields[blank.field]
        left = string[: blank.start].split()
        guesses = sorted(tables.get(left[-1] if left else "", ()), key=lambda guess: -guess[1])
        chances = tuple(-3.0 if word == string[blank.start : blank.end] else -1.0 for word in blank.words)
        return Filled(tuple(Guess(word, logit, True) for word, logit in guesses[: blank.k]), 10.0, chances)

    return answer


def neighbours(words: Words, tables: Tables, frozen: int, avoid: set[str]) -> set[Words]:
    """Neighbor_1."""
    found = set()
    for place in range(len(words)):
        guesses = tables.get(words[place - 1] if place else "", ())
        logits = sorted((logit for _, logit in guesses), reverse=True)
        if place == frozen or not logits:
            continue
        least = max(logits[KAPPA] if len(logits) > KAPPA else float("-inf"), logits[0] - DELTA)
        for word, logit in guesses:
            if logit > least and word != words[place] and word not in avoid:
                found.add((*words[:place], word, *words[place + 1 :]))
    return found


def neighbourhood(words: Words, k: int, tables: Tables, frozen: int, avoid: set[str]) -> set[Words]:
    """Neighbor_k, by its recursion."""
    if k == 0:
        return {words}
    first = neighbours(words, tables, frozen, avoid)
    return set().union(*(neighbourhood(each, k - 1, tables, frozen, avoid) for each in first)) if first else set()


def chances(classes: int, salt: str) -> Callable[[tuple[str, ...]], tuple[float, ...]]:
    """A victim without rhyme or reason: every text has its own answer, mostly the first class, sometimes a tie."""

    def answer(fields: tuple[str, ...]) -> tuple[float, ...]:
        digest = hashlib.sha256(f"{salt}{fields}".encode()).digest()
        weights = [1 + digest[i] % 16 + (10 if i == 0 else 0) for i in range(classes)]
        return tuple(weight / sum(weights) for weight in weights)

    return answer


def ask_of(tables: Tables, victim: Callable[[Any], Any], seed: int = 0, budget: int | None = None) -> Ask:
    return Ask({"masked_lm": Instant(fill(tables))}, Random(seed), Meter(asked_with_texts(victim), budget))
