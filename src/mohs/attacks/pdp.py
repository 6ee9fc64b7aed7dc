"""PDP, pseudo-dynamic programming (Yang et al. 2022): finds few changes by keeping many texts and looking ahead."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from heapq import nsmallest
from itertools import chain
from random import Random
from typing import ClassVar

from mohs.attacks.goal import SCORE_DECIMALS, Goal, Targeted
from mohs.attacks.hotflip import FirstOrder
from mohs.attacks.method import Ask
from mohs.attacks.population import Member, judging_whole_texts, strongest
from mohs.engine import BudgetSpent, together
from mohs.space import Constraint, Sememes, ShareChanged, Source, Space
from mohs.space.settings import at_least
from mohs.text import Text

_LEAST_SCORE = 10.0**-SCORE_DECIMALS  # the smallest positive score after rounding


@dataclass(frozen=True)
class PDP:
    """Decide one position per step for the best K texts at once, starting with the most promising position.

    Yang et al. 2022 ("Quantifying robustness to adversarial word substitutions"), Algorithm 1 (preset `paper`). A step
    keeps the K texts nearest the goal (by 1 - F_y, or by the target's probability). It looks ahead for the position
    whose best word takes one of them furthest. It then gives every kept text every word of that position, including the
    text's own. So after t steps at most t words differ. The search ends at the first step with a text that reaches the
    goal with at most 25% of its words changed (tau). It returns the one with the fewest changes, or the strongest among
    equals. Candidates are the five words with the same sememes and the nearest vectors.

    The paper leaves some choices open. Here:
    - K is 1280, as in the released code;
    - ten texts look ahead, as in the code. They are drawn at each step without replacement, in proportion to their
      scores, and are the same for all positions;
    - among equal positions, the one that was ahead a step before comes first; at the start, the earlier in the text;
    - the best text is the one with the fewest changes, as in the code.

    Differs from the paper:
    - tau is a constraint from the start. A text beyond it takes no place in the memory, since no later step could bring
      it back. Shares are of words without punctuation;
    - when looking ahead, a text that reaches the goal ranks above any that does not. This makes no difference with two
      classes; with more, no success is missed;
    - sememes, vectors and tagger are the run's; proper nouns in the plural are never replaced (see Sememes).

    Other presets:
    - `released`, the authors' code: it queries every single replacement, position by position, and ends at the first
      position with a success. Otherwise it continues from all of these texts, at all positions but the most promising
      one, which is not decided again. The ten strongest texts look ahead. A kept text always takes a new word, so later
      texts have many changes. There is no tau (the authors drop what exceeds 25% afterwards; `--measure share-changed`
      shows it). In the end, changes are undone one by one (`revert`): each time the one whose removal leaves the
      strongest text, as long as it reaches the goal. The paper does not mention this;
    - `released-unreverted`, the same without undoing;
    - `gradients`, for white-box victims: like `paper`, but looks ahead by first-order estimates (see FirstOrder), which
      cost a gradient for each of the ten texts and no query. The paper says that gradients can be used, but not how.

    Not imitated from the code: equal texts take several places in its memory; it takes the first of its texts with the
    fewest changes; with more than two classes it can undo a change that the success needs; for BERT on IMDB it uses K =
    32, one text to look ahead (`memory=32, drawn=1`), and in most steps considers 15% of the positions.
    """

    paper: ClassVar[str] = "Yang et al. 2022"
    needs_scores: ClassVar[bool] = True
    cost: ClassVar[str] = "per step: all replacements for ten texts, then those of one word for K (1280) texts"

    memory: int = 1280  # K
    drawn: int = 10  # texts that look ahead
    by_chance: bool = True  # draw these by their scores; otherwise take the strongest
    singles: bool = False  # start with all texts that have one change
    may_stay: bool = True  # a kept text may keep its own word at the decided position
    revert: bool = False  # undo changes that a success does not need
    estimate: FirstOrder | None = None  # looks ahead without querying the victim
    source: Source = Sememes(k=5)
    constraints: tuple[Constraint, ...] = (Constraint(ShareChanged(), at_most=0.25),)
    stopwords: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        at_least(1, memory=self.memory, drawn=self.drawn)

    async def __call__(self, x: Text, goal: Goal, space: Space, ask: Ask) -> Text:
        """Algorithm 1."""
        search = _Search(x, goal, space, ask)
        with suppress(BudgetSpent):
            pool, left = await search.members([x]), list(space.positions)
            if self.singles:
                pool, left = await self._singles(search)
            while left and not any(member.met for member in pool):
                pool = nsmallest(self.memory, pool, key=lambda member: member.order)
                left = await self._look_ahead(self._some(pool, ask.random), left, search)
                pool = await search.expanded(pool, left.pop(0), back=self.may_stay)
            winners = [member for member in pool if member.met]
            if winners:
                best = min(winners, key=lambda member: (search.changed(member), member.order))
                return (await search.reverted(best) if self.revert else best).text
        return search.best.text

    async def _singles(self, search: _Search) -> tuple[list[Member], list[int]]:
        """All texts with one change, up to the first position with a success, and all positions but the best."""
        found: list[Member] = []
        reach: dict[int, tuple[bool, float]] = {}
        (clean,) = await search.members([search.x])
        for position in search.space.positions:
            made = await search.expanded([clean], position, back=False)
            found += made
            reach[position] = min((m.order[:2] for m in made), default=_NOWHERE)
            if any(member.met for member in made):
                break
        return found, sorted(reach, key=reach.__getitem__)[1:]

    def _some(self, pool: list[Member], random: Random) -> list[Member]:
        """The members of a ranked pool that look ahead, in their order."""
        if not self.by_chance:
            return pool[: self.drawn]
        rest = list(range(len(pool)))
        drawn: list[int] = []
        while rest and len(drawn) < self.drawn:
            weights = [max(pool[number].score, _LEAST_SCORE) for number in rest]
            drawn.append(rest.pop(random.choices(range(len(rest)), weights)[0]))
        return [pool[number] for number in sorted(drawn)]

    async def _look_ahead(self, some: list[Member], left: list[int], search: _Search) -> list[int]:
        """The remaining positions, the most promising first. Equal ones keep their order."""
        if self.estimate is not None:
            estimated = await search.estimated(some, left, self.estimate)
            return sorted(left, key=lambda position: -estimated[position])
        reach = await search.reach(some, left)
        return sorted(left, key=reach.__getitem__)


_NOWHERE = (True, math.inf)


class _Search:
    """The queries of one search. It remembers the best text seen, in case the budget runs out."""

    def __init__(self, x: Text, goal: Goal, space: Space, ask: Ask) -> None:
        self.x, self.goal, self.space, self.ask = x, goal, space, ask
        self.best = Member(x, -math.inf, False)

    def changed(self, member: Member) -> int:
        """How many words differ from the original."""
        return len(self.x.changes(member.text))

    async def members(self, texts: Sequence[Text]) -> list[Member]:
        """The texts with their scores. If the budget runs out, queries as many as it can, then raises BudgetSpent."""
        asked = self.ask.affordable(texts)
        probs = await self.ask.victim(asked)
        found = [Member(t, self.goal.score(p), self.goal.met(p)) for t, p in zip(asked, probs, strict=True)]
        self.best = min((self.best, *found), key=self._rank)
        if len(asked) < len(texts):
            raise BudgetSpent
        return found

    def _rank(self, member: Member) -> tuple[bool, int, float]:
        return not member.met, self.changed(member) if member.met else 0, -member.score

    async def expanded(self, pool: Sequence[Member], position: int, *, back: bool) -> list[Member]:
        """Every text of the pool with every word of a position; with `back`, also the original's word."""
        made = await together(*(self._steps(member.text, position, back) for member in pool))
        return await self.members(list(dict.fromkeys(chain.from_iterable(made))))

    async def _steps(self, text: Text, position: int, back: bool) -> list[Text]:
        """The allowed texts with each word at a position, preceded by the text itself if its word is one of them."""
        words = (*((self.x.words[position],) if back else ()), *self.space.choices[position])
        others = [text.replace(position, word) for word in words if word != text.words[position]]
        same = [text] if text.words[position] in words else []
        return [*same, *await self.space.allowed(text, others, self.ask)]

    async def reach(self, some: Sequence[Member], left: Sequence[int]) -> dict[int, tuple[bool, float]]:
        """For each position, how near to the goal its best word takes any of the texts; lower is nearer."""
        pairs = [(member.text, position) for member in some for position in left]
        made = await together(*(self._steps(*pair, True) for pair in pairs))
        members = await self.members(list(dict.fromkeys(chain.from_iterable(made))))
        order = {member.text: member.order[:2] for member in members}
        found = dict.fromkeys(left, _NOWHERE)
        for (_, position), texts in zip(pairs, made, strict=True):
            found[position] = min([found[position], *(order[text] for text in texts)])
        return found

    async def estimated(self, some: Sequence[Member], left: Sequence[int], estimate: FirstOrder) -> dict[int, float]:
        """For each position, the estimated log-probability or loss that a new word gives any of the texts."""
        found = dict.fromkeys(left, -math.inf)
        gains = await together(*(estimate(member.text, self.goal, self.space, self.ask) for member in some))
        for member, gain in zip(some, gains, strict=True):
            so_far = self._loss(member.score)
            for text in await self.space.allowed(member.text, list(gain), self.ask):
                (position,) = member.text.changes(text)
                if position in found:
                    found[position] = max(found[position], so_far + gain[text])
        return found

    def _loss(self, score: float) -> float:
        """What an estimate is added to: the target's log-probability, or minus the true label's."""
        if isinstance(self.goal, Targeted):
            return math.log(max(score, _LEAST_SCORE))
        return -math.log(max(1 - score, _LEAST_SCORE))

    async def reverted(self, member: Member) -> Member:
        """Undo changes one by one, each time keeping the strongest text that still reaches the goal, until none does.

        Undoing is not a step of the search, so only the constraints on whole texts apply.
        """
        whole = judging_whole_texts(self.space)
        while True:
            undone: Sequence[Text] = [member.text.replace(p, self.x.words[p]) for p in self.x.changes(member.text)]
            undone = await whole.allowed(self.x, undone, self.ask)
            winners = [other for other in await self.members(undone) if other.met]
            if not winners:
                return member
            member = strongest(winners)


released = partial(PDP, by_chance=False, singles=True, may_stay=False, revert=True, constraints=())
unreverted = partial(released, revert=False)
gradients = partial(PDP, estimate=FirstOrder())
