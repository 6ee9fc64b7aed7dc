"""Augments training data with copies in which words are swapped for their counterparts (he, she), to reduce bias.

After Zhao et al. 2018 (WinoBias) and Zhang et al. 2021 (double perturbation), section 4.2.1. `Whole` follows the text
of the second paper, `Combinations` its released code. Both swap the words of both texts of a pair and copy the label.

Each word is replaced by the first partner in the list of pairs. Both him and his become her. But her becomes only the
one listed first: him in the released list, his in the bundled one. So the other of the two is never swapped in.

Differs from the released code: the case of a word is kept (He, She), anything after an apostrophe stays (he's, she's),
and the number of combinations is limited.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from random import Random
from typing import Protocol

from mohs.errors import BadInput
from mohs.text import Example, Text
from mohs.text.text import like

Pairs = tuple[tuple[str, str], ...]
_APOSTROPHES = "'’"


class Swap(Protocol):
    """A way to make copies of a text."""

    @property
    def pairs(self) -> Pairs:
        """The pairs of words to swap."""
        ...

    @property
    def name(self) -> str:
        """Its name in options and messages."""
        ...

    def __call__(self, text: Text, chance: Random) -> list[Text]:
        """The copies of a text, without the text itself; none if it has no words to swap."""
        ...


@dataclass(frozen=True)
class _Words:
    pairs: Pairs
    name: str = "pairs"

    @cached_property
    def partners(self) -> dict[str, str]:
        """For each word in lower case its first partner in the pairs."""
        found: dict[str, str] = {}
        for one, other in self.pairs:
            if one.lower() != other.lower():
                found.setdefault(one.lower(), other)
                found.setdefault(other.lower(), one)
        return found


@dataclass(frozen=True)
class Whole(_Words):
    """Makes one copy of each text, with all of its words swapped."""

    def __call__(self, text: Text, chance: Random) -> list[Text]:
        """One copy, or none."""
        words = swappable(text, self.partners)
        return [text.replace_all(words)] if words else []


@dataclass(frozen=True)
class Combinations(_Words):
    """Makes all 2^n combinations of the n swappable words of a text.

    If there are more than `most` combinations, counting the text itself, `most` of them are drawn. These are the text,
    the copy with all words swapped, and random combinations with their opposites. So every word is swapped in exactly
    half of them. In a pair of texts a combination may swap one text and not the other, which can make the label wrong.
    """

    most: int = 64

    def __post_init__(self) -> None:
        if self.most < 2 or self.most % 2:
            raise BadInput(f"most is {self.most}; combinations come in pairs, so give an even number of at least 2.")

    def __call__(self, text: Text, chance: Random) -> list[Text]:
        """At most `most` - 1 copies."""
        words = list(swappable(text, self.partners).items())
        return [
            text.replace_all(dict(pair for place, pair in enumerate(words) if chosen >> place & 1))
            for chosen in self._chosen(len(words), chance)
        ]

    def _chosen(self, count: int, chance: Random) -> list[int]:
        """The combinations of `count` words, each as a bit mask of the words to swap."""
        if 1 << count <= self.most:
            return list(range(1, 1 << count))
        drawn = {0}
        while len(drawn) < self.most // 2:
            drawn.add(chance.getrandbits(count - 1))  # the last word is swapped only in the opposite
        every = (1 << count) - 1
        return sorted((drawn - {0}) | {every - chosen for chosen in drawn})


PRESETS: Mapping[str, type[Whole] | type[Combinations]] = {"paper": Whole, "released": Combinations}


def swappable(text: Text, partners: Mapping[str, str]) -> dict[int, str]:
    """The positions of words that have a partner, with the partner in the same case."""
    found = {}
    for position, word in enumerate(text.words):
        low = word.lower()
        stem = len(word)
        if low not in partners:
            stem = min((word.find(mark) for mark in _APOSTROPHES if mark in word), default=stem)
            low = word[:stem].lower()
        if low in partners:
            other = like(partners[low], word[:stem]) + word[stem:]
            if other != word:
                found[position] = other
    return found


def with_copies(examples: Iterable[Example], swap: Swap, seed: int) -> Iterator[Example]:
    """Each example, followed by its copies."""
    for example in examples:
        yield example
        for number, text in enumerate(swap(example.text, Random(f"{seed}/swap/{example.id}")), 1):
            yield replace(example, id=f"{example.id}/swap {number}", text=text)


def swapped(examples: list[Example], swap: Swap, source: str, seed: int) -> list[Example]:
    """The examples and their copies. Refuses pairs that never occur."""
    found = list(with_copies(examples, swap, seed))
    if len(found) == len(examples):
        count = len({word.lower() for pair in swap.pairs for word in pair})
        raise BadInput(
            f"None of the {count} words of --swap {swap.name} occurs in the training data {source}; "
            "name pairs of words that do, or leave --swap out."
        )
    return found


def digest(swap: Swap) -> str:
    """A hash of the pairs and the way to swap them."""
    return hashlib.sha256(repr(swap).encode()).hexdigest()[:16]
