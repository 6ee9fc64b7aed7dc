"""Real or altered by a computer? What people guess of mixed texts (Morris et al. 2020, 3.5 and 4.3)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mohs.studies.ratings import Crossed, Estimate, Ratings, share_of
from mohs.studies.validity import Rule, Validity, validity

_ALTERED = 1.0  # a guess as a score


@dataclass(frozen=True)
class Guess:
    """One judgement of one text. text: its name; a text and its altered version may share it, and then count as one."""

    text: str
    judge: str
    altered: bool
    guessed_altered: bool


@dataclass(frozen=True)
class Counts:
    """The four counts: what a text is, then what people guessed.

    Table 4 of the paper has 814, 431, 186 and 570, and calls its rows the truth. Its accuracy (69.2%), its precision
    (75.4%) and its share guessed real (62.2%) are right only if the rows are guesses.
    """

    real_real: int
    real_altered: int
    altered_real: int
    altered_altered: int

    @property
    def total(self) -> int:
        """All judgements."""
        return self.real_real + self.real_altered + self.altered_real + self.altered_altered

    @property
    def accuracy(self) -> float | None:
        """The share of guesses that are right."""
        return _share(self.real_real + self.altered_altered, self.total)

    @property
    def precision(self) -> float | None:
        """The share of altered texts among those guessed altered."""
        return _share(self.altered_altered, self.real_altered + self.altered_altered)

    @property
    def recall(self) -> float | None:
        """The share of altered texts that were recognised."""
        return _share(self.altered_altered, self.altered_real + self.altered_altered)

    @property
    def guessed_real(self) -> float | None:
        """The share of texts guessed real."""
        return _share(self.real_real + self.altered_real, self.total)

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dict: by the truth, then by the guess."""
        return {
            "is real": {"guessed real": self.real_real, "guessed altered": self.real_altered},
            "is altered": {"guessed real": self.altered_real, "guessed altered": self.altered_altered},
        }


@dataclass(frozen=True)
class Confusion:
    """The counts, and shares with intervals for other texts and other judges."""

    counts: Counts
    accuracy: Estimate
    precision: Estimate
    recall: Estimate
    guessed_real: Estimate

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dict."""
        shares = {name: getattr(self, name).to_json() for name in ("accuracy", "precision", "recall", "guessed_real")}
        return {"counts": self.counts.to_json(), **shares}


def confusion(guesses: Sequence[Guess], named: bool = True) -> Confusion:
    """The table of truth and guess. named: whether judges are known."""
    rows = Crossed.of(
        (guess.text for guess in guesses),
        (guess.judge for guess in guesses) if named else None,
        ((guess.text, guess.altered) for guess in guesses),
    )
    altered = np.array([guess.altered for guess in guesses], np.float64)
    guessed = np.array([guess.guessed_altered for guess in guesses], np.float64)
    every = np.ones(len(guesses))
    right = 1.0 * (altered == guessed)
    both = altered * guessed
    hits = int(both.sum())
    counts = Counts(int(right.sum()) - hits, int(guessed.sum()) - hits, int(altered.sum()) - hits, hits)
    return Confusion(
        counts,
        share_of(right, every, rows, "guesses"),
        share_of(both, guessed, rows, "guesses that a text is altered"),
        share_of(both, altered, rows, "guesses about altered texts"),
        share_of(1 - guessed, every, rows, "guesses"),
    )


def recognised(guesses: Iterable[Guess]) -> dict[str, float]:
    """R of each altered text: the share of people who recognised it."""
    return {text: sum(given) / len(given) for text, given in _of_altered(guesses, True).by_item.items()}


def unsuspicious(guesses: Iterable[Guess], epsilon: float, named: bool = True) -> Validity:
    """The share of altered texts that fewer than `epsilon` of their judges recognised (R < epsilon)."""
    rule = Rule("share", answer=_ALTERED, below=epsilon)
    return validity(_of_altered(guesses, named), rule, of="altered texts")


def _of_altered(guesses: Iterable[Guess], named: bool) -> Ratings:
    rows = ((guess.text, guess.judge, float(guess.guessed_altered)) for guess in guesses if guess.altered)
    return Ratings.of(rows, named)


def _share(hits: int, of: int) -> float | None:
    return hits / of if of else None
