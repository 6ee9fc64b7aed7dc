"""Texts of a space as arrays of numbers: which positions change, and to which of their words.

Positions and words are counted from 0 in the order of the space's choices; -1 means no change.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from mohs.attacks.slices import slices
from mohs.bounds.distinct import Distinct
from mohs.bounds.pace import FIRST_PART, Pace
from mohs.engine import Answers
from mohs.errors import VictimError
from mohs.models.sheets import Layout, Sheet, layout_of
from mohs.models.victim import Fields, Scores, differ, traits_of
from mohs.space import Space
from mohs.space.omega import Edits
from mohs.text import Text

Whole = npt.NDArray[np.int32]
Table = npt.NDArray[np.float64]

TIE = 1e-6  # a margin up to this is within rounding error for every victim
_NEAR_LEAD = 0.02  # in logits: below this lead the judge decides
_LEAST_COARSE_LEAD = 0.1  # the least such lead for a victim of low precision
_TEXTS_COMPARED_WITH_THE_JUDGE = 64  # for a victim of low precision
_NEAR_FACTOR = 4  # its lead is this many times the largest difference from the judge on those texts
_LEAST_PROBABILITY = 1e-12  # smaller ones are raised to this before taking the logarithm
_FIRST_CHUNK = 512  # texts; many searches end there
_LARGEST_CHUNK = 8192  # texts; chunks double up to this
_LARGEST_GRID_KEPT = 4096  # combinations

NO_ANSWERS: Mapping[Fields, Scores] = {}


class Points:
    """Puts texts of a space to a victim: as rows of tokens if it accepts them, else as strings.

    Near the decision boundary the judge decides, because it has the highest precision. How near depends on the victim:
    one of low precision (such as bf16) is compared with the judge on the first texts.

    alone: asks each text by itself, and never a cache; by default the judge. seed: says which texts are asked twice.
    known: texts with the answers that the judging victim gave before; it must still give them.
    """

    def __init__(
        self,
        space: Space,
        victim: Answers[Fields, Scores],
        judge: Answers[Fields, Scores],
        model: Any = None,
        sheets: Answers[Sheet, Table] | None = None,
        alone: Answers[Fields, Scores] | None = None,
        seed: str = "",
        known: Mapping[Fields, Scores] = NO_ANSWERS,
    ) -> None:
        self.space = space
        self.distinct = Distinct(space)
        self.places = list(space.choices)
        self.asked = 0
        self.repeated = 0  # of these, combinations of substitutions that gave a text once more
        self.classes = 0  # until the first answer
        self.failing: Edits | None = None  # of the texts asked that have another label, one with the fewest changes
        final = traits_of(model).verdict or model
        self._coarse = self._unseen = final is not model  # it has low precision, and its error is not measured yet
        self.differs = ""  # how the victim contradicted itself: batches or unsteady; then nothing is proven
        self.seed = seed
        self.known = known
        self.tolerance = TIE if model is None else traits_of(final).tolerance
        self.near = _NEAR_LEAD  # in logits
        self._victim = victim
        self._judge = judge
        self._alone = judge if alone is None else alone
        self._sheets = sheets
        self._layout: Layout | None = None
        if sheets is not None and model is not None:
            self._layout = layout_of(model, space.text, space.choices)

    @property
    def sizes(self) -> list[int]:
        """How many words each position may change to."""
        return [len(words) for words in self.space.choices.values()]

    async def within(self, pace: Pace, places: Whole, picks: Whole, label: int) -> Table | None:
        """The margins, asked in parts that keep a time limit; None if the time is up before all are known."""
        # A victim of low precision is compared with the judge on its first texts: these must not depend on the clock.
        parts = pace.parts(len(places), first=_TEXTS_COMPARED_WITH_THE_JUDGE if self._unseen else FIRST_PART)
        found = [await self.margins(places[part], picks[part], label) for part in parts]
        return np.concatenate(found) if sum(map(len, found)) == len(places) else None

    async def margins(self, places: Whole, picks: Whole, label: int) -> Table:
        """The label's probability minus that of the best other class, for each text."""
        self.asked += len(places)
        if self._layout is not None and self._sheets is not None:
            (scores,) = await self._sheets.ask([Sheet(self._layout, places, picks)])
            self._check(scores)
        else:
            scores = await self._read(self._victim, places, picks)
        margins, leads = margins_of(scores, label), _leads(scores, label)
        if self._unseen:
            self._unseen = False
            first = np.arange(min(_TEXTS_COMPARED_WITH_THE_JUDGE, len(places)))
            apart = np.abs(leads[first] - _leads(await self._judged(places[first], picks[first]), label))
            self.near = max(_LEAST_COARSE_LEAD, _NEAR_FACTOR * float(apart.max(initial=0.0)))
        near = np.flatnonzero(np.abs(leads) < self.near)
        fine = await self.fine(places[near], picks[near], label)
        if not self._coarse:
            self._compare(margins[near], fine)
        margins[near] = fine
        self._remember(places, picks, margins)
        return margins

    async def fine(self, places: Whole, picks: Whole, label: int) -> Table:
        """The same, by the judge."""
        return margins_of(await self._judged(places, picks), label) if len(places) else np.zeros(0)

    async def confirmed(self, places: Whole, picks: Whole, label: int, margins: Table) -> Table:
        """The margins by the judge, which must not be far from those that the victim gave."""
        fine = await self.fine(places, picks, label)
        self._compare(margins, fine)
        return fine

    async def repeat(self, places: Whole, picks: Whole, label: int, margins: Table, pace: Pace | None = None) -> None:
        """Ask about some texts again, and about those known before, each by itself.

        Notes in `differs` if the answers are others.
        """
        if self.differs:
            return
        answers = await self._alone.ask(list(self.known))
        if any(differ(one, other, self.tolerance) for one, other in zip(self.known.values(), answers, strict=True)):
            self.differs = "unsteady"
        for part in (pace or Pace()).parts(len(places), "alone"):
            await self._repeat(places[part], picks[part], label, margins[part])

    async def _repeat(self, places: Whole, picks: Whole, label: int, margins: Table) -> None:
        if not len(places) or self.differs:
            return
        again = await self._by_itself(places, picks, label)
        apart = self._apart(margins, again)
        if apart.any():  # its third answer tells noise from batches
            third = await self._by_itself(places[apart], picks[apart], label)
            self.differs = "unsteady" if (np.abs(third - again[apart]) > self.tolerance).any() else "batches"

    async def _by_itself(self, places: Whole, picks: Whole, label: int) -> Table:
        return margins_of(await self._read(self._alone, places, picks), label) if len(places) else np.zeros(0)

    def _compare(self, margins: Table, others: Table) -> None:
        if self._apart(margins, others).any():
            self.differs = self.differs or "batches"

    def _apart(self, margins: Table, others: Table) -> npt.NDArray[np.bool_]:
        """Where two answers differ by more than rounding. Low precision rounds a lot, but must not err."""
        coarse, fine = (margins > TIE) != (others > TIE), np.abs(margins - others) > self.tolerance
        return np.asarray(coarse if self._coarse else fine)

    async def _judged(self, places: Whole, picks: Whole) -> Table:
        return await self._read(self._judge, places, picks)

    async def _read(self, service: Answers[Fields, Scores], places: Whole, picks: Whole) -> Table:
        """The scores of texts as strings; long texts are made and asked in slices."""
        answers: list[Scores] = []
        for some in slices(self.space.text, range(len(places))):
            texts = self.texts(places[some[0] : some[-1] + 1], picks[some[0] : some[-1] + 1])
            answers += await service.ask([text.fields for text in texts])
        scores = _table(answers)
        self._check(scores)
        return scores

    def _check(self, scores: Table) -> None:
        if scores.ndim != 2 or not np.isfinite(scores).all() or scores.shape[1] != (self.classes or scores.shape[1]):
            raise VictimError("The victim's scores are not finite, or not equally many for each text.")
        self.classes = scores.shape[1]

    def _remember(self, places: Whole, picks: Whole, margins: Table) -> None:
        fell = np.flatnonzero(margins < -TIE)
        if len(fell):
            changes = (places[fell] >= 0).sum(axis=1)
            fewest = int(changes.argmin())
            if self.failing is None or changes[fewest] < len(self.failing):
                self.failing = self.edits(places[fell[fewest]].tolist(), picks[fell[fewest]].tolist())

    def texts(self, places: Whole, picks: Whole) -> list[Text]:
        """The texts themselves."""
        return [self.space.text.replace_all(edits) for edits in map(self.edits, places.tolist(), picks.tolist())]

    def edits(self, places: Sequence[int], picks: Sequence[int]) -> Edits:
        """The substitutions of one text."""
        found = {self.places[at]: word for at, word in zip(places, picks, strict=True) if at >= 0}
        return {place: self.space.choices[place][word] for place, word in found.items()}


