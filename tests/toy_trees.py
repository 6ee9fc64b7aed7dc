"""A stand-in for a tree auto-encoder that searches nothing: it replaces the first words by their bundled neighbours."""

from __future__ import annotations

from typing import Any

from mohs.text.tree_search import Decoded, TreeQuestion
from tests.toys import Wordlike


class ToyTrees:
    """The strings with the first one, two, three ... words replaced that may change. From the third on it hopes."""

    name = "toy trees"
    fingerprint = "toy-trees-1"
    in_flight = 1
    reconstruction = 0.95

    def plan(self, items: list[TreeQuestion]) -> list[list[TreeQuestion]]:
        return [[item] for item in sorted(items, key=repr)]

    def launch(self, batch: list[TreeQuestion]) -> list[TreeQuestion]:
        return batch

    def collect(self, ticket: list[TreeQuestion]) -> list[list[Decoded]]:
        return [self.answer(item) for item in ticket]

    def answer(self, item: TreeQuestion) -> list[Decoded]:
        words: Any = Wordlike()
        string = item.fields[item.number]
        found: list[Decoded] = []
        moved = 0
        for token, fixed in zip(item.parse, item.fixed, strict=True):
            near = words.near(token.text, 1)
            if not fixed and near:
                string = string[: token.start + moved] + near[0] + string[token.end + moved :]
                moved += len(near[0]) - len(token.text)
                found.append(Decoded(string, len(found), 2.0 - len(found), float(len(found))))
        return found
