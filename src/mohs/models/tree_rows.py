"""Dependency trees as numbers: the words and relations that a tree auto-encoder knows, and batches of trees.

A relation is told apart by the side of the head on which the dependent stands, and by its number among those of the
same relation and side: the second adverb before a verb is `advmod<1`. So siblings do not stand in one another's place.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import torch
from torch import Tensor

from mohs.text.parses import Parse, depths

UNKNOWN = 0  # the number of a word or relation that is not known
_MOST_ALIKE = 5  # siblings alike that are told apart; further ones share a relation
_LEAST_SEEN = 3  # rarer relations count as unknown


@dataclass(frozen=True)
class Row:
    """The trees of a parse: one number a token."""

    words: tuple[int, ...]
    relations: tuple[int, ...]
    heads: tuple[int, ...]
    depths: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.words)


@dataclass(frozen=True)
class Lexicon:
    """The words, in lower case, and the relations, in the order of their numbers from 1 on."""

    words: tuple[str, ...]
    relations: tuple[str, ...]

    @classmethod
    def of(cls, parses: Iterable[Parse], min_count: int) -> Lexicon:
        """The words that occur often enough, and the relations, most frequent first."""
        words: Counter[str] = Counter()
        relations: Counter[str] = Counter()
        for parse in parses:
            words.update(token.text.lower() for token in parse)
            relations.update(relations_of(parse))
        return cls(_frequent(words, min_count), _frequent(relations, _LEAST_SEEN))

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of each word."""
        return {word: number for number, word in enumerate(self.words, 1)}

    @cached_property
    def digest(self) -> str:
        """A hash of the words and relations."""
        return hashlib.sha256("\n".join([*self.words, "", *self.relations]).encode()).hexdigest()[:16]

    def row(self, parse: Parse) -> Row:
        """The numbers of a parse."""
        return Row(
            tuple(self.numbers.get(token.text.lower(), UNKNOWN) for token in parse),
            tuple(self._relations.get(relation, UNKNOWN) for relation in relations_of(parse)),
            tuple(token.head for token in parse),
            tuple(depths(parse)),
        )

    @cached_property
    def _relations(self) -> dict[str, int]:
        return {relation: number for number, relation in enumerate(self.relations, 1)}


def relations_of(parse: Parse) -> list[str]:
    """The relation of each token to its head, with its side and its number among those alike."""
    seen: Counter[tuple[int, str]] = Counter()
    found = []
    for number, token in enumerate(parse):
        if token.head == number:
            found.append("ROOT")
            continue
        plain = f"{token.relation}{'<' if number < token.head else '>'}"
        found.append(f"{plain}{min(seen[token.head, plain], _MOST_ALIKE)}")
        seen[token.head, plain] += 1
    return found


class Forest(NamedTuple):
    """The trees of some rows, level by level: first all roots, then all their dependents, and so on."""

    words: Tensor
    relations: Tensor
    parents: Tensor  # places in the level above; unused for roots
    levels: tuple[int, ...]  # where each level starts, and where the last one ends
    places: Tensor  # where each token of the rows, one after the other, stands in this order


def forest_of(rows: Sequence[Row], device: str = "cpu") -> Forest:
    """Put the trees of some rows together. There must be at least one token."""
    words = [word for row in rows for word in row.words]
    relations = [relation for row in rows for relation in row.relations]
    deep = [depth for row in rows for depth in row.depths]
    heads, start = [], 0
    for row in rows:
        heads += [start + head for head in row.heads]
        start += len(row)
    order = sorted(range(len(words)), key=deep.__getitem__)  # stable, so the order within a level is that of the rows
    places = [0] * len(order)
    for place, token in enumerate(order):
        places[token] = place
    sizes = Counter(deep)
    levels = [0]
    for depth in range(len(sizes)):
        levels.append(levels[-1] + sizes[depth])
    above = [0 if not deep[token] else places[heads[token]] - levels[deep[token] - 1] for token in order]
    return Forest(
        torch.tensor([words[token] for token in order], device=device),
        torch.tensor([relations[token] for token in order], device=device),
        torch.tensor(above, device=device),
        tuple(levels),
        torch.tensor(places, device=device),
    )


def _frequent(counts: Counter[str], least: int) -> tuple[str, ...]:
    return tuple(key for count, key in sorted((-count, key) for key, count in counts.items()) if -count >= least)
