"""PR, the share of Omega_r that keeps the label (Yang et al. 2022): counted, or estimated with an interval."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from mohs.attacks.method import Ask
from mohs.bounds.intervals import (
    Sequential,
    clopper_pearson,
    hoeffding_interval,
    hoeffding_size,
    needed_clopper_pearson,
)
from mohs.bounds.prover import TIE, margin_of
from mohs.bounds.sampling import draw
from mohs.errors import BadInput
from mohs.space import Space, omega
from mohs.space.omega import Edits
from mohs.text import Text

METHODS = ("clopper-pearson", "hoeffding", "sequential")
_CHUNK = 512
_LOOK = 100  # texts between two looks at a sequential interval


@dataclass(frozen=True)
class Share:
    """With probability 1 - delta the true share lies in the interval, for one example.

    r: substitutions, as a number or as a share of the words that may change ("25%": rounded down, at least one). The
    number of texts is Hoeffding's for epsilon and delta unless given; `sequential` stops as soon as its interval is
    narrow enough. A space of no more texts than would be drawn is counted instead.
    """

    r: str = "25%"
    epsilon: float = 0.025
    delta: float = 0.005
    method: str = "clopper-pearson"
    n: int | None = None

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise BadInput(f"Unknown method {self.method!r}; use {', '.join(METHODS)}.")
        for name, value in (("epsilon", self.epsilon), ("delta", self.delta)):
            if not 0 < value < 1:
                raise BadInput(f"{name} is {value}; it must lie between 0 and 1.")
        self.radius(100)

    def radius(self, words: int) -> int:
        """How many substitutions that is in a text of so many words."""
        number = self.r.removesuffix("%")
        try:
            value = float(number) / 100 if self.r.endswith("%") else int(number)
        except ValueError:
            raise BadInput(f"The radius {self.r!r} is neither a whole number nor a share such as 25%.") from None
        if value < 0 or not math.isfinite(value):
            raise BadInput(f"The radius {self.r!r} does not fit; it must not be negative.")
        return max(1, math.floor(value * words + 1e-9)) if self.r.endswith("%") else int(value)

    @property
    def draws(self) -> int:
        """How many texts are drawn, or with `sequential` at most."""
        if self.n is not None:
            return self.n
        if self.method == "sequential":
            return needed_clopper_pearson(self.epsilon, self.delta / 2)
        return hoeffding_size(self.epsilon, self.delta)

    async def __call__(self, space: Space, label: int, words: int, ask: Ask, seed: str) -> dict[str, Any]:
        """The share of an example's texts, as its record keeps it."""
        r = min(self.radius(words), len(space.choices))
        size = omega.size(space.choices, r)
        found: dict[str, Any] = {"r": r, "size": size if size < 2**53 else float(size) if size < 10**300 else math.inf}
        if size <= self.draws:
            texts = map(space.text.replace_all, omega.points(space.choices, r))
            hits, asked = await self._held(texts, label, ask)
            share = hits / asked
            return found | {"n": asked, "hold": hits, "value": share, "low": share, "high": share, "method": "counted"}
        drawn = _drawn(space, r, self.draws, seed)
        if self.method == "sequential":
            return found | await self._sequential(drawn, label, ask)
        hits, asked = await self._held(drawn, label, ask)
        low, high = (hoeffding_interval if self.method == "hoeffding" else clopper_pearson)(hits, asked, self.delta)
        return found | {
            "n": asked,
            "hold": hits,
            "value": hits / asked,
            "low": low,
            "high": high,
            "method": self.method,
        }

    async def _sequential(self, texts: Iterator[Text], label: int, ask: Ask) -> dict[str, Any]:
        """Until the interval is narrow enough."""
        sequence = Sequential(self.delta, self.draws)
        while (room := sequence.before_last) and sequence.interval.half_width > self.epsilon:
            some = min(_LOOK, room)
            hits, _ = await self._held(islice(texts, some), label, ask)
            sequence.add(hits, some)
        low, high = sequence.interval
        found = {"n": sequence.n, "hold": sequence.hits, "value": sequence.hits / sequence.n}
        return found | {"low": low, "high": high, "method": self.method}

    async def _held(self, texts: Iterator[Text], label: int, ask: Ask) -> tuple[int, int]:
        """How many texts keep the label, and of how many."""
        hits = asked = 0
        while chunk := list(islice(texts, _CHUNK)):
            answers = await ask.victim(chunk)
            hits += sum(margin_of(scores, label) > TIE for scores in answers)
            asked += len(chunk)
        return hits, asked


def _drawn(space: Space, r: int, n: int, seed: str) -> Iterator[Text]:
    """Texts of Omega_r, each with the same probability, the original among them."""
    random = np.random.default_rng(list(hashlib.sha256(seed.encode("utf-8", "surrogatepass")).digest()))
    places = list(space.choices)
    positions, words = draw([len(space.choices[place]) for place in places], r, n, random)
    for row, chosen in zip(positions.tolist(), words.tolist(), strict=True):
        edits: Edits = {
            places[at]: space.choices[places[at]][word] for at, word in zip(row, chosen, strict=True) if at >= 0
        }
        yield space.text.replace_all(edits)
