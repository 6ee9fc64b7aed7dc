"""One example: its certificate for each budget, and the strongest attack over the same space."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from mohs.attacks.goal import UNTARGETED, parse_goal, predicted
from mohs.attacks.method import Ask, Attack
from mohs.attacks.trial import at_once
from mohs.bounds.prover import margin_of
from mohs.certifying.finding import BudgetFinding, CertifyFinding, VotesFinding
from mohs.certifying.fixed import Lower, fixed_bound
from mohs.certifying.robust import EVERY, members, nearest, proposal_of
from mohs.certifying.smoothed import Smoothed, reads
from mohs.defences.smoothing import Safer
from mohs.engine import Meter
from mohs.models.victim import Scores
from mohs.records import Outcome, Record
from mohs.space import Constraint, Source, Space, build_space
from mohs.tasks.attempt import NEAR_TIE, Draft, attempt
from mohs.tasks.memory import refuse_too_large
from mohs.tasks.subject import Target
from mohs.text import Example, Text
from mohs.text.sweep import Keys

_LARGEST = 10**300  # larger spaces are written as this
_ROUNDING = 1e-9  # a bound must be above it
_JUDGED = 4  # texts judged by fresh draws, if all texts of a space were asked with the key


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

    def counts(self, budget: int | None, certified: bool) -> bool:
        """Whether it fools the victim within a budget. A vote that may be lost by chance refutes no certificate."""
        return self.within(budget) and not (certified and self.votes is not None and self.votes.high >= 0.5)


@dataclass(frozen=True)
class CertifyTask:
    """Certifies an example and attacks it, for each budget of changed words.

    For a smoothed victim, fresh draws say whether the text is classified correctly, and bound the label's share. The
    attack searches against the practical victim, with its key. Each text that it proposes is judged by as many fresh
    draws: it fools the victim if another class gets more of their votes than the label. If the text is certified, it
    must also be clear from these draws that the label's share is below one half, or else the verdict is `undecided`.
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
        votes = None if self.smoothed is None else self._voted(example, x, "certify")
        asked = 0 if votes is None else votes.draws
        right = predicted(before) == label if votes is None else votes.winner == label
        meter: Meter[Text, Scores] = Meter(target.searched, keys=Keys(x))
        ask = Ask(self.services, self._random(example, "space"), meter)
        space = await self._space(example, draft, ask)
        size = float(min(space.size(), _LARGEST))
        if not right:
            draft.finding = CertifyFinding(self.method, size, (), votes, asked)
            return Outcome.SKIPPED
        for _, attack in self.attacks:
            refuse_too_large(x, at_once(attack, space), target.most_memory)
        method, lower = self._bound(example, space, before, votes)
        bounds = nested(self.budgets, lower)
        found: list[Fooling] = []
        exact: set[int | None] = set()
        judged: dict[Text, Fooling | None] = {}
        try:
            for budget in self.budgets:
                certified = certifies(bounds[budget])
                if not any(one.counts(budget, certified) for one in found):
                    found += await self._attacked(example, space, budget, certified, meter, judged, exact)
        finally:
            draft.queries = 1 + meter.queries
        draft.finding = CertifyFinding(
            method,
            size,
            tuple(_finding(budget, bounds[budget], found, budget in exact) for budget in self.budgets),
            votes,
            asked + (self.draws * len(judged) if self.smoothed is not None else 0),
        )
        fooling = [one for one in found if any(one.counts(budget, certifies(bounds[budget])) for budget in bounds)]
        if fooling:
            best = min(fooling, key=lambda one: one.changed)
            draft.perturbed, draft.edits, draft.scores_after = best.text.fields, space.edits(best.text), best.scores
        return Outcome.MEASURED

    async def _space(self, example: Example, draft: Draft, ask: Ask) -> Space:
        """The space of the certificate and of the attack."""
        x, positions = example.text, draft.look(self.target, example)
        if self.source is None:
            assert self.smoothed is not None, "only SAFER has a space of its own"
            choices = self.smoothed.choices(x, positions)
            space = Space(x, choices, offers={p: dict.fromkeys(words, "safer") for p, words in choices.items()})
        else:
            space = await build_space(x, self.source, self.constraints, self.stopwords, positions, ask)
        if self.smoothed is not None and not isinstance(self.smoothed.defence, Safer):
            kept = {p: tuple(w for w in words if reads(x, p, w)) for p, words in space.choices.items()}
            space = Space(x, {p: words for p, words in kept.items() if words}, space.constraints, dict(space.offers))
        draft.positions = len(space.positions)
        return space

    def _bound(
        self, example: Example, space: Space, before: Scores, votes: VotesFinding | None
    ) -> tuple[str, Lower | None]:
        """The name of the certificate, and a bound for each budget; None if there is no bound for this example."""
        label, smoothed = example.label, self.smoothed
        if smoothed is not None:
            assert votes is not None
            share, floor = votes.label / votes.draws, smoothed.floor(votes)
            return self.method, lambda budget: floor - smoothed.loss(space, budget, share) - 0.5
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
        certified: bool,
        meter: Meter[Text, Scores],
        judged: dict[Text, Fooling | None],
        exact: set[int | None],
    ) -> list[Fooling]:
        """What the attacks find within a budget, up to the first text that counts.

        Adds the budget to `exact` if all texts were asked.
        """
        goal = parse_goal(UNTARGETED, example.label, self.target.classes)
        found: list[Fooling] = []
        for name, attack in members(self.attacks, space.size(budget), self.every):
            ask = Ask(self.services, self._random(example, f"{name}/{budget}"), meter)
            if attack is not None:
                proposals = await proposal_of(attack, space, budget, goal, ask)
            elif self.smoothed is None:
                proposals = await nearest(space, budget, goal, ask)
                exact.add(budget)
            else:
                proposals = await nearest(space, budget, goal, ask, _JUDGED)
            for proposal in proposals:
                if proposal not in judged:
                    judged[proposal] = await self._fooled(example, space, proposal, name)
                hit = judged[proposal]
                if hit is not None:
                    found.append(hit)
                    if hit.counts(budget, certified):
                        return found
        return found

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


def certifies(bound: float | None) -> bool:
    """Whether a bound proves that the label stays."""
    return bound is not None and bound > _ROUNDING


def nested(budgets: Sequence[int | None], lower: Lower | None) -> dict[int | None, float | None]:
    """The bound for each budget, smallest first. What holds with more words holds with fewer, so the larger counts."""
    found: dict[int | None, float | None] = {}
    most: float | None = None
    for budget in reversed(budgets):
        if lower is not None:
            bound = lower(budget)
            most = bound if most is None else max(most, bound)
        found[budget] = most
    return dict(reversed(found.items()))


def _finding(budget: int | None, bound: float | None, found: list[Fooling], every: bool) -> BudgetFinding:
    certified = certifies(bound)
    told = None if bound is None else round(bound, 9)
    hits = [one for one in found if one.counts(budget, certified)]
    if hits:
        hit = min(hits, key=lambda one: one.changed)
        return BudgetFinding(budget, told, certified, True, hit.by, hit.changed, every, hit.votes)
    open_ones = [one.votes for one in found if one.within(budget)]
    votes = open_ones[0] if open_ones else None
    by = EVERY if every else ""
    return BudgetFinding(budget, told, certified, False, by, None, every, votes, undecided=bool(open_ones))
