"""From the probability of each changed word to that of a whole text, and how far both may be off."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

_EDGE = 1e-6  # probabilities are kept this far from 0 and 1, so that they have finite log-odds


@dataclass(frozen=True)
class Calibration:
    """How a judge's probabilities add up, and what is not known about them.

    A text is accepted at most as often as its worst word. If people decided about each word alone, it would be
    accepted as often as the product says. The truth lies between: `worst * (product / worst) ** k`, with k from 0 to
    1. `independence` holds equally likely values of k.

    The judge's own error is a shift and a stretch of its log-odds: `offset`, `slope` and their `correlation` are what a
    finite number of judgements leaves open (standard deviations around 0 and 1). `spread` is how far one kind of text
    lies from another, also as a standard deviation of the shift.
    """

    independence: tuple[float, ...] = (0.0, 0.25, 0.5, 0.75, 1.0)
    offset: float = 0.1
    slope: float = 0.1
    correlation: float = 0.0
    spread: float = 0.3

    @classmethod
    def of(cls, parts: Mapping[str, Any]) -> Calibration:
        """The calibration in a mapping of plain numbers; what is missing is the default."""
        found = {name: float(parts[name]) for name in ("offset", "slope", "correlation", "spread") if name in parts}
        return cls(tuple(map(float, parts.get("independence", cls.independence))), **found)

    def whole(self, words: Sequence[float]) -> float:
        """The probability of a text from those of its changed words: 1 without any, nan if one is nan."""
        if not words:
            return 1.0
        if any(map(math.isnan, words)):
            return math.nan
        worst = min(words)
        rest = math.prod(words) / worst if worst > 0 else 0.0
        return worst * sum(math.pow(rest, k) for k in self.independence) / len(self.independence)

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """What to store; `of` reads it."""
        numbers = {"offset": self.offset, "slope": self.slope, "correlation": self.correlation, "spread": self.spread}
        return {name: np.array(value) for name, value in {"independence": self.independence, **numbers}.items()}

    def redrawn(self, texts: Sequence[Sequence[float]], draws: int, random: np.random.Generator) -> Floats:
        """The probabilities of texts as they might also be: one row for each draw of what is not known.

        A text is given by the probabilities of its changed words, of which it has at least one.
        """
        found, done = np.empty((draws, len(texts))), 0
        for rows in self.redrawn_by_rows(texts, draws, random):
            found[done : done + len(rows)] = rows
            done += len(rows)
        return found

    def redrawn_by_rows(
        self, texts: Sequence[Sequence[float]], draws: int, random: np.random.Generator
    ) -> Iterator[Floats]:
        """The rows of `redrawn`, some at a time, for more texts than fit into memory a thousand times.

        `random` is used before the first rows only.
        """
        if not texts:
            yield np.zeros((draws, 0))
            return
        starts = [0, *accumulate(map(len, texts))][:-1]
        words = np.clip(np.concatenate([np.asarray(text, np.float64) for text in texts]), _EDGE, 1 - _EDGE)
        odds = np.log(words) - np.log1p(-words)
        shift, stretch = random.standard_normal((2, draws, 1))
        apart = math.sqrt(max(0.0, 1 - self.correlation**2))
        slope = 1 + self.slope * (self.correlation * shift + apart * stretch)
        offset = self.offset * shift + self.spread * random.standard_normal((draws, 1))
        k = random.choice(np.asarray(self.independence), draws)
        step = max(1, (1 << 20) // len(words))
        for first in range(0, draws, step):
            some = slice(first, first + step)
            logs = -np.logaddexp(0.0, -(offset[some] + slope[some] * odds))  # log of the shifted probability
            worst = np.minimum.reduceat(logs, starts, axis=1)
            rest = np.add.reduceat(logs, starts, axis=1) - worst
            yield np.exp(worst + k[some, None] * rest)
