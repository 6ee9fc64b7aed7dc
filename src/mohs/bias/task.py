"""Measures the bias of a victim around one example: for all pairs that fit it, at all distances."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from random import Random
from typing import Any, NamedTuple

from mohs.attacks.slices import Made, slices
from mohs.bias.finding import BiasFinding, PairFinding
from mohs.bias.level import UNIT, Level, LevelFinding, Steps
from mohs.bias.pairs import Pairs
from mohs.engine import Answers, BudgetSpent, Meter
from mohs.errors import BadInput
from mohs.models.victim import Fields, Scores
from mohs.records import Outcome, Record
from mohs.space import Services
from mohs.space.estimated import Reached, Walk
from mohs.space.natural import Neighbourhood, levels
from mohs.space.plausible import LONGEST_CHECKED, keeps, word_by_word
from mohs.space.settings import at_least
from mohs.tasks.attempt import Draft, attempt
from mohs.tasks.memory import refuse_too_large
from mohs.tasks.subject import Target
from mohs.text import Example, Text
from mohs.text.text import like

_TEXTS_AT_ONCE = 1024  # not counting their counterparts


@dataclass(frozen=True)
class BiasTask:
    """F(x; p) = P(label | x with the second word) - P(label | x with the first), over the k-neighbours of an example.

    Zhang et al. 2021, section 4, equations 5 and 6. A pair fits if its first word occurs exactly once, at a position
    that may change, and its second word does not occur. The walk of Algorithm 1 keeps that word, changes others, and
    never inserts a word of the blacklist. With `both_directions` a sentence with the second word fits too, if that word
    belongs to only one first word. Two words of a group are a pair in both directions. The released code takes
    `one_pair` a sentence, in either direction.
    """

    name: str
    pairs: Pairs
    target: Target
    services: Mapping[str, Any]  # kind -> Service or word book
    label: int = 1  # the class whose probability is measured
    k: int = 3
    near: Neighbourhood = Neighbourhood()
    most: int = 10_000  # a level with more expected texts than this is sampled ...
    breadth: int = 800  # ... from the neighbours of this many texts of the level before
    seed: int = 0
    budget: int | None = None
    both_directions: bool = False
    by_sample: bool = False  # sentences and texts of sampled levels weigh by how often they were drawn
    one_pair: bool = False  # only the first pair of the list that fits a sentence, in either direction (released code)
    plausible: float | None = None  # with one_pair: how much plausibility a swap may cost (released: 1.5)

    def __post_init__(self) -> None:
        at_least(0, label=self.label, k=self.k)
        at_least(1, most=self.most, breadth=self.breadth)

    async def __call__(self, example: Example) -> Record:
        """The record of an example; an exception becomes the outcome `error`."""
        return await attempt(self.name, example, self.seed, lambda draft: self._measure(example, draft))

    async def _measure(self, example: Example, draft: Draft) -> Outcome:
        target = self.target
        before = await draft.probe(target, example)
        draft.queries = 1
        if self.label >= len(before):
            raise BadInput(f"There is no label {self.label}: {target.model.name} has {len(before)} classes.")
        positions = draft.look(target, example)
        draft.positions = len(positions)
        patches = [patch for patch in self._patches(example) if patch.position in positions]
        # The judge's answer is not reused: its precision may be higher, and the difference would look like a bias.
        # Nor does a cache answer, because the answers themselves make the figure.
        meter = Meter(_Chance(target.anew, self.label), self.budget, key=_digest)
        ask = Services(self.services, Random(f"{self.seed}/{self.name}/{example.id}"))
        if self.one_pair:
            patches = await self._first(example.text, patches, ask)
        if not patches:
            return Outcome.SKIPPED
        found: dict[_Patch, list[LevelFinding]] = {}
        try:
            for position in dict.fromkeys(patch.position for patch in patches):
                here = [patch for patch in patches if patch.position == position]  # they share one walk
                async for measured in self._levels(example.text, here, positions, meter, ask):
                    for patch, level in zip(here, measured, strict=True):
                        found.setdefault(patch, []).append(level.finding())
        except BudgetSpent:
            return Outcome.EXHAUSTED
        finally:
            draft.finding = BiasFinding(tuple(patch.finding(levels) for patch, levels in found.items()))
            draft.queries = max(1, meter.queries)
        return Outcome.MEASURED

    async def _first(self, x: Text, patches: Sequence[_Patch], ask: Services) -> list[_Patch]:
        """The first patch that leaves the text plausible; long texts are not checked."""
        if self.plausible is None or len(x) > LONGEST_CHECKED or not patches:
            return list(patches[:1])
        before = await word_by_word(x, ask)
        for patch in patches:
            put, other = patch.sides(x)
            if keeps(before, await word_by_word(put if other is x else other, ask), self.plausible):
                return [patch]
        return []

    def fits(self, example: Example) -> list[tuple[str, str]]:
        """The pairs that can be measured around an example; with `one_pair`, those of which one may be."""
        positions = self.target.sees(example)
        return [(patch.old, patch.new) for patch in self._patches(example) if patch.position in positions]

    def _patches(self, example: Example) -> Iterator[_Patch]:
        where: dict[str, list[int]] = {}
        for position, word in enumerate(example.text.words):
            where.setdefault(_plain(word), []).append(position)
        free = set(example.positions)  # in a text pair only one text may change; the other must not have these words
        for old, new in self.pairs.holding(where):
            olds, news = where.get(old, []), where.get(new, [])
            if len(olds) == 1 and not news and olds[0] in free:
                yield _Patch(old, new, olds[0], back=False)
            either = self.both_directions or self.one_pair or bool(self.pairs.groups)
            back = either and len(news) == 1 and not olds and news[0] in free
            if back and (self.one_pair or (old, new) in self.pairs.undoable):
                yield _Patch(old, new, news[0], back=True)

    async def _levels(
        self, x: Text, patches: Sequence[_Patch], positions: Sequence[int], meter: Meter[Fields, int], ask: Services
    ) -> AsyncIterator[list[Level]]:
        """The levels of all patches of one word, for each distance from 0 on.

        A level that the budget cuts off is left out.
        """
        found = [Level(0) for _ in patches]
        await _take(found, [Reached(x)], patches, meter, ask.random)
        words = {word for patch in patches for word in (patch.old, patch.new)}
        near = replace(self.near, avoid=self.near.avoid | self.pairs.blacklist | words)
        free = [position for position in positions if position != patches[0].position]
        reached, complete = 0, True
        async for depth, complete, steps in self._walk(x, near, free, ask):
            if reached < depth:
                yield found
                weighed = not complete and not self.by_sample
                reached, found = depth, [Level(depth, complete, steps=Steps() if weighed else None) for _ in patches]
            for start in range(0, len(steps), _TEXTS_AT_ONCE):
                await _take(found, steps[start : start + _TEXTS_AT_ONCE], patches, meter, ask.random)
        yield found
        for depth in range(reached + 1, self.k + 1):  # these distances have no texts
            yield [Level(depth, complete) for _ in patches]

    async def _walk(
        self, x: Text, near: Neighbourhood, free: Sequence[int], ask: Services
    ) -> AsyncIterator[tuple[int, bool, list[Reached]]]:
        hold = partial(_hold, x, self.target.most_memory)
        if self.by_sample:
            walk = levels(x, self.k, near, free, ask, most=self.most, breadth=self.breadth, hold=hold)
            async for depth, complete, texts in walk:
                yield depth, complete, [Reached(text) for text in texts]
        else:
            async for chunk in Walk(x, self.k, near, free, self.most, self.breadth, hold).levels(ask):
                yield chunk


class _Patch(NamedTuple):
    """A pair at one position; `back`: the text has the second word, and the first replaces it."""

    old: str
    new: str
    position: int
    back: bool

    def finding(self, levels: Sequence[LevelFinding]) -> PairFinding:
        """The form in a record."""
        return PairFinding(self.old, self.new, self.position, self.back, tuple(levels))

    def sides(self, x: Text) -> tuple[Text, Text]:
        """The text with the first word, and with the second."""
        there = x.words[self.position]
        other = like(self.old if self.back else self.new, there)
        put = x.replace(self.position, other.replace("'", "\u2019") if "\u2019" in there else other)
        return (put, x) if self.back else (x, put)


async def _take(
    found: Sequence[Level],
    steps: Sequence[Reached],
    patches: Sequence[_Patch],
    meter: Meter[Fields, int],
    random: Random,
) -> None:
    """Ask about texts and their counterparts, in slices, and add them to the level of each patch."""
    if not steps:
        return
    for level, patch in zip(found, patches, strict=True):
        some = slices(steps[0].text, steps)
        sides_of = Made([(step.text, side) for step in steps for side in (0, 1)], partial(_side, patch))
        if len(some) > 1 and meter.affordable(sides_of) < len(sides_of):
            raise BudgetSpent
        for part in some:
            sides = [patch.sides(step.text) for step in part]
            chances = await meter([side.fields for pair in sides for side in pair])
            for step, (text, patched), before, after in zip(part, sides, chances[::2], chances[1::2], strict=True):
                if step.fresh:
                    level.add(text.fields, patched.fields, before, after, random)
                if level.steps is not None:
                    level.steps.add((after - before) / UNIT, step.weight, step.parents)


def _side(patch: _Patch, key: tuple[Text, int]) -> Fields:
    return patch.sides(key[0])[key[1]].fields


def _hold(x: Text, most: int | None, texts: int) -> None:
    """Refuse to hold more neighbours than the memory allows."""
    refuse_too_large(x, texts, most)


@dataclass(frozen=True)
class _Chance:
    """A victim reduced to the probability of one label."""

    victim: Answers[Fields, Scores]
    label: int

    async def ask(self, items: Sequence[Fields]) -> list[int]:
        """The probabilities in billionths."""
        return [round(scores[self.label] * UNIT) for scores in await self.victim.ask(items)]


def _plain(word: str) -> str:
    return word.lower().replace("\u2019", "'")


def _digest(fields: Fields) -> bytes:
    """A short key for a text that was asked; there are hundreds of thousands of them."""
    whole = "".join([repr(list(map(len, fields))), *fields])
    return hashlib.blake2b(whole.encode("utf-8", "surrogatepass"), digest_size=16).digest()