def _table(answers: Sequence[Scores]) -> Table:
    if len(set(map(len, answers))) > 1:
        raise VictimError("The victim's scores are not finite, or not equally many for each text.")
    return np.array(answers, np.float64)


def _leads(scores: Table, label: int) -> Table:
    """The label's lead over the best other class, in logits."""
    logs = np.log(np.maximum(scores, _LEAST_PROBABILITY))
    return margins_of(logs, label)


def margins_of(scores: Table, label: int) -> Table:
    """The label's score minus that of the best other class, in each row."""
    others = np.delete(scores, label, axis=1)
    found: Table = scores[:, label] - others.max(axis=1)
    return found


@dataclass(frozen=True)
class Block:
    """All texts that change certain positions: some to a fixed word, the others to any of their words (-1)."""

    places: tuple[int, ...]  # in order
    picks: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Chunk:
    """Texts to ask together, block by block."""

    places: Whole
    picks: Whole
    runs: tuple[tuple[Block, int], ...]  # each block with its number of texts


def texts_at(positions: Sequence[int], r: int) -> Iterator[Block]:
    """Every text with exactly r changes, in the order of the positions."""
    free = (-1,) * r
    return (Block(tuple(sorted(places)), free) for places in combinations(positions, r))


def chunks(sizes: Sequence[int], blocks: Iterable[Block | None]) -> Iterator[Chunk | None]:
    """The texts of blocks, lazily, in chunks that grow. None is passed through."""
    room = most = _FIRST_CHUNK
    runs: list[tuple[Block, int]] = []
    picks: list[Whole] = []
    for block in blocks:
        if block is None:
            yield None
            continue
        shape = tuple(1 if pick >= 0 else sizes[at] for at, pick in zip(block.places, block.picks, strict=True))
        base = np.maximum(block.picks, 0).astype(np.int32)
        start, total = 0, prod(shape)
        while start < total:
            end = min(total, start + room)
            runs.append((block, end - start))
            picks.append(_picks(shape, start, end) + base)
            room -= end - start
            start = end
            if not room:
                yield _chunk(runs, picks)
                room = most = min(2 * most, _LARGEST_CHUNK)
                runs, picks = [], []
    if runs:
        yield _chunk(runs, picks)


def _chunk(runs: list[tuple[Block, int]], picks: list[Whole]) -> Chunk:
    places = np.array([block.places for block, _ in runs], np.int32).reshape(len(runs), -1)
    return Chunk(np.repeat(places, [count for _, count in runs], axis=0), np.concatenate(picks), tuple(runs))


def _picks(shape: tuple[int, ...], start: int, end: int) -> Whole:
    if prod(shape) <= _LARGEST_GRID_KEPT:
        return _grid(shape)[start:end]
    return np.stack(np.unravel_index(np.arange(start, end), shape), axis=1).astype(np.int32)


@lru_cache(maxsize=1024)
def _grid(shape: tuple[int, ...]) -> Whole:
    """Every combination of picks, in order."""
    return np.stack(np.unravel_index(np.arange(prod(shape)), shape), axis=1).astype(np.int32) if shape else _NOTHING


_NOTHING: Whole = np.zeros((1, 0), np.int32)
NO_TEXTS: tuple[Whole, Whole] = (_NOTHING[:0], _NOTHING[:0])  # their places and picks
