"""What a certify run adds to the record of an example."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True)
class VotesFinding:
    """How fresh versions of a text voted."""

    draws: int
    label: int  # votes for the true label
    winner: int  # the class with the most votes; the true label in a tie
    low: float  # one-sided bounds on the label's share, each wrong with probability alpha at most
    high: float


@dataclass(frozen=True)
class BudgetFinding:
    """What holds with at most so many changed words."""

    budget: int | None  # None: any number
    bound: float | None  # above 0 it certifies; None: no bound is known for this example
    certified: bool
    fooled: bool  # the attack found a text with another prediction
    by: str = ""  # the attack that found it, or `every text`
    changed: int | None = None  # words that it changed
    every: bool = False  # every text was asked, so that `fooled` is the truth
    votes: VotesFinding | None = None  # of fresh versions of that text, for a smoothed victim
    undecided: bool = False  # it is certified, and a text lost the vote by so little that this may be chance

    @property
    def contradiction(self) -> bool:
        """Whether the certificate and the attack exclude each other: one of them is wrong."""
        return self.certified and self.fooled


@dataclass(frozen=True)
class CertifyFinding:
    """The certificate of an example and the attack on it, for each budget."""

    method: str  # safer, ranmask, closed form, ibp, lirpa, or cnn bound
    size: float  # combinations of words in the space
    budgets: tuple[BudgetFinding, ...] = ()  # the smallest first
    votes: VotesFinding | None = None  # for the text itself, by fresh versions; smoothed victims only
    asked: int = 0  # versions asked for votes, besides the queries of the attack

    @property
    def contradiction(self) -> bool:
        """Whether a certificate and an attack exclude each other, or a larger budget would be the easier one."""
        return any(found.contradiction for found in self.budgets) or any(
            more.certified > less.certified or less.fooled > more.fooled for less, more in pairwise(self.budgets)
        )
