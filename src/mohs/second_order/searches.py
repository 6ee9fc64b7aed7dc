"""SO-Enum, SO-Beam and the random baseline: search a natural neighbourhood for a text that one synonym changes."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from heapq import nsmallest
from typing import NamedTuple

from mohs.attacks.method import Ask
from mohs.engine import BudgetSpent, together
from mohs.errors import BadInput
from mohs.second_order.patches import Patch, Scores
from mohs.space.natural import Neighbourhood, parts, room_for_all
from mohs.space.settings import at_least
from mohs.text import Text
from mohs.text.text import brief

_SCORE_DECIMALS = 6
_STEPS_AT_ONCE = 64  # steps from single texts
_BEAM_WORDS_AT_ONCE = 640  # words of the texts to step from: a long text has more neighbours


class Found(NamedTuple):
    """A vulnerable example, or the text where a search ended."""

    text: Text
    steps: int
    size: int  # texts checked


@dataclass(frozen=True)
class SecondOrder:
    """Walk from a text to its natural neighbours, until the patch changes the prediction of one.

    SO-Enum (`width` None) checks every neighbour, level by level. Its result has the fewest changed words in the
    neighbourhood, and among those the fewest steps. A word that changes twice is one word in two steps. So after the
    first level with a vulnerable example, later levels are searched for one with fewer changed words.

    SO-Beam (Algorithm 2) continues from only the `width` most promising texts of a level. It stops at the first level
    with a vulnerable example, unless no text was left out so far. The original text is checked first, as in the
    released code. With several vulnerable examples in a level, the released code takes the most promising (`nearest`).

    A text is promising if two different classes a, b have a large log P(a | x) + log P(b | x + patch). With two classes
    this is minus the loss of equation 4. With more, the two classes with the largest value count.

    `walk` is the random baseline: each step draws one position and one word.
    """

    k: int = 2
    width: int | None = None
    walk: bool = False
    min_gap: float = 0.0  # by how much the patch must change a probability; released: 0.03
    plausible: float | None = None  # how much plausibility the patch may cost; released: 1.5
    budget: int | None = None  # texts to ask the victim about
    nearest: bool = True  # from a level take the vulnerable example with the fewest changes; else the most promising
    most: int | None = None  # texts to check; more ends the search as if the budget were spent
    near: Neighbourhood = Neighbourhood()
    refusal: int | None = field(default=None, repr=False)  # the victim's class for "rejected"; no setting of the method

    def __post_init__(self) -> None:
        at_least(0, k=self.k, min_gap=self.min_gap)
        if self.width is not None:
            at_least(1, beam=self.width)

    @property
    def needs_scores(self) -> bool:
        """Whether it needs a victim with scores, not only labels."""
        return self.width is not None and not self.walk

    def tipped(self, plain: Scores, patched: Scores) -> bool:
        """Whether the patch changes the prediction."""
        far = max(abs(a - b) for a, b in zip(plain, patched, strict=True)) >= self.min_gap
        labels = _label(plain), _label(patched)
        return far and labels[0] != labels[1] and self.refusal not in labels

    async def __call__(
        self, x: Text, patch: Patch, positions: Sequence[int], ask: Ask, hold: Callable[[int], None] = room_for_all
    ) -> Found | None:
        """The vulnerable example, or None. hold: told how many neighbours are about to be held; may refuse."""
        places = [position for position in positions if position != patch.position]
        near = replace(self.near, avoid=self.near.avoid | patch.words)
        if self.walk:
            return await self._walked(x, patch, places, near, ask)
        if self.k > 1:
            hold(self._first_beam(len(places)))
        return await self._searched(x, patch, places, near, ask, hold)

    def _first_beam(self, places: int) -> int:
        """At most so many texts are kept of the first level."""
        limits = (self.width, self.most, self.budget)
        return min([places * self.near.offers, *(limit for limit in limits if limit is not None)])

    async def _searched(
        self,
        x: Text,
        patch: Patch,
        places: Sequence[int],
        near: Neighbourhood,
        ask: Ask,
        hold: Callable[[int], None],
    ) -> Found | None:
        first = await self._look([x], patch, ask)
        if not first:
            raise BudgetSpent
        if first[0].tipped:
            return Found(x, 0, 1)
        seen = {brief(x.fields)}
        beam = [x]
        whole = self.nearest  # whether no text was left out
        for step in range(1, self.k + 1):
            winner: _Looked | None = None
            kept: list[_Looked] = []
            for texts, some in parts(beam, places, _BEAM_WORDS_AT_ONCE):
                fresh: dict[Text, None] = {}
                for group in await near.step(texts, some, ask, x):
                    fresh.update(dict.fromkeys(text for text in group if brief(text.fields) not in seen))
                seen.update(brief(text.fields) for text in fresh)
                if self.most is not None and len(seen) > self.most:
                    raise BudgetSpent
                looked = await self._look(list(fresh), patch, ask)
                hits = [one for one in looked if one.tipped]
                winner = min([*hits, *([] if winner is None else [winner])], key=self._order(x), default=None)
                if len(looked) < len(fresh):
                    if winner is None:
                        raise BudgetSpent
                    return Found(winner.text, step, len(seen))  # the best so far, as the budget is spent
                if step < self.k:  # the last level needs no beam
                    kept += looked
                    if self.width is not None and len(kept) > self.width:
                        whole = False
                        kept = nsmallest(self.width, kept, key=lambda one: (-one.promise, one.text))
                    hold(len(beam) + len(kept))
            beam = [one.text for one in kept]
            if winner is not None:
                found = Found(winner.text, step, len(seen))
                return await self._nearer(x, found, beam, seen, patch, places, near, ask, hold) if whole else found
        return None

    async def _nearer(
        self,
        x: Text,
        found: Found,
        beam: list[Text],
        seen: set[Hashable],
        patch: Patch,
        places: Sequence[int],
        near: Neighbourhood,
        ask: Ask,
        hold: Callable[[int], None],
    ) -> Found:
        """A vulnerable example with fewer changed words than `found`, if more steps lead to one; else `found`."""
        fewest = len(x.changes(found.text))
        for step in range(found.steps + 1, self.k + 1):
            if fewest == 1 or (self.width is not None and len(beam) > self.width):
                break
            limit = fewest - 1 + self.k - step  # the most changed words from which fewer can still be reached
            free = [text for text in beam if len(x.changes(text)) < limit]
            bound = [text for text in beam if limit <= len(x.changes(text)) <= limit + 1]  # may not change another word
            steps = [near.step(texts, some, ask, x) for texts, some in parts(free, places, _BEAM_WORDS_AT_ONCE)]
            steps += [near.step([text], [p for p in x.changes(text) if p in places], ask, x) for text in bound]
            fresh: dict[Text, int] = {}
            for start in range(0, len(steps), _STEPS_AT_ONCE):
                for groups in await together(*steps[start : start + _STEPS_AT_ONCE]):
                    for text in (text for group in groups for text in group):
                        if brief(text.fields) not in seen and len(x.changes(text)) <= limit:
                            fresh[text] = len(x.changes(text))
                hold(len(beam) + len(fresh))
            seen.update(brief(text.fields) for text in fresh)
            wanted = [text for text, words in fresh.items() if words < fewest]
            looked = await self._look(wanted, patch, ask)
            best = min((one for one in looked if one.tipped), key=self._order(x), default=None)
            if best is not None:
                found, fewest = Found(best.text, step, len(seen)), len(x.changes(best.text))
            if len(looked) < len(wanted) or (self.most is not None and len(seen) > self.most):
                break  # keep the best so far
            beam = list(fresh)
        return found._replace(size=len(seen))

    def _order(self, x: Text) -> Callable[[_Looked], tuple[int, float, Text]]:
        return lambda one: (len(x.changes(one.text)) if self.nearest else 0, -one.promise, one.text)

    async def _walked(
        self, x: Text, patch: Patch, places: Sequence[int], near: Neighbourhood, ask: Ask
    ) -> Found | None:
        text = x
        for step in range(self.k + 1):
            looked = await self._look([text], patch, ask)
            if not looked:
                raise BudgetSpent
            if looked[0].tipped:
                return Found(text, step, step + 1)
            if step == self.k:
                return None
            for place in ask.random.sample(list(places), len(places)):  # until one has a word to offer
                ((*following,),) = await near.step([text], [place], ask, x)
                if following:
                    text = ask.random.choice(following)
                    break
        return None

    async def _look(self, texts: Sequence[Text], patch: Patch, ask: Ask) -> list[_Looked]:
        """Check texts with and without the patch; only the first ones if the budget allows no more."""
        versions = [version for text in texts for version in (text, patch.applied(text))]
        count = len(ask.affordable(versions)) // 2
        answers = await ask.victim(versions[: 2 * count])
        pairs = zip(texts, answers[::2], answers[1::2], strict=False)
        return [_Looked(text, promise(a, b), self.tipped(a, b)) for text, a, b in pairs]


class _Looked(NamedTuple):
    text: Text
    promise: float
    tipped: bool


def promise(plain: Scores, patched: Scores) -> float:
    """The largest log P(a | x) + log P(b | x + patch) over pairs of different classes: minus the loss of equation 4."""
    best = -math.inf
    one = [math.log(max(p, 1e-12)) for p in plain]
    other = [math.log(max(p, 1e-12)) for p in patched]
    first, second = sorted(range(len(other)), key=lambda label: (-other[label], label))[:2]
    for label, value in enumerate(one):
        best = max(best, value + other[second if label == first else first])
    return round(best, _SCORE_DECIMALS)


def _label(scores: Scores) -> int:
    return max(range(len(scores)), key=lambda label: (scores[label], -label))


# Methods by name and preset, the paper's preset first. The budgets of the released code count pairs of texts.
METHODS: Mapping[str, Mapping[str, SecondOrder]] = {
    "so-enum": {
        "paper": SecondOrder(k=2),
        "released": SecondOrder(k=2, width=2000, min_gap=0.03, plausible=1.5, budget=200_000, nearest=False),
    },
    "so-beam": {
        "paper": SecondOrder(k=6, width=20),
        "released": SecondOrder(k=6, width=20, min_gap=0.03, plausible=1.5, budget=100_000, nearest=False),
    },
    "random": {
        "paper": SecondOrder(k=6, walk=True),
        "released": SecondOrder(k=6, walk=True, min_gap=0.03, plausible=1.5, budget=200),
    },
}


def find_method(name: str) -> SecondOrder:
    """The method NAME or NAME:PRESET; by default the paper's preset."""
    method, _, preset = name.partition(":")
    if method not in METHODS:
        raise BadInput(f"Unknown method {method!r}; use {', '.join(METHODS)}.")
    if (preset or "paper") not in METHODS[method]:
        raise BadInput(f"{method} has no preset {preset!r}; use {', '.join(METHODS[method])}.")
    return METHODS[method][preset or "paper"]
