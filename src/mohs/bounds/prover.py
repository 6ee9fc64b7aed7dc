"""Proves how many substitutions a prediction withstands (Yang et al. 2022, the simple prover).

Level j is the set of texts with exactly j substitutions. The prover asks the victim about one level after another. If
the label holds in all texts of levels 1 to j, the prediction withstands j substitutions. Nothing is sampled or
estimated: every certified text was asked, or follows from a sound bound (`mohs.bounds.cnn_bound`). Some texts of every
level are asked again, each by itself. If the victim then answers otherwise, nothing is proven.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from mohs.bounds import strict
from mohs.bounds.again import Again
from mohs.bounds.pace import Pace
from mohs.bounds.points import TIE, Block, Chunk, Points, Table, chunks, texts_at
from mohs.bounds.pruning import Bound, Open
from mohs.engine import others_first
from mohs.errors import BadInput
from mohs.models.victim import Scores
from mohs.space import omega
from mohs.space.omega import Edits

_TIMES_AS_MANY_WITH_A_BOUND = 50  # with a bound a level may exceed `most` by this factor: most texts are never asked
_MARGIN_DECIMALS = 6


@dataclass(frozen=True)
class Level:
    """One level that was checked completely."""

    r: int  # substitutions
    size: int  # combinations of exactly that many: as many as texts, if every substitute is one word
    margin: float  # the smallest margin of the label's probability, or the smallest bound if that is smaller
    where: Edits  # the text with this margin; empty for a bound
    digest: str  # hash of all answers, by block; does not depend on the order of the blocks
    ties: int = 0  # texts with a margin too small to decide
    pruned: int = 0  # texts that a bound proved, so that they were not asked

    def to_json(self) -> dict[str, Any]:
        """The form in a record."""
        return {**vars(self), "where": [[place, word] for place, word in self.where.items()]}

    @classmethod
    def from_json(cls, row: Any) -> Level:
        """Read what to_json wrote, and nothing else."""
        strict.exactly(row, [f.name for f in fields(cls)], "a level")
        where = strict.by_place(row["where"], "'where'")
        return cls(
            r=strict.whole(row["r"], "the number of a level", 1),
            size=strict.whole(row["size"], "the size of a level", 1),
            margin=strict.real(row["margin"], "the margin of a level", 0, 1),
            where={place: strict.string(word, "a word of 'where'") for place, word in where},
            digest=strict.string(row["digest"], "the digest of a level", empty=True),
            ties=strict.whole(row["ties"], "the number of ties"),
            pruned=strict.whole(row["pruned"], "the number of texts that a bound proved"),
        )


@dataclass
class Proof:
    """What a prover has shown."""

    levels: list[Level] = field(default_factory=list)  # checked completely, from level 1 on
    texts: list[int] = field(default_factory=list)  # how many different texts each level has that no lower one has
    found: Edits | None = None  # an adversarial text
    stopped: str = ""  # why it stopped early (texts, time, ties ...); empty if it found a text or checked all

    @property
    def certified(self) -> int:
        """The largest number of substitutions that provably do not change the label."""
        return next((level.r - 1 for level in self.levels if level.ties), len(self.levels))


@dataclass(frozen=True)
class Prover:
    """Checks levels 1, 2 ... of a space, most sensitive positions first, until a text fools the victim.

    max_r: the highest level. most: the most texts to ask per example.
    """

    max_r: int = 2
    most: int = 1_000_000

    def __post_init__(self) -> None:
        if self.max_r < 0 or self.most < 1:
            raise BadInput(f"max_r is {self.max_r} and most is {self.most}; they must be at least 0 and at least 1.")

    async def __call__(
        self,
        points: Points,
        label: int,
        pace: Pace | None = None,
        bound: Bound | None = None,
        order: Sequence[int] = (),
    ) -> Proof:
        """Check levels 1 to max_r, or up to the number of positions. A bound spares texts from level 2 on.

        pace: keeps a time limit; a level counts only if it is finished within it. order: the order of the position
        numbers at level 1. Later levels are ordered by the results of level 1.
        """
        proof, pace = Proof(), pace or Pace()
        choices = points.space.choices
        tried = list(order) or list(range(len(choices)))
        before = points.asked
        for r, size in enumerate(omega.levels(choices, min(self.max_r, len(choices)))[1:], 1):
            unsettled = None if bound is None or r == 1 else Open(bound, points, tried, r)
            if points.asked - before + size > self.most * (1 if unsettled is None else _TIMES_AS_MANY_WITH_A_BOUND):
                proof.stopped = "texts"
                return proof
            walk = Walk(points, label, pace)
            for chunk in chunks(points.sizes, texts_at(tried, r) if unsettled is None else unsettled):
                if pace.late:
                    proof.stopped = "time"
                    return proof
                if chunk is None:
                    await others_first()
                elif points.asked - before + len(chunk.places) > self.most:
                    proof.stopped = "texts"
                    return proof
                else:
                    fell = await walk(chunk)
                    if points.differs:
                        return Proof(found=walk.where if fell else None, stopped=points.differs)
                    if fell:
                        proof.found = walk.where
                        return proof
            await walk.repeat()
            if points.differs:
                return Proof(stopped=points.differs)
            if pace.late:
                proof.stopped = "time"
                return proof
            proof.levels.append(walk.level(r, size, unsettled))
            proof.texts.append(size - walk.repeated)
            if walk.ties:
                proof.stopped = "ties"
                return proof
            if r == 1:  # the positions where one substitution came nearest to another label go first
                tried.sort(key=lambda place: (walk.nearest.get(place, 2.0), place))
        return proof


class Walk:
    """Puts the texts of a level to a victim. Keeps the smallest margin and a digest of all margins."""

    def __init__(self, points: Points, label: int, pace: Pace | None = None) -> None:
        self._points = points
        self._label = label
        self._pace = pace or Pace()
        self._digest = Digest()
        self._again = Again(points.seed)
        self.margin = 2.0
        self.where: Edits = {}
        self.ties = 0
        self.repeated = 0  # combinations of substitutions that gave a text once more
        self.nearest: dict[int, float] = {}  # the smallest margin of the texts that change a position

    async def __call__(self, chunk: Chunk) -> bool:
        """Ask about some texts; true if one of them has another label. Gives up silently when the time is up."""
        points = self._points
        margins = await points.within(self._pace, chunk.places, chunk.picks, self._label)
        if margins is None:
            return False
        repeated = len(margins) - int(points.distinct.first(chunk.places, chunk.picks).sum())
        self.repeated += repeated
        points.repeated += repeated
        worst = int(margins.argmin())
        if margins[worst] < -TIE:  # the judge must confirm an adversarial text
            (margins[worst],) = await self._confirmed(chunk, np.array([worst]), margins)
            if margins[worst] >= -TIE:
                fell = np.flatnonzero(margins < -TIE)
                margins[fell] = await self._confirmed(chunk, fell, margins)
                worst = int(margins.argmin())
        if margins[worst] < self.margin:
            self.margin = float(margins[worst])
            self.where = points.edits(chunk.places[worst].tolist(), chunk.picks[worst].tolist())
        if self.margin < -TIE:
            return True
        self.ties += int((margins <= points.tolerance).sum())
        self._again.add(chunk.places, chunk.picks, margins)
        start = 0
        for block, count in chunk.runs:
            own = margins[start : start + count]
            self._digest.add(block, own)
            start += count
            for place in block.places if len(block.places) == 1 else ():
                self.nearest[place] = min(self.nearest.get(place, 2.0), float(own.min()))
        return False

    async def _confirmed(self, chunk: Chunk, rows: npt.NDArray[np.intp], margins: Table) -> Table:
        return await self._points.confirmed(chunk.places[rows], chunk.picks[rows], self._label, margins[rows])

    async def repeat(self) -> None:
        """Ask about some of the texts again; the points then know whether the victim contradicts itself."""
        await self._points.repeat(self._again.places, self._again.picks, self._label, self._again.margins, self._pace)

    @property
    def digest(self) -> str:
        """The digest of all answers so far."""
        return str(self._digest)

    def level(self, r: int, size: int, unsettled: Open | None) -> Level:
        """The result, once every text of a level was asked or proven by a bound."""
        margin, where, pruned = self.margin, self.where, 0
        if unsettled is not None:
            pruned, least = unsettled.settled, unsettled.margin(self._points.classes)
            margin, where = (margin, where) if margin <= least else (least, {})
        return Level(r, size, round(margin, _MARGIN_DECIMALS), where, self.digest, self.ties, pruned)


def margin_of(scores: Scores, label: int) -> float:
    """The label's probability minus that of the best other class."""
    return scores[label] - max(p for other, p in enumerate(scores) if other != label)


class Digest:
    """A hash of the margins of all texts, by block. The order of the blocks does not matter."""

    def __init__(self) -> None:
        self._sum = 0
        self._block: Block | None = None
        self._own: Any = None

    def add(self, block: Block, margins: Table) -> None:
        """Add the margins of the next texts of a block."""
        if block != self._block:
            self._close()
            self._block = block
            self._own = hashlib.blake2b(repr((block.places, block.picks)).encode(), digest_size=16)
        self._own.update(np.rint(margins * 10**_MARGIN_DECIMALS).astype("<i4").tobytes())

    def _close(self) -> None:
        if self._own is not None:
            self._sum += int.from_bytes(self._own.digest(), "big")
            self._block = self._own = None

    def __str__(self) -> str:
        self._close()
        return f"{self._sum % 2**128:032x}"
