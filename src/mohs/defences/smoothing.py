"""Randomised smoothing over words: the classifiers that SAFER and RanMASK certify."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from random import Random
from typing import Any

from mohs.defences.versions import Table, by_votes
from mohs.defences.words import offered, open_places, source_of
from mohs.errors import BadInput
from mohs.models.victim import Fields
from mohs.text import Text


@dataclass(frozen=True)
class Safer:
    """SAFER (Ye et al. 2020): every word is drawn uniformly from itself and its synonyms; the versions vote.

    The share of votes stands in place of scores, so a victim that gives labels only can be smoothed. The perturbation
    set of a word is the word and its `k` nearest neighbours with a cosine of at least `cosine`, or its synonyms in
    WordNet. Stopwords stay.
    """

    n: int = 32
    words: str = "neighbours"
    k: int = 100
    cosine: float = 0.8
    books: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    scores_needed = False

    def __post_init__(self) -> None:
        if self.n < 1:
            raise BadInput(f"Smoothing needs at least one version, not n={self.n}.")
        source_of(self.words, self.k, self.cosine)

    @property
    def needs(self) -> tuple[str, ...]:
        """The word book of its source."""
        return source_of(self.words, self.k, self.cosine).needs

    @cached_property
    def _known(self) -> dict[str, list[str]]:
        return {}  # synonyms by word

    def sets(self, text: Text) -> dict[int, list[str]]:
        """The perturbation set of each place that may change: the word itself, then its synonyms."""
        places = open_places(text)
        options = offered(text, places, source_of(self.words, self.k, self.cosine), self.books, self._known)
        return {p: [text.words[p], *options[p]] for p in places if options[p]}

    def versions(self, fields: Fields, random: Random) -> list[Fields]:
        """The versions of one text."""
        text = Text(*fields)
        sets = self.sets(text)
        return [text.replace_all({p: random.choice(words) for p, words in sets.items()}).fields for _ in range(self.n)]

    def combined(self, table: Table) -> Table:
        """The votes decide."""
        return by_votes(table)


@dataclass(frozen=True)
class RanMask:
    """RanMASK (Zeng et al. 2021): all but a share of the words are hidden, and the versions vote.

    `rate` is the share of words that are hidden. The victim should be trained on texts masked in the same way.
    """

    n: int = 32
    rate: float = 0.3
    mask: str = "[MASK]"

    needs = ()
    scores_needed = False

    def __post_init__(self) -> None:
        if self.n < 1:
            raise BadInput(f"Smoothing needs at least one version, not n={self.n}.")
        if not 0 < self.rate < 1:
            raise BadInput(f"The masking rate={self.rate} must be a share above 0 and below 1, such as 0.3.")

    def hidden(self, words: int) -> int:
        """How many of so many words are hidden: rounded to the nearest whole number, at most all but one."""
        return min(max(words - 1, 0), int(self.rate * words + 0.5))

    def versions(self, fields: Fields, random: Random) -> list[Fields]:
        """The versions of one text."""
        text = Text(*fields)
        hidden = self.hidden(len(text))
        return [
            text.replace_all(dict.fromkeys(sorted(random.sample(range(len(text)), hidden)), self.mask)).fields
            for _ in range(self.n)
        ]

    def combined(self, table: Table) -> Table:
        """The votes decide."""
        return by_votes(table)
