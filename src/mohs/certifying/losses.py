"""How much of the vote a change of words can cost at most, for the two kinds of smoothing.

Both bounds say: g(X', y) >= g(X, y) - loss, where g(X, y) is the probability that a random version of X gets the label
y. They hold because versions of X and of X' can be drawn together so that they are equal with probability 1 - loss.

Differs from the papers:
- SAFER (Ye et al. 2020) divides the overlap of two perturbation sets by the size of the original word's set. That is
  right if all sets have one size. If the new word's set is larger, a version that both can have is rarer there, and the
  bound fails. Here the overlap is divided by the larger size. With equal sizes it is the paper's.
- RanMASK (Zeng et al. 2021) multiplies the loss with beta, the probability of the label among the versions that show a
  changed word, and estimates it on the original. The changed text can have another one. Here beta is 1.
`published` gives the formulas of the papers. They are estimates, no certificates.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable


def overlap(own: Collection[str], other: Collection[str], *, published: bool = False) -> float:
    """The probability with which uniform draws from two sets can be made equal; as published, that of the paper."""
    common = len(set(own) & set(other))
    return common / (len(own) if published else max(len(own), len(other)))


def safer_loss(overlaps: Iterable[float], budget: int | None) -> float:
    """The loss if at most so many words change. overlaps: for each word that may change, its smallest one."""
    return 1 - math.prod(sorted(overlaps)[:budget])


def ranmask_loss(words: int, kept: int, changed: int, beta: float = 1.0) -> float:
    """The loss if so many of the words change: beta times the probability that some changed word is shown."""
    changed = min(changed, words)
    return beta * (1 - math.comb(words - changed, kept) / math.comb(words, kept)) if kept else 0.0
