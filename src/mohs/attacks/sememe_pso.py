"""SememePSO (Zang et al. 2020): words with the same sememes, searched by a particle swarm."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import mean
from typing import ClassVar

from mohs.attacks.goal import Goal
from mohs.attacks.method import Ask
from mohs.attacks.population import Mask, Member, Scout, sized, strongest
from mohs.space import Constraint, Neighbours, Sememes, ShareChanged, Source, Space
from mohs.text import Text
from mohs.text.stopwords import NLTK


@dataclass(frozen=True)
class SememePSO:
    """A swarm of texts: each moves towards its own best and the best of all, word by word, and mutates.

    Zang et al. 2020, with the details of the released code (preset `paper`). Candidates are words with the same
    sememes. A particle starts with the best swap of one word, drawn by its number of candidates (at most ten count).
    Its velocity at a word is v <- w v + (1 - w)(pull of its own best + pull of the best of all). A pull is +3 if the
    two texts differ there and -3 if they agree. The inertia w falls from 0.8 to 0.2. With a probability that falls from
    0.8 to 0.2, the particle takes words of its own best, each with probability sigmoid(v). With a probability that
    rises from 0.2 to 0.8, it likewise takes words of the best of all. It mutates with probability 1 - 2 * (share of
    words changed). There are 60 particles and 20 rounds. A text that fools the victim ends the search.

    Differs from the released code:
    - a text with over 25% of its words changed is never made; such a move is drawn again, at most 20 times, and then
      skipped. The code drops the text in the end;
    - a round queries all its texts at once and takes the best that fools the victim; the code takes the first;
    - the default goal is any wrong label; when the budget or the last round ends the search, the best text ever queried
      is returned;
    - sememes, tagger and the vocabulary of inflected forms are the run's;
    - if the query budget is too small, the swarm shrinks first, then the number of candidates tried. What is left of
      the budget goes to further swarms.

    Preset `neighbours` searches the 50 nearest words with cosine >= 0.5, with the bundled vectors, and needs no
    sememes. Preset `textattack` moves the other way round (a bug, imitated on purpose): it starts from the better text
    and takes the particle's words into it. It mutates by querying every swap of every unchanged word and draws a word
    by what its best swap gains. It uses NLTK's stopwords and allows any share of the words. In TextAttack, a text that
    no swap helps takes one anyway. If the budget is too small for this mutation, it mutates like the other presets.
    """

    paper: ClassVar[str] = "Zang et al. 2020"
    needs_scores: ClassVar[bool] = True
    cost: ClassVar[str] = "one plus the candidates of a word, per particle (60) and round (20)"

    particles: int = 60
    rounds: int = 20
    inertia: tuple[float, float] = (0.8, 0.2)  # from the first round to the last
    chances: tuple[float, float] = (0.8, 0.2)  # of moving to its own best; reversed for the best of all
    vmax: float = 3.0
    inverted: bool = False  # TextAttack's move
    by_gain: bool = False  # TextAttack's mutation
    source: Source = Sememes()
    constraints: tuple[Constraint, ...] = (Constraint(ShareChanged(), at_most=0.25),)
    stopwords: frozenset[str] = frozenset()

    async def __call__(self, x: Text, goal: Goal, space: Space, ask: Ask) -> Text:
        """Start the swarm, then move and mutate in each round."""
        if not space.positions:
            return x
        swaps = mean(map(len, space.choices.values()))
        size, tries = sized(ask, self.particles, self.rounds, swaps * (len(space.positions) if self.by_gain else 1))
        if self.by_gain and tries is not None:
            return await replace(self, by_gain=False)(x, goal, space, ask)
        scout = Scout(x, goal, space, ask, space.positions, tries=tries)

        async def fly() -> None:
            swarm = await self._mutated([x] * size, scout)
            own, best = swarm, strongest(swarm)
            velocity = [[ask.random.uniform(-self.vmax, self.vmax)] * len(space.positions) for _ in swarm]
            for done in (n / self.rounds for n in range(self.rounds)):
                if best.met:
                    break
                inertia, to_own = (pair[0] + done * (pair[1] - pair[0]) for pair in (self.inertia, self.chances))
                to_best = self.chances[0] + self.chances[1] - to_own
                for v, particle, mine in zip(velocity, swarm, own, strict=True):
                    for d, p in enumerate(space.positions):
                        pull = sum(self._pull(particle, aim, p) for aim in (mine, best))
                        v[d] = inertia * v[d] + (1 - inertia) * pull
                texts = [particle.text for particle in swarm]
                texts = await self._moved(texts, [mine.text for mine in own], velocity, to_own, scout)
                texts = await self._moved(texts, [best.text] * size, velocity, to_best, scout)
                swarm = await scout.members(texts)
                if strongest(swarm).met:
                    break
                changing = [n for n, text in enumerate(texts) if ask.random.random() < self._mutation(x, text)]
                for n, member in zip(changing, await self._mutated([texts[n] for n in changing], scout), strict=True):
                    swarm[n] = member
                own = [new if new.beats(old) else old for new, old in zip(swarm, own, strict=True)]
                best = max((best, strongest(swarm)), key=lambda member: (member.met, member.score))

        return await scout.run(fly, again=size < self.particles)

    def _pull(self, particle: Member, aim: Member, position: int) -> float:
        return -self.vmax if particle.text.words[position] == aim.text.words[position] else self.vmax

    def _mutation(self, x: Text, text: Text) -> float:
        return 1 - 2 * len(x.edits(text)) / len(x)

    async def _moved(
        self, texts: Sequence[Text], aims: Sequence[Text], velocity: list[list[float]], chance: float, scout: Scout
    ) -> list[Text]:
        """Some of the texts take words of their aims, each with probability sigmoid(v)."""
        moving = [n for n in range(len(texts)) if scout.ask.random.random() < chance]

        def draw(number: int) -> Mask:
            turned = [scout.ask.random.random() < 1 / (1 + math.exp(-v)) for v in velocity[moving[number]]]
            return tuple(turn != self.inverted for turn in turned)

        stay = (self.inverted,) * len(scout.positions)
        masks = await scout.masks([(texts[n], aims[n]) for n in moving], draw, lambda: stay)
        moved = list(texts)
        for n, mask in zip(moving, masks, strict=True):
            moved[n] = scout.mixed(texts[n], aims[n], mask)
        return moved

    async def _mutated(self, texts: Sequence[Text], scout: Scout) -> list[Member]:
        if self.by_gain:
            return await self._gained(texts, scout)
        weights = [
            {p: min(len(scout.space.choices[p]), 10) for p in scout.unchanged(text) or scout.positions}
            for text in texts
        ]
        return await scout.perturbed(texts, weights)

    async def _gained(self, texts: Sequence[Text], scout: Scout) -> list[Member]:
        """Each text with the best swap of one word, drawn by the gain of each word's best swap."""
        places = [scout.unchanged(text) for text in texts]
        flat = [(text, p) for text, unchanged in zip(texts, places, strict=True) for p in unchanged]
        swapped = iter(await scout.best_swaps([text for text, _ in flat], [p for _, p in flat]))
        found = []
        for current, unchanged in zip(await scout.members(texts), places, strict=True):
            options = [next(swapped) for _ in unchanged] or [current]
            gains = [option.score - current.score for option in options]
            found.append(scout.ask.random.choices(options, gains if any(gains) else None)[0])
        return found


def pso_neighbours() -> SememePSO:
    """The preset `neighbours`."""
    return SememePSO(source=Neighbours(k=50, min_cosine=0.5), stopwords=NLTK)


def pso_textattack() -> SememePSO:
    """The preset `textattack`."""
    return SememePSO(inverted=True, by_gain=True, constraints=(), stopwords=NLTK)
