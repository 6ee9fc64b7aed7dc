"""The radius of one example: from above by attacks, from below by proof, and the share that holds beyond it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

from mohs.attacks.goal import UNTARGETED, parse_goal
from mohs.attacks.method import Ask, Attack
from mohs.attacks.textbugger import Slopes
from mohs.attacks.trial import NEAR_TIE, failure, record_of, seen_by
from mohs.bounds.additive import worst_of
from mohs.bounds.certificate import Certificate
from mohs.bounds.cnn_bound import bound_of
from mohs.bounds.points import TIE, Points, Table
from mohs.bounds.prover import Level, Proof, Prover, margin_of
from mohs.bounds.share import Share, Shares
from mohs.engine import Answers, BudgetSpent, Meter
from mohs.models.sheets import Sheet
from mohs.models.victim import Fields, Scores, Victim
from mohs.records import Outcome, Record
from mohs.space import Constraint, Source, Space, build_space
from mohs.space.omega import Edits
from mohs.text import Example
from mohs.text.text import brief


@dataclass(frozen=True)
class RadiusTask:
    """L <= R < U for an example that the victim reads right: R is the most substitutions that change nothing.

    L is proven by asking every text with at most so many substitutions but those that a bound settles, or in closed
    form where words add up; U is the fewest substitutions with which an attack, the prover itself or a text drawn for
    the share changed the label.
    """

    name: str
    source: Source
    constraints: tuple[Constraint, ...]  # on words
    stopwords: frozenset[str]
    attacks: tuple[tuple[str, Attack], ...]
    model: Victim
    victim: Answers[Fields, Scores]
    judge: Answers[Fields, Scores]
    services: Mapping[str, Any]
    classes: int
    sheets: Answers[Sheet, Table] | None = None  # where the victim takes rows of tokens
    prover: Prover = Prover()
    seconds: float | None = None  # an example
    bounds: bool = True  # or everything is asked
    steady: bool = True  # whether the victim repeats itself: of one that does not nothing can be proven
    share: Share | Shares | None = None
    seed: int = 0
    clock: Callable[[], float] = time.monotonic

    async def __call__(self, example: Example) -> Record:
        """The record of an example; whatever raises becomes its outcome `error`."""
        facts: dict[str, Any] = {}
        counts: list[Callable[[], int]] = []  # of texts asked
        try:
            outcome = await self._measured(example, facts, counts)
        except Exception as error:
            facts |= failure(error)
            outcome = Outcome.ERROR
        facts["queries"] = sum(count() for count in counts)
        return record_of(self.name, example, self.seed, outcome, facts)

    async def _measured(self, example: Example, facts: dict[str, Any], counts: list[Callable[[], int]]) -> Outcome:
        x, label = example.text, example.label
        (before,) = await self.judge.ask([x.fields])
        counts.append(lambda: 1)
        facts |= {"scores_before": before, "near_tie": abs(margin_of(before, label)) < NEAR_TIE}
        if margin_of(before, label) <= TIE:
            return Outcome.SKIPPED
        meter: Meter[Fields, Scores] = Meter(self.victim, None, key=brief)
        counts.append(lambda: meter.queries)
        ask = Ask(self.services, Random(f"{self.seed}/{self.name}/{example.id}"), meter)
        positions = seen_by(self.model, example)
        facts["beyond_window"] = len(example.positions) - len(positions)
        space = await build_space(x, self.source, self.constraints, self.stopwords, positions, ask)
        facts["positions"] = len(space.positions)
        uppers: dict[str, Edits | None] = {}
        for name, attack in self.attacks:
            own = Ask(self.services, Random(f"{self.seed}/{name}/{example.id}"), meter)
            uppers[name] = await self._attacked(attack, space, label, own)
        started = self.clock()

        def late() -> bool:
            return self.seconds is not None and self.clock() - started > self.seconds

        points = Points(space, self.victim, self.judge, self.model, self.sheets)
        counts.append(lambda: points.asked)
        found = min((edits for edits in uppers.values() if edits is not None), key=len, default=None)
        proof, form = await self._closed(space, label, counts) if self.steady else None, "closed form"
        if proof is None:
            last = self.prover.max_r if found is None else min(self.prover.max_r, len(found) - 1)
            bound = bound_of(self.model, space, label) if self.bounds and self.steady and last > 1 else None
            if self.steady:
                prover = Prover(last, self.prover.most)
                proof = await prover(points, label, late, bound, await self._order(space, label, ask))
            else:
                proof = Proof(stopped="unsteady")
            form = "enumeration" if bound is None else "enumeration and bounds"
        share = None
        if self.share is not None:
            share = await self.share(points, label, len(example.positions), f"{self.seed}/{example.id}")
        for other in (proof.found, await self._confirmed(space, points.failing, label)):
            if other is not None and (found is None or len(other) < len(found)):
                found = other
        upper = None if found is None else len(found)
        lower = proof.certified if upper is None else min(proof.certified, upper - 1)  # coarse numbers may have erred
        whole = lower >= len(space.choices)
        details: dict[str, Any] = {
            "lower": lower,
            "upper": upper,
            "exact": whole or upper == lower + 1,
            "whole": whole,
            "by": form,
            "stopped": proof.stopped,
            "sizes": [level.size for level in proof.levels],
            "pruned": [level.pruned for level in proof.levels],
            "margins": [level.margin for level in proof.levels],
            "attacks": {name: None if edits is None else len(edits) for name, edits in uppers.items()},
        }
        if not proof.stopped and not details["exact"]:
            details["stopped"] = "max-r"
        if share is not None:
            details["share"] = share
        if lower:
            details["certificate"] = self._certificate(example, space, lower, form, proof.levels, points.tolerance)
        facts["details"] = details
        if found is not None:
            text = x.replace_all(found)
            (after,) = await self.judge.ask([text.fields])
            facts |= {"perturbed": text.fields, "edits": space.edits(text), "scores_after": after}
        return Outcome.MEASURED

    async def _confirmed(self, space: Space, edits: Edits | None, label: int) -> Edits | None:
        """A text that has another label, if the judge says so too."""
        if edits is None:
            return None
        (after,) = await self.judge.ask([space.text.replace_all(edits).fields])
        return edits if margin_of(after, label) < -TIE else None

    async def _order(self, space: Space, label: int, ask: Ask) -> list[int]:
        """The numbers of positions by how steeply the label falls there, where gradients are at hand."""
        if "gradients" not in self.services:
            return []
        places = tuple(space.choices)
        steep = await Slopes()(space.text, places, label, ask)
        return sorted(range(len(places)), key=lambda number: -steep[places[number]])

    async def _attacked(self, attack: Attack, space: Space, label: int, ask: Ask) -> Edits | None:
        goal = parse_goal(UNTARGETED, label, self.classes)
        try:
            proposal = await attack(space.text, goal, space, ask)
        except BudgetSpent:
            return None
        if proposal == space.text or proposal not in space:
            return None
        (after,) = await self.judge.ask([proposal.fields])
        if margin_of(after, label) >= -TIE:
            return None
        return {edit.position: edit.new for edit in space.edits(proposal)}

    async def _closed(self, space: Space, label: int, counts: list[Callable[[], int]]) -> Proof | None:
        """Where words add up: the worst text of every level, put to the judge."""
        worst = worst_of(self.model, space, label)
        if worst is None:
            return None
        proof = Proof()
        texts = [space.text.replace_all(worst.edits(r)) for r in range(1, len(worst.steps) + 1)]
        answers = await self.judge.ask([text.fields for text in texts]) if texts else []
        counts.append(lambda: len(texts))
        for r, scores in enumerate(answers, 1):
            margin = margin_of(scores, label)
            if margin < -TIE:
                proof.found = worst.edits(r)
                return proof
            proof.levels.append(Level(r, 1, round(margin, 6), worst.edits(r), "", int(margin <= TIE)))
            if margin <= TIE:
                proof.stopped = "ties"
                return proof
        last = proof.levels[-1].margin if proof.levels else 1.0
        for r in range(len(worst.steps) + 1, len(space.choices) + 1):  # what hurts nobody changes nothing
            proof.levels.append(Level(r, 1, last, worst.edits(r), ""))
        return proof

    def _certificate(
        self, example: Example, space: Space, radius: int, form: str, levels: list[Level], tolerance: float
    ) -> dict[str, Any]:
        return Certificate(
            victim=self.model.name,
            fingerprint=self.model.fingerprint,
            example=example.id,
            text=example.text.fields,
            label=example.label,
            radius=radius,
            choices=space.choices,
            by=form,
            levels=tuple(levels[:radius]),
            tolerance=tolerance,
        ).to_json()
