"""Levels of a natural neighbourhood, drawn so that sums over the whole level can be estimated from the sample."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from mohs.engine import together
from mohs.space.natural import Neighbourhood, parts, room_for_all
from mohs.space.services import Services
from mohs.text import Text
from mohs.text.text import brief

_WORDS_AT_ONCE = 1280  # in the texts of one step, as in `natural.levels`
_CHECKED_PER_BREADTH = 2  # steps whose texts have their parents counted, for each text that is continued from
_FEWEST_CHECKED = 32


class Reached(NamedTuple):
    """A text and one step that led to it.

    `weight` says for how many texts of the level before the step's start stands. `parents` is from how many texts of
    that level one step leads here; None if not counted. Summing weight / parents over all steps gives, on average over
    draws, 1 for each text of the level.
    """

    text: Text
    fresh: bool = True  # no earlier step of the level led here
    weight: float = 1.0
    parents: int | None = None


@dataclass(frozen=True)
class Walk:
    """Neighbor_1 to Neighbor_k of a text, all texts of a level or a sample with weights.

    A level is complete, each text once, as long as at most `most` texts are expected. Beyond that `breadth` texts of
    the level before are drawn and all their neighbours are taken, once for each step that leads to them. A text that
    several parents lead to is drawn more often, so of some steps, drawn with equal probability, all parents in the
    level before are counted. The next level starts from some of these.
    """

    start: Text
    k: int
    near: Neighbourhood
    positions: Sequence[int]
    most: int
    breadth: int
    hold: Callable[[int], None] = room_for_all  # told how many texts are about to be held; may refuse
    _steps: dict[tuple[Hashable, int], list[Text]] = field(default_factory=dict, repr=False)  # asked before

    async def levels(self, ask: Services) -> AsyncIterator[tuple[int, bool, list[Reached]]]:
        """The level, whether it is complete, and some of what it reaches; each level in one or more chunks."""
        if self.k > 1:
            self.hold(len(self.positions) * self.near.offers)
        frontier, exact, width = {self.start: 1.0}, True, 1.0
        for level in range(1, self.k + 1):
            if exact and len(frontier) * width > self.most and len(frontier) > self.breadth:
                drawn = sorted(ask.random.sample(sorted(frontier), self.breadth))
                frontier, exact = dict.fromkeys(drawn, len(frontier) / self.breadth), False
            checks = max(_FEWEST_CHECKED, _CHECKED_PER_BREADTH * self.breadth)
            share = 0.0 if exact else min(1.0, checks / max(1.0, len(frontier) * width))
            seen: set[Hashable] = set()
            following: list[Reached] = []
            made = 0
            for texts, places in parts(list(frontier), self.positions, _WORDS_AT_ONCE):
                chunk: list[Reached] = []
                for text, group in zip(texts, await self.near.step(texts, places, ask, self.start), strict=True):
                    made += len(group)
                    for new in group:
                        key = brief(new.fields)
                        if not exact or key not in seen:
                            chunk.append(Reached(new, key not in seen, frontier[text]))
                        seen.add(key)
                if not exact:
                    chunk = await self._checked(chunk, share, level, ask)
                if level < self.k:
                    following += chunk if exact else [one for one in chunk if one.parents]
                    self.hold(len(frontier) + len(following))
                yield level, exact, chunk
            width = made / len(frontier) if frontier else 0.0
            frontier = {one.text: 1.0 for one in following} if exact else self._continued(following, made, ask)

    async def _checked(self, chunk: list[Reached], share: float, level: int, ask: Services) -> list[Reached]:
        """The same, with parents counted for a random share."""
        drawn = [at for at in range(len(chunk)) if ask.random.random() < share]
        counts = await together(*(self.parents(chunk[at].text, level, ask) for at in drawn))
        for at, count in zip(drawn, counts, strict=True):
            assert count, "a text that was reached has a parent"
            chunk[at] = chunk[at]._replace(parents=count)
        return chunk

    def _continued(self, checked: Sequence[Reached], made: int, ask: Services) -> dict[Text, float]:
        """Texts to continue from, drawn from the steps whose parents were counted, and how many texts each stands for.

        made: the number of all steps of the level.
        """
        drawn = ask.random.sample(checked, min(self.breadth, len(checked)))
        found: dict[Text, float] = {}
        for one in sorted(drawn):
            assert one.parents is not None
            found[one.text] = found.get(one.text, 0.0) + one.weight * made / len(drawn) / one.parents
        return found

    async def parents(self, text: Text, level: int, ask: Services) -> int:
        """From how many texts of the level before one step leads to a text, by following every path to it."""
        there = {self.start: None}
        for left in range(level, 1, -1):
            steps = [(here, place) for here in there for place in self._towards(here, text, left)]
            groups = await together(*(self._step(here, place, ask) for here, place in steps))
            there = dict.fromkeys(new for group in groups for new in group if len(new.changes(text)) < left)
        last = [(here, place) for here in there for place in self._towards(here, text, 1)]
        groups = await together(*(self._step(here, place, ask) for here, place in last))
        return sum(text in group for group in groups)

    def _towards(self, here: Text, there: Text, left: int) -> Sequence[int]:
        """The positions where a step may change `here` if `left` steps must end at `there`."""
        apart = here.changes(there)
        if len(apart) > left or not set(apart) <= set(self.positions):
            return ()
        return self.positions if len(apart) <= left - 2 else apart

    async def _step(self, here: Text, place: int, ask: Services) -> list[Text]:
        key = (brief(here.fields), place)
        if key not in self._steps:
            ((*found,),) = await self.near.step([here], [place], ask, self.start)
            self._steps[key] = found
        return self._steps[key]
