"""One example: its certificate for each budget, and the strongest attack over the same space."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

from mohs.attacks.goal import UNTARGETED, parse_goal, predicted
from mohs.attacks.method import Ask, Attack
from mohs.attacks.trial import at_once
from mohs.bounds.prover import margin_of
from mohs.certifying.finding import BudgetFinding, CertifyFinding, VotesFinding
from mohs.certifying.fixed import Lower, fixed_bound
from mohs.certifying.robust import EVERY, every_text, members, proposal_of
from mohs.certifying.smoothed import Smoothed, reads
from mohs.defences.smoothing import Safer
from mohs.engine import Meter
from mohs.models.victim import Fields, Scores
from mohs.records import Outcome, Record
from mohs.space import Constraint, Source, Space, build_space
from mohs.tasks.attempt import NEAR_TIE, Draft, attempt
from mohs.tasks.memory import refuse_too_large
from mohs.tasks.subject import Target
from mohs.text import Example, Text
from mohs.text.text import brief

_LARGEST = 10**300  # larger spaces are written as this
_ROUNDING = 1e-9  # a bound must be above it


@dataclass(frozen=True)
class Fooling:
    """A text of the space with another prediction."""

    text: Text
    by: str
    changed: int
    scores: Scores  # for a smoothed victim those of the keyed draws, which the attack saw
    votes: VotesFinding | None = None

    def within(self, budget: int | None) -> bool:
        """Whether it changes at most so many words."""
        return budget is None or self.changed <= budget


@dataclass(frozen=True)
class CertifyTask:
    """Certifies an example and attacks it, for each budget of changed words.

    For a smoothed victim, two sets of fresh draws judge the text: the first select a class, the others bound its share.
    The attack searches against the practical victim, with its key. Each text that it proposes is judged by as many
    fresh draws as the certificate has: it fools the victim if another class gets more of their votes than the label.
    """

    name: str
    target: Target
    services: Mapping[str, Any]
    source: Source | None  # None: the perturbation sets of SAFER
    constraints: tuple[Constraint, ...]  # on words
    stopwords: frozenset[str]
    attacks: tuple[tuple[str, Attack], ...]
    budgets: tuple[int | None, ...]
    method: str
    smoothed: Smoothed | None = None
    select: int = 100
    draws: int = 1000
    alpha: float = 0.001
    every: int = 1000
    seed: int = 0

    async def __call__(self, example: Example) -> Record:
        """The record of an example; an exception becomes the outcome `error`."""
        return await attempt(self.name, example, self.seed, lambda draft: self._measure(example, draft))

    async def _measure(self, example: Example, draft: Draft) -> Outcome:
        x, label, target = example.text, example.label, self.target
        before = await draft.probe(target, example)
        draft.queries = 1
        draft.near_tie = abs(margin_of(before, label)) < NEAR_TIE
        votes = selected = None
        asked = 0
        if self.smoothed is not None:
            first = self.smoothed.votes(x.fields, self.select, target.classes, self._random(example, "select"))
            selected = first.winner(first.counts.index(max(first.counts)))
            votes = self._voted(example, x, "certify")
            asked = self.select + self.draws
        right = predicted(before) == label if votes is None else votes.winner == label
        meter: Meter[Fields, Scores] = Meter(target.victim, None, key=brief)
        ask = Ask(self.services, self._random(example, "space"), meter)
        space = await self._space(example, draft, ask)
        size = float(min(space.size(), _LARGEST))
        if not right:
            draft.finding = CertifyFinding(self.method, size, (), votes, selected, asked)
            return Outcome.SKIPPED
        for _, attack in self.attacks:
            refuse_too_large(x, at_once(attack, space), target.most_memory)
        method, lower = self._bound(example, space, before, votes, selected)
        bounds = {budget: None if lower is None else lower(budget) for budget in self.budgets}
        found: list[Fooling] = []
        exact: set[int | None] = set()
        judged: dict[Text, Fooling | None] = {}
        try:
            for budget in self.budgets:
                if not any(one.within(budget) for one in found):
                    found += await self._attacked(example, space, budget, meter, judged, exact)
        finally:
            draft.queries = 1 + meter.queries
        draft.finding = CertifyFinding(
            method,
            size,
            tuple(_finding(budget, bounds[budget], found, budget in exact) for budget in self.budgets),
            votes,
            selected,
            asked + (self.draws * len(judged) if self.smoothed is not None else 0),
        )
        if found:
            best = min(found, key=lambda one: one.changed)
            draft.perturbed, draft.edits, draft.scores_after = best.text.fields, space.edits(best.text), best.scores
        return Outcome.MEASURED

    async def _space(self, example: Example, draft: Draft, ask: Ask) -> Space:
        """The space of the certificate and of the attack."""
        x, positions = example.text, draft.look(self.target, example)
        if self.source is None:
            assert self.smoothed is not None, "only SAFER has a space of its own"
            space = Space(x, self.smoothed.choices(x, positions))
        else:
            space = await build_space(x, self.source, self.constraints, self.stopwords, positions, ask)
        if self.smoothed is not None and not isinstance(self.smoothed.defence, Safer):
            kept = {p: tuple(w for w in words if reads(x, p, w)) for p, words in space.choices.items()}
            space = Space(x, {p: words for p, words in kept.items() if words}, space.constraints, dict(space.offers))
        draft.positions = len(space.positions)
        return space

    def _bound(
        self, example: Example, space: Space, before: Scores, votes: VotesFinding | None, selected: int | None
    ) -> tuple[str, Lower | None]:
        """The name of the certificate, and a bound for each budget; None if there is no bound for this example."""
        label, smoothed = example.label, self.smoothed
        if smoothed is not None:
            assert votes is not None
            if selected != label:
                return self.method, None
            share = votes.label / votes.draws
            return self.method, lambda budget: votes.low - smoothed.loss(space, budget, share) - 0.5
        if not self.target.steady or not self.target.alike:
            return self.method, None  # a victim that contradicts itself
        if not space.choices:
            return self.method, lambda budget: margin_of(before, label) - self.target.traits.tolerance
        return fixed_bound(self.target.model, space, label, self._random(example, "compare")) or (self.method, None)

    async def _attacked(
        self,
        example: Example,
        space: Space,
        budget: int | None,
        meter: Meter[Fields, Scores],
        judged: dict[Text, Fooling | None],
        exact: set[int | None],
    ) -> list[Fooling]:
        """The first text that an attack finds within a budget; adds the budget to `exact` if all texts were asked."""
        goal = parse_goal(UNTARGETED, example.label, self.target.classes)
        for name, attack in members(self.attacks, space.size(budget), self.every):
            ask = Ask(self.services, self._random(example, f"{name}/{budget}"), meter)
            if attack is None:
                proposal = await every_text(space, budget, goal, ask)
                if self.smoothed is None:
                    exact.add(budget)
            else:
                proposal = await proposal_of(attack, space, budget, goal, ask)
            if proposal is None:
                continue
            if proposal not in judged:
                judged[proposal] = await self._fooled(example, space, proposal, name)
            hit = judged[proposal]
            if hit is not None:
                return [hit]
        return []

    async def _fooled(self, example: Example, space: Space, text: Text, by: str) -> Fooling | None:
        """The verdict on a text, or None if the victim keeps the label."""
        (after,) = await self.target.judge.ask([text.fields])
        votes = None if self.smoothed is None else self._voted(example, text, "verdict")
        wrong = predicted(after) != example.label if votes is None else votes.winner != example.label
        return Fooling(text, by, len(space.edits(text)), after, votes) if wrong else None

    def _voted(self, example: Example, text: Text, use: str) -> VotesFinding:
        """What fresh draws say; other draws for each use and text."""
        assert self.smoothed is not None
        random = self._random(example, f"{use}/{text.fields!r}")
        return self.smoothed.votes(text.fields, self.draws, self.target.classes, random).finding(
            example.label, self.alpha
        )

    def _random(self, example: Example, use: str) -> Random:
        return Random(f"{self.seed}/{self.name}/{example.id}/{use}")


def _finding(budget: int | None, bound: float | None, found: list[Fooling], every: bool) -> BudgetFinding:
    certified = bound is not None and bound > _ROUNDING
    hits = [one for one in found if one.within(budget)]
    told = None if bound is None else round(bound, 9)
    if not hits:
        return BudgetFinding(budget, told, certified, False, EVERY if every else "", every=every)
    hit = min(hits, key=lambda one: one.changed)
    return BudgetFinding(budget, told, certified, True, hit.by, hit.changed, every, hit.votes)
