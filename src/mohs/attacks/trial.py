"""One attack on one example, from the first query to the verdict."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from operator import sub
from random import Random
from typing import Any

from mohs.attacks.finding import AttackFinding
from mohs.attacks.goal import UNTARGETED, parse_goal, predicted
from mohs.attacks.method import Ask, Attack
from mohs.engine import BudgetSpent, Meter
from mohs.errors import BadInput
from mohs.models.victim import Scores
from mohs.records import Outcome, Record
from mohs.space import Measure, Space, build_space
from mohs.tasks.attempt import NEAR_TIE, Draft, attempt
from mohs.tasks.memory import refuse_too_large
from mohs.tasks.subject import Target
from mohs.text import Example, Text
from mohs.text.sweep import Keys

_GUESSES = 50  # candidates of a word that are not known before the search


@dataclass(frozen=True)
class Trial:
    """An attack set up for a victim. Calling it with an example runs the search.

    The attack proposes, the library judges. The target's judge scores the original and the proposal; its answers do not
    depend on what else is queried. The record holds that verdict.
    """

    name: str
    attack: Attack
    target: Target
    services: Mapping[str, Any]  # kind -> Service or word book
    goal: str = UNTARGETED
    seed: int = 0
    budget: int | None = None
    measures: tuple[Measure, ...] = ()  # of the final text, in addition to those of the constraints

    async def __call__(self, example: Example) -> Record:
        """The record of this attack on an example. An exception becomes the outcome `error`."""
        return await attempt(self.name, example, self.seed, lambda draft: self._search(example, draft))

    async def _search(self, example: Example, draft: Draft) -> Outcome:
        x, target = example.text, self.target
        goal = parse_goal(self.goal, example.label, target.classes, refusal=target.refusal)
        before = await draft.probe(target, example)
        meter = Meter(target.searched, self.budget, keys=Keys(x))
        meter.remember(x, before)
        draft.queries = meter.queries
        if predicted(before) == target.refusal:
            return Outcome.REJECTED
        if goal.skips(before, _left(example, x)):
            draft.near_tie = goal.margin(before) < NEAR_TIE
            return Outcome.SKIPPED

        positions = draft.look(target, example)
        ask = Ask(self.services, Random(f"{self.seed}/{self.name}/{example.id}"), meter)
        attack = self.attack
        living = getattr(attack, "living", False)
        space = await build_space(x, attack.source, attack.constraints, attack.stopwords, positions, ask, living=living)
        draft.positions = len(space.touched)
        refuse_too_large(x, at_once(attack, space), target.most_memory)
        try:
            proposal = await attack(x, goal, space, ask)
        except BudgetSpent:
            proposal = x
        finally:
            draft.queries = meter.queries

        if not isinstance(proposal, Text):
            raise BadInput(
                f"{self.name} returned {proposal!r}; an attack must return a Text, the original if it found none."
            )
        if proposal not in space:
            raise AssertionError(f"{self.name} proposed a text outside its space: {proposal!r}")
        measures = await space.audit(proposal, ask, self.measures) if proposal != x else {}
        broken = space.violated(measures) if measures else []
        if broken:
            raise AssertionError(f"{self.name} proposed a text that breaks {', '.join(broken)}: {proposal!r}")
        after = before if proposal == x else (await target.judge.ask([proposal.fields]))[0]
        draft.finding = _contradiction(target, meter.known(proposal), after)
        draft.perturbed, draft.edits, draft.scores_after = proposal.fields, space.edits(proposal), after
        draft.measures = {name: value for name, value in measures.items() if not math.isnan(value)}
        draft.near_tie = goal.margin(after) < NEAR_TIE
        if goal.won(after, _left(example, proposal)):
            return Outcome.SUCCESS
        if predicted(after) == target.refusal:
            return Outcome.DETECTED
        return Outcome.EXHAUSTED if meter.spent else Outcome.FAILED


def _contradiction(target: Target, told: Scores | None, judged: Scores) -> AttackFinding | None:
    """What to note if the search was told other scores than the judge, by more than rounding."""
    traits = target.traits
    if told is None or traits.verdict not in (None, target.model):  # low precision differs from its judge
        return None
    apart = max(map(abs, map(sub, told, judged))) if len(told) == len(judged) else 1.0
    return AttackFinding(round(apart, 6)) if apart > traits.tolerance else None


def _left(example: Example, text: Text) -> int:
    """How many words a text has in the fields that may change."""
    if not text.same_shape(example.text):  # a rewrite may have fewer words than the original, or more
        numbers = {example.text.field_of(p) for p in example.positions}
        return sum(text.bounds[number + 1] - text.bounds[number] for number in numbers)
    return sum(len(text.words[p].split()) for p in example.positions)


def at_once(attack: Attack, space: Space) -> int:
    """About how many candidates an attack holds at once."""
    if space.rewrites:
        return len(space.rewrites) + at_once(attack, replace(space, rewrites=None))
    found = [_GUESSES if space.living else len(space.choices[p]) for p in space.positions]
    return max(found, default=0) if getattr(attack, "word_by_word", False) else sum(found)
