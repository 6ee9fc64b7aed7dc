"""How many substitutions a prediction withstands, proven (Yang et al. 2022, the simple prover).

Level j holds the texts with exactly j substitutions. Level after level is put to the victim, whole; if the label stays
in all of them, j substitutions are withstood. Nothing is sampled or estimated: what is called certified was asked.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from mohs.attacks.method import Ask
from mohs.engine import Answers
from mohs.errors import BadInput
from mohs.models.victim import Fields, Scores
from mohs.space import Space, omega
from mohs.space.omega import Edits

NEAR = 1e-2  # a margin under which the judge is asked: coarse numbers (bf16) are off by less
TIE = 1e-6  # a margin that the victim's numbers cannot be trusted with
_CHUNK = 2048  # texts asked together
_DECIMALS = 6


@dataclass(frozen=True)
class Level:
    """One level that was asked whole."""

    r: int  # substitutions
    size: int  # texts with exactly that many
    margin: float  # the smallest, of the label's probability over the next best
    where: Edits  # the text it was
    digest: str  # of all answers, in whatever order they came
    ties: int = 0  # texts on too small a margin to decide

    def to_json(self) -> dict[str, Any]:
        """As a record keeps it."""
        return {**vars(self), "where": [[place, word] for place, word in self.where.items()]}

    @classmethod
    def from_json(cls, row: dict[str, Any]) -> Level:
        """What to_json wrote."""
        return cls(**{**row, "where": {int(place): str(word) for place, word in row["where"]}})


@dataclass
class Proof:
    """How far a prover came."""

    levels: list[Level] = field(default_factory=list)  # asked whole, from 1 on
    found: Edits | None = None  # an adversarial text
    stopped: str = ""  # what ended it, if neither a text was found nor all was asked: texts, time, or ties

    @property
    def certified(self) -> int:
        """The largest number of substitutions that provably change nothing."""
        return next((level.r - 1 for level in self.levels if level.ties), len(self.levels))


@dataclass(frozen=True)
class Prover:
    """Asks Omega_1, Omega_2 ... of a space, most sensitive positions first, until a text fools the victim.

    max_r: levels; most: texts an example. `late` is asked before each chunk whether time is up.
    """

    max_r: int = 2
    most: int = 1_000_000

    def __post_init__(self) -> None:
        if self.max_r < 0 or self.most < 1:
            raise BadInput(f"max_r={self.max_r} and most={self.most} do not fit; use at least 0 and at least 1.")

    async def __call__(
        self,
        space: Space,
        label: int,
        ask: Ask,
        judge: Answers[Fields, Scores],
        late: Callable[[], bool] = lambda: False,
    ) -> Proof:
        """Levels 1 to max_r, or as many as there are positions."""
        proof = Proof()
        order = list(space.choices)
        asked = 0
        for r, size in enumerate(omega.levels(space.choices, min(self.max_r, len(order)))[1:], 1):
            if asked + size > self.most:
                proof.stopped = "texts"
                return proof
            asked += size
            worst: dict[int, float] = {}
            level = await self._level(r, size, space, order, label, ask, judge, late, proof, worst)
            if level is None:
                return proof
            proof.levels.append(level)
            if level.ties:
                proof.stopped = "ties"
                return proof
            if r == 1:  # where one substitution came nearest, several will
                order.sort(key=lambda place: (worst.get(place, 1.0), place))
        return proof

    async def _level(
        self,
        r: int,
        size: int,
        space: Space,
        order: Sequence[int],
        label: int,
        ask: Ask,
        judge: Answers[Fields, Scores],
        late: Callable[[], bool],
        proof: Proof,
        worst: dict[int, float],
    ) -> Level | None:
        smallest, where, digest, ties = 2.0, dict[int, str](), Digest(), 0
        for chunk in chunks(omega.points_at(space.choices, r, order)):
            if late():
                proof.stopped = "time"
                return None
            texts = [space.text.replace_all(edits) for edits in chunk]
            answers = await ask.victim(texts)
            near = [i for i, scores in enumerate(answers) if margin_of(scores, label) < NEAR]
            if near:  # these the judge decides, whose numbers are the finest there are
                again = await judge.ask([texts[i].fields for i in near])
                for i, scores in zip(near, again, strict=True):
                    answers[i] = scores
            for edits, scores in zip(chunk, answers, strict=True):
                margin = margin_of(scores, label)
                if margin < -TIE:
                    proof.found = edits
                    return None
                ties += margin <= TIE
                digest.add(edits, margin)
                for place in edits:
                    worst[place] = min(worst.get(place, 2.0), margin)
                if margin < smallest:
                    smallest, where = margin, edits
        return Level(r, size, round(smallest, _DECIMALS), where, str(digest), ties)


def margin_of(scores: Scores, label: int) -> float:
    """By how much a label is more probable than the next best."""
    return scores[label] - max(p for other, p in enumerate(scores) if other != label)


def chunks(points: Iterator[Edits]) -> Iterator[list[Edits]]:
    """As many as are asked together."""
    while chunk := list(islice(points, _CHUNK)):
        yield chunk


class Digest:
    """Of texts and their margins, in whatever order they come."""

    def __init__(self) -> None:
        self._sum = 0

    def add(self, edits: Edits, margin: float) -> None:
        """One more text."""
        content = f"{sorted(edits.items())} {round(margin, _DECIMALS) + 0.0:.6f}".encode("utf-8", "surrogatepass")
        self._sum += int.from_bytes(hashlib.blake2b(content, digest_size=16).digest(), "big")

    def __str__(self) -> str:
        return f"{self._sum % 2**128:032x}"
