"""One attack on one example, from the first question to the verdict."""

from __future__ import annotations

import math
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

from mohs.attacks.goal import UNTARGETED, parse_goal
from mohs.attacks.method import Ask, Attack
from mohs.engine import Answers, BudgetSpent, Meter
from mohs.errors import BadInput, MohsError
from mohs.models.victim import Fields, Scores, Victim
from mohs.records import Outcome, Record
from mohs.space import Measure, build_space
from mohs.text import Example, Text
from mohs.text.text import brief

NEAR_TIE = 1e-4  # scores move by less than this with the shape of a batch


@dataclass(frozen=True)
class Trial:
    """An attack made ready for a victim: calling it with an example gives the search for the engine.

    The library judges, the attack proposes: the original and the proposal are put to the `judge`, a service whose
    answers do not depend on what else is asked, and the record holds that verdict.
    """

    name: str
    attack: Attack
    model: Victim
    victim: Answers[Fields, Scores]
    judge: Answers[Fields, Scores]
    services: Mapping[str, Any]  # kind -> Service or word book
    classes: int
    goal: str = UNTARGETED
    seed: int = 0
    budget: int | None = None
    measures: tuple[Measure, ...] = ()  # taken of the final text beside those of the constraints

    async def __call__(self, example: Example) -> Record:
        """The record of this attack on an example; whatever raises becomes its outcome `error`."""
        facts: dict[str, Any] = {}
        try:
            return await self._record(example, facts)
        except Exception as error:
            facts |= failure(error)
            return self._made(example, Outcome.ERROR, facts)

    async def _record(self, example: Example, facts: dict[str, Any]) -> Record:
        x = example.text
        goal = parse_goal(self.goal, example.label, self.classes)
        (before,) = await self.judge.ask([x.fields])
        facts["scores_before"] = before
        meter = Meter(self.victim, self.budget, key=brief)
        meter.remember(x.fields, before)
        facts["queries"] = meter.queries
        if goal.skips(before, _left(example, x)):
            facts["near_tie"] = goal.margin(before) < NEAR_TIE
            return self._made(example, Outcome.SKIPPED, facts)

        positions = seen_by(self.model, example)
        facts["beyond_window"] = len(example.positions) - len(positions)
        ask = Ask(self.services, Random(f"{self.seed}/{self.name}/{example.id}"), meter)
        attack = self.attack
        living = getattr(attack, "living", False)
        space = await build_space(x, attack.source, attack.constraints, attack.stopwords, positions, ask, living=living)
        facts["positions"] = len(space.positions)
        try:
            proposal = await attack(x, goal, space, ask)
        except BudgetSpent:
            proposal = x
        finally:
            facts["queries"] = meter.queries

        if not isinstance(proposal, Text):
            raise BadInput(
                f"{self.name} returned {proposal!r}; an attack gives back a Text, the original if it has none."
            )
        if proposal not in space:
            raise AssertionError(f"{self.name} proposed a text outside its space: {proposal!r}")
        measures = await space.audit(proposal, ask, self.measures) if proposal != x else {}
        broken = space.violated(measures) if measures else []
        if broken:
            raise AssertionError(f"{self.name} proposed a text that breaks {', '.join(broken)}: {proposal!r}")
        after = before if proposal == x else (await self.judge.ask([proposal.fields]))[0]
        facts |= {
            "perturbed": proposal.fields,
            "edits": space.edits(proposal),
            "scores_after": after,
            "measures": {name: value for name, value in measures.items() if not math.isnan(value)},
            "near_tie": goal.margin(after) < NEAR_TIE,
        }
        if goal.won(after, _left(example, proposal)):
            return self._made(example, Outcome.SUCCESS, facts)
        return self._made(example, Outcome.EXHAUSTED if meter.spent else Outcome.FAILED, facts)

    def _made(self, example: Example, outcome: Outcome, facts: dict[str, Any]) -> Record:
        return record_of(self.name, example, self.seed, outcome, facts)


def record_of(name: str, example: Example, seed: int, outcome: Outcome, facts: Mapping[str, Any]) -> Record:
    """What is known of any attempt, and the facts of this one."""
    return Record(
        attack=name,
        example_id=example.id,
        outcome=outcome,
        label=example.label,
        names=example.names,
        original=example.text.fields,
        seed=seed,
        words=len(example.text),
        **facts,
    )


def failure(error: Exception) -> dict[str, str]:
    """What a record keeps of an exception, from where it is handled: one sentence, and where it was raised."""
    sentence = str(error) if isinstance(error, MohsError) else f"{type(error).__name__}: {error}"
    return {"error": " ".join(sentence.split()), "traceback": traceback.format_exc()}


def seen_by(model: Victim, example: Example) -> tuple[int, ...]:
    """The words of an example that may change and lie in the victim's window."""
    limits = model.visible(example.text.fields)
    if limits is None:
        return example.positions
    spans = example.text.spans()
    return tuple(p for p in example.positions if spans[p][2] <= limits[spans[p][0]])


def _left(example: Example, text: Text) -> int:
    """How many words a text has in the fields that may change."""
    return sum(len(text.words[p].split()) for p in example.positions)
