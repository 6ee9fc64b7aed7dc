"""The substitution ensemble: post-processing of Hauser et al. 2021, Section 7.1."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from random import Random
from typing import Any

from mohs.defences.versions import Table, by_logits, chosen
from mohs.defences.words import offered, open_places, source_of
from mohs.errors import BadInput
from mohs.models.victim import Fields
from mohs.text import Text


@dataclass(frozen=True)
class Ensemble:
    """N versions with 40% of the non-stopwords exchanged at random; their logits are added up.

    1. Of the words that are no stopwords, a share `rate` is chosen uniformly.
    2. Each is exchanged for a word drawn uniformly from its candidates: the 50 nearest neighbours with a cosine of at
       least `cosine`, or all synonyms in WordNet (Appendix A.3). A word without candidates stays.
    3. The class with the largest sum of logits over the versions wins (Eq. 7.3).

    The thesis leaves open how 40% is rounded: here to the nearest whole number, at least one word. It draws anew for
    every question; here the draw is a function of the text and the key.
    """

    n: int = 8
    rate: float = 0.4
    words: str = "neighbours"
    k: int = 50
    cosine: float = 0.5
    books: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    scores_needed = True

    def __post_init__(self) -> None:
        if self.n < 1:
            raise BadInput(f"An ensemble has at least one version, not n={self.n}.")
        if not 0 < self.rate <= 1:
            raise BadInput(f"The ensemble's rate={self.rate} must be a share above 0 and at most 1, such as 0.4.")
        source_of(self.words, self.k, self.cosine)

    @property
    def needs(self) -> tuple[str, ...]:
        """The word book of its source."""
        return source_of(self.words, self.k, self.cosine).needs

    @cached_property
    def _known(self) -> dict[str, list[str]]:
        return {}  # candidates by word

    def versions(self, fields: Fields, random: Random) -> list[Fields]:
        """The versions of one text."""
        text = Text(*fields)
        places = open_places(text)
        options = offered(text, places, source_of(self.words, self.k, self.cosine), self.books, self._known)
        found = []
        for _ in range(self.n):
            picked = [places[i] for i in chosen(len(places), self.rate, random)]
            found.append(text.replace_all({p: random.choice(options[p]) for p in picked if options[p]}).fields)
        return found

    def combined(self, table: Table) -> Table:
        """The sum of logits decides."""
        return by_logits(table)
