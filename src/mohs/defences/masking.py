"""Masked versions: the baseline MA_x of Hauser et al. 2021, Appendix A.4."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from mohs.defences.versions import Table, by_logits, chosen
from mohs.errors import BadInput
from mohs.models.victim import Fields
from mohs.text import Text


@dataclass(frozen=True)
class Masking:
    """N versions with a share of the words hidden behind `[MASK]`; their logits are added up.

    `rate` 0.05 is MA_5. All words count, stopwords too. The thesis speaks of words in A.4 and of tokens in 8.1; here a
    share of the words is hidden, and a word of several tokens behind one mask. The thesis also leaves open how the
    share is rounded: here to the nearest whole number, at least one word. `mask` is the word that hides: `[MASK]` for
    BERT, `<mask>` for RoBERTa; a model over whole words reads it as an unknown word.
    """

    n: int = 8
    rate: float = 0.05
    mask: str = "[MASK]"

    needs = ()
    scores_needed = True

    def __post_init__(self) -> None:
        if self.n < 1:
            raise BadInput(f"Masking needs at least one version, not n={self.n}.")
        if not 0 < self.rate <= 1:
            raise BadInput(f"The masking rate={self.rate} must be a share above 0 and at most 1, such as 0.05.")

    def versions(self, fields: Fields, random: Random) -> list[Fields]:
        """The versions of one text."""
        text = Text(*fields)
        return [
            text.replace_all(dict.fromkeys(chosen(len(text), self.rate, random), self.mask)).fields
            for _ in range(self.n)
        ]

    def combined(self, table: Table) -> Table:
        """The sum of logits decides."""
        return by_logits(table)
