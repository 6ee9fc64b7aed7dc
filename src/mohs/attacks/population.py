"""What population searches share: members and their scores, the best swap at a position, and mixing two texts."""

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

MIXTURE_RETRIES = 20  # if a mixture breaks a constraint, as in TextAttack

Mask = tuple[bool, ...]  # for each position of the space, whether its word comes from the other text


class Member(NamedTuple):
    """A text and how near it is to the goal."""

    text: Text
    score: float
    met: bool

    @property
    def order(self) -> tuple[bool, float, Text]:
        """A sort key: nearest to the goal first, equals by their texts."""
        return not self.met, -self.score, self.text

    def beats(self, other: Member) -> bool:
        """Whether this one is strictly nearer to the goal."""
        return (self.met, self.score) > (other.met, other.score)


def strongest(members: Sequence[Member]) -> Member:
    """The nearest to the goal; among equals, the first by its text."""
    return min(members, key=lambda member: member.order)


def sized(ask: Ask, population: int, generations: int, swaps: float) -> tuple[int, int | None]:
    """A population size, and a number of swaps to try, with which all generations fit the query budget.

    The papers have no budget. With one, a search of their size spends it all on the first generation, in which every
    text has only one changed word. Random substitution, which changes a word with each query, then gets further. So the
    population shrinks first, down to two (the best and one child). Then the number of swaps tried at a position
    shrinks; `swaps` is their average number. If so small a population leaves budget over, another one spends it
    (`Scout.run`). Without a budget, or with a large enough one, nothing changes.
    """
    budget = ask._victim.budget
    each = float("inf") if budget is None else budget / generations
    if each >= population * (swaps + 1):
        return population, None
    population = 1 + max(1, int(each / (swaps + 1)))  # the best survives unchanged and costs no query
    return population, None if population > 2 else max(1, round(each) - 1)


class Scout:
    """One population search's access to its victim and space. It keeps the best text seen.

    Texts and their allowed swaps are cached, so repeats cost nothing. nearest: use only this many of the words offered
    for a position, the first ones. back: the original word may return. tries: draw at most this many swaps that were
    not queried before each time.
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
        # Mixing is not a step from text to text. Constraints on steps were checked when each word was introduced.
        self._whole = judging_whole_texts(space)
        self._texts: dict[Text, Text] = {x: x}
        self._mixtures: dict[tuple[Text, Text, Mask], Text] = {}  # of the latest masks, which are mixed again
        self._members: dict[Text, Member] = {}
        self._swaps: dict[tuple[Text, int], list[Text]] = {}
        self._best: dict[tuple[Text, int], Member] = {}  # the best swap at a position, if all are tried

    async def run(self, search: Callable[[], Awaitable[None]], *, again: bool) -> Text:
        """Run the search until it or the budget ends, and return the best text ever queried.

        again: repeat the search while it fails and the last run found new texts.
        """
        asked = 0
        with suppress(BudgetSpent):
            await search()
            while again and not self.best.met and len(self._members) > asked:
                asked = len(self._members)
                await search()
        return self.best.text

    async def members(self, texts: Sequence[Text]) -> list[Member]:
        """The texts with their scores. If the budget runs out, queries as many as it can, then raises BudgetSpent."""
        fresh = list(dict.fromkeys(text for text in texts if text not in self._members))
        affordable = self.ask.affordable(fresh)
        for text, probs in zip(affordable, await self.ask.victim(affordable), strict=True):
            member = self._members[text] = Member(text, self.goal.score(probs), self.goal.met(probs))
            if member.beats(self.best):  # among equals the first stays: it has no useless change
                self.best = member
        if len(affordable) < len(fresh):
            raise BudgetSpent
        return [self._members[text] for text in texts]

    async def best_swaps(self, texts: Sequence[Text], places: Sequence[int]) -> list[Member]:
        """For each text, its best swap at its position, or the text itself if no swap is better."""
        pairs = list(zip(texts, places, strict=True))
        wanted = [pair for pair in dict.fromkeys(pairs) if pair not in self._swaps]
        self._swaps.update(zip(wanted, await together(*(self._allowed(*pair) for pair in wanted)), strict=True))
        if self.tries is not None:  # drawn again each time
            return await self._best_of([[text, *self._tried(self._swaps[text, place])] for text, place in pairs])
        wanted = [pair for pair in dict.fromkeys(pairs) if pair not in self._best]
        found = await self._best_of([[pair[0], *self._swaps[pair]] for pair in wanted])
        self._best.update(zip(wanted, found, strict=True))
        return [self._best[pair] for pair in pairs]

    async def _best_of(self, groups: Sequence[Sequence[Text]]) -> list[Member]:
        """For each group, the strongest of the others if it beats the first, else the first."""
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
        """Each text with the best swap at a position drawn by its weights, if that helps.

        With `persist`, further positions are drawn until one helps or all were tried.
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
        """The first text with the masked words of the other."""
        key = one, other, mask
        found = self._mixtures.get(key)
        if found is None:
            words = other.words
            found = self._same(one.replace_all({p: words[p] for p in compress(self.positions, mask)}))
            self._mixtures[key] = found
        return found

    def _same(self, text: Text) -> Text:
        """The first of equal texts, so that they need not be compared letter by letter."""
        return self._texts.setdefault(text, text)

    async def masks(
        self, pairs: Sequence[tuple[Text, Text]], draw: Callable[[int], Mask], otherwise: Callable[[], Mask]
    ) -> list[Mask]:
        """A mask for each pair of texts such that the mixture obeys the constraints on whole texts.

        A mask that fails is drawn again, at most twenty times. Then `otherwise` chooses which of the two texts stays
        whole.
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
        """Each word from either text with equal probability."""
        return tuple(self.ask.random.random() < 0.5 for _ in self.positions)

    def cut(self) -> Mask:
        """All words from a random position on come from the other text."""
        place = self.ask.random.randrange(len(self.x))
        return tuple(position >= place for position in self.positions)

    def either(self) -> Mask:
        """One of the two texts as a whole."""
        return (self.ask.random.random() < 0.5,) * len(self.positions)


def judging_whole_texts(space: Space) -> Space:
    """The space with only those constraints that judge a text regardless of the steps that led to it."""
    return replace(space, constraints=tuple(c for c in space.constraints if not c.measure.stepwise))
