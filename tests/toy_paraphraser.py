"""A paraphraser whose answers can be worked out by hand."""

from __future__ import annotations

from typing import Any

from mohs.engine import by_size
from mohs.text import pocket
from mohs.text.questions import Rephrasing


class ToyParaphraser:
    """Answer `n` has the first bundled neighbour of every word from the `n`th on, counting from one.

    It writes small letters. What stands in square brackets at the start is an order, whose length in letters is the
    number of words that an answer leaves as they are.
    """

    name = "toy paraphraser"
    fingerprint = "toy-paraphraser-1"
    in_flight = 1

    def plan(self, items: list[Rephrasing]) -> list[list[Rephrasing]]:
        return by_size(items, lambda item: len(item.text), 16)

    def launch(self, batch: list[Rephrasing]) -> list[Rephrasing]:
        return batch

    def collect(self, ticket: list[Rephrasing]) -> list[tuple[str, ...]]:
        return [self.answers(item) for item in ticket]

    def answers(self, item: Rephrasing) -> tuple[str, ...]:
        text, kept = item.text, 0
        if text.startswith("["):
            order, _, text = text.partition("] ")
            kept = len(order) % 5
        words = text.lower().split()
        found = [" ".join([*words[:n], *map(near, words[n:])]) for n in range(kept, kept + item.k)]
        return tuple(dict.fromkeys(one for one in found if one))


def near(word: str) -> Any:
    """The nearest word; the word itself if it is unknown."""
    return next((other for other, _ in pocket.lexicon().near(word.strip(".,!?"), 1, 0.5)), word)
