"""What population searches share: members and their scores, the best swap at a place, and mixing two texts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import compress, islice
from typing import NamedTuple

from mohs.attacks.goal import Goal
from mohs.attacks.method import Ask
from mohs.engine import BudgetSpent, together
from mohs.space import Space
from mohs.text import Text

MIXTURE_RETRIES = 20  # where a mixture breaks a constraint, as in TextAttack

Mask = tuple[bool, ...]  # for each position of the space, whether its word comes from the other text


class Member(NamedTuple):
    """A text and how near it is to the goal."""

    text: Text
    score: float
    met: bool

    @property
    def order(self) -> tuple[bool, float, Text]:
        """Sorts the nearest to the goal first, and equals by their texts."""
        return not self.met, -self.score, self.text

    def beats(self, other: Member) -> bool:
        """Whether this one is nearer to the goal; of equals neither is."""
        return (self.met, self.score) > (other.met, other.score)


def strongest(members: Sequence[Member]) -> Member:
    """The nearest to the goal; of equals the first by its text."""
    return min(members, key=lambda member: member.order)


def sized(ask: Ask, population: int, generations: int, swaps: float) -> tuple[int, int | None]:
    """A population, and a number of swaps to try at a place, with which all generations fit the query budget.

    The papers know no budget. Under one, a search of their size spends it all on the first generation, where every text
    has but one word changed, and random substitution, which changes a word with each query, gets further. So the
    population shrinks first, down to two (the best and one child), then the number of swaps tried at a place, of which
    there are `swaps` on average; and what so small a population leaves of the budget, another one spends (`Scout.run`).
    Without a budget, or with one that is large enough, nothing changes.
    """
    budget = ask._victim.budget
    each = float("inf") if budget is None else budget / generations
    if each >= population * (swaps + 1):
        return population, None
    population = 1 + max(1, int(each / (swaps + 1)))  # the best goes on as it is and asks nothing
    return population, None if population > 2 else max(1, round(each) - 1)


class Scout:
    """One population search's view of its victim and space; keeps the best text that it ever saw.

    Texts and their allowed swaps are remembered, so what comes up again costs nothing. With `nearest`, only so many of
    the words offered for a place count, the first ones; with `back`, the original word may return; with `tries`, at
    most so many swaps that were not asked before are drawn from them each time.
    """

    def __init__(
        self,
        x: Text,
        goal: Goal,
        space: Space,
        ask: Ask,
        positions: Sequence[int],
        *,
        nearest: int | None = None,
        tries: int | None = None,
        back: bool = False,
    ) -> None:
        self.x, self.goal, self.space, self.ask, self.positions = x, goal, space, ask, positions
        self.nearest, self.tries, self.back = nearest, tries, back
        self.best = Member(x, float("-inf"), False)
        # Mixing is no step from one text to the next: what judges steps was asked when each word was brought in.
        self._whole = judging_whole_texts(space)
        self._texts: dict[Text, Text] = {x: x}
        self._mixtures: dict[tuple[Text, Text, Mask], Text] = {}  # of the last masks, which are mixed again
        self._members: dict[Text, Member] = {}
        self._swaps: dict[tuple[Text, int], list[Text]] = {}
        self._best: dict[tuple[Text, int], Member] = {}  # the best swap at a place, where all are tried

    async def run(self, search: Callable[[], Awaitable[None]], *, again: bool) -> Text:
        """The best text ever asked when the search or the budget has ended.

        If it may be run again, it is, as long as it fails and the last time came upon new texts.
        """
        asked = 0
        with suppress(BudgetSpent):
            await search()
            while again and not self.best.met and len(self._members) > asked:
                asked = len(self._members)
                await search()
        return self.best.text

    async def members(self, texts: Sequence[Text]) -> list[Member]:
        """The texts with their scores; where the budget ends, what it still allows is asked and may be the best."""
        fresh = list(dict.fromkeys(text for text in texts if text not in self._members))
        affordable = self.ask.affordable(fresh)
        for text, probs in zip(affordable, await self.ask.victim(affordable), strict=True):
            member = self._members[text] = Member(text, self.goal.score(probs), self.goal.met(probs))
            if member.beats(self.best):  # of equals the first asked stays, which has no change in vain
                self.best = member
        if len(affordable) < len(fresh):
            raise BudgetSpent
        return [self._members[text] for text in texts]

    async def best_swaps(self, texts: Sequence[Text], places: Sequence[int]) -> list[Member]:
        """For each text the best it can become by another word at its place, or the text as it is if none is better."""
        pairs = list(zip(texts, places, strict=True))
        wanted = [pair for pair in dict.fromkeys(pairs) if pair not in self._swaps]
        self._swaps.update(zip(wanted, await together(*(self._allowed(*pair) for pair in wanted)), strict=True))
        if self.tries is not None:  # drawn anew each time
            return await self._best_of([[text, *self._tried(self._swaps[text, place])] for text, place in pairs])
        wanted = [pair for pair in dict.fromkeys(pairs) if pair not in self._best]
        found = await self._best_of([[pair[0], *self._swaps[pair]] for pair in wanted])
        self._best.update(zip(wanted, found, strict=True))
        return [self._best[pair] for pair in pairs]

    async def _best_of(self, groups: Sequence[Sequence[Text]]) -> list[Member]:
        """Of each group the strongest of the others if it is better than the first, or else the first."""
        members = iter(await self.members([text for group in groups for text in group]))
        best = []
        for group in groups:
            current, *swapped = islice(members, len(group))
            top = strongest(swapped) if swapped else current
            best.append(top if top.beats(current) else current)
        return best

    async def perturbed(
        self, texts: Sequence[Text], weights: Sequence[Mapping[int, float]], *, persist: bool = False
    ) -> list[Member]:
        """Each text with the best swap at a place drawn by its weights, if it helps.

        With `persist`, further places are drawn where it does not, until one does or all were tried.
        """
        members = await self.members(texts)
        untried = [dict(weight) for weight in weights]
        going = list(range(len(texts)))
        while going := [n for n in going if members[n].text == texts[n] and untried[n]]:
            places = [self.ask.random.choices(list(untried[n]), list(untried[n].values()))[0] for n in going]
            for n, place, member in zip(
                going, places, await self.best_swaps([texts[n] for n in going], places), strict=True
            ):
                members[n] = member
                untried[n] = {p: weight for p, weight in untried[n].items() if persist and p != place}
        return members

    async def _allowed(self, text: Text, place: int) -> list[Text]:
        (words,) = await self.space.words(text, [place], self.ask)
        words = words[: self.nearest]
        if self.back:
            words = (self.x.words[place], *words)
        swaps = [text.replace(place, word) for word in dict.fromkeys(words) if word != text.words[place]]
        return list(map(self._same, await self.space.allowed(text, swaps, self.ask)))

    def _tried(self, swaps: list[Text]) -> list[Text]:
        fresh = [number for number, text in enumerate(swaps) if text not in self._members]
        assert self.tries is not None, "otherwise all are tried"
        if len(fresh) <= self.tries:
            return swaps
        drawn = self.ask.random.sample(fresh, self.tries)
        return [text for number, text in enumerate(swaps) if number in drawn or text in self._members]

    def unchanged(self, text: Text) -> list[int]:
        """The positions where a text still has its original word."""
        return [p for p in self.positions if text.words[p] == self.x.words[p]]

    def mixed(self, one: Text, other: Text, mask: Mask) -> Text:
        """The one text with the masked words of the other."""
        key = one, other, mask
        found = self._mixtures.get(key)
        if found is None:
            words = other.words
            found = self._same(one.replace_all({p: words[p] for p in compress(self.positions, mask)}))
            self._mixtures[key] = found
        return found

    def _same(self, text: Text) -> Text:
        """Of equal texts always the one that came first, which spares comparing them letter by letter."""
        return self._texts.setdefault(text, text)

    async def masks(
        self, pairs: Sequence[tuple[Text, Text]], draw: Callable[[int], Mask], otherwise: Callable[[], Mask]
    ) -> list[Mask]:
        """A mask for each pair of texts, such that the mixture keeps the constraints on whole texts.

        One that does not is drawn again, at most twenty times; then `otherwise` says which of the two stays whole.
        """
        self._mixtures.clear()
        masks = [draw(number) for number in range(len(pairs))]
        broken = list(range(len(pairs)))
        for attempt in range(MIXTURE_RETRIES + 1):
            mixtures = {number: self.mixed(*pairs[number], masks[number]) for number in broken}
            legal = set(await self._whole.allowed(self.x, list(dict.fromkeys(mixtures.values())), self.ask))
            broken = [number for number, mixture in mixtures.items() if mixture not in legal]
            if not broken:
                break
            for number in broken:
                masks[number] = draw(number) if attempt < MIXTURE_RETRIES else otherwise()
        return masks

    def coins(self) -> Mask:
        """Each word from either text, by the toss of a coin."""
        return tuple(self.ask.random.random() < 0.5 for _ in self.positions)

    def cut(self) -> Mask:
        """All words from a random place on come from the other text."""
        place = self.ask.random.randrange(len(self.x))
        return tuple(position >= place for position in self.positions)

    def either(self) -> Mask:
        """One of the two texts, whole."""
        return (self.ask.random.random() < 0.5,) * len(self.positions)


def judging_whole_texts(space: Space) -> Space:
    """The space with those constraints alone that any text can be judged by, whatever led to it."""
    return replace(space, constraints=tuple(c for c in space.constraints if not c.measure.stepwise))
