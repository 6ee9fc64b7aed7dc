"""The radius of one example: an upper bound by attack, a lower bound by proof, and the share that holds beyond it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import numpy as np

from mohs.attacks.goal import UNTARGETED, parse_goal
from mohs.attacks.method import Ask, Attack
from mohs.attacks.slices import slices
from mohs.attacks.trial import at_once
from mohs.bounds.additive import agrees, bytes_of_levels, some_texts, worst_of
from mohs.bounds.certificate import Certificate
from mohs.bounds.cnn_bound import bound_of
from mohs.bounds.finding import RadiusFinding
from mohs.bounds.order import by_sensitivity, sensitivities
from mohs.bounds.pace import Pace
from mohs.bounds.points import NO_TEXTS, TIE, Points
from mohs.bounds.prover import Level, Proof, Prover, margin_of
from mohs.bounds.share import Share, Shares
from mohs.engine import BudgetSpent, Meter
from mohs.models.victim import Fields, Scores, traits_of
from mohs.records import Outcome, Record
from mohs.space import Constraint, Source, Space, build_space, omega
from mohs.space.omega import Edits
from mohs.tasks.attempt import NEAR_TIE, Draft, attempt
from mohs.tasks.memory import refuse_above, refuse_too_large
from mohs.tasks.subject import Target
from mohs.text import Example, Text
from mohs.text.sweep import Keys

_KNOWN = 8  # texts asked before the run that are asked again at every level


@dataclass(frozen=True)
class RadiusTask:
    """Finds L <= R < U for an example that the victim classifies correctly.

    R is the radius: the largest number of substitutions that never change the label. L is a proven lower bound. Every
    text with at most L substitutions was asked or proven by a bound, or the closed form applies (`additive`). U is the
    fewest substitutions that changed the label, in an attack, in the proof, or among the texts drawn for the share.
    """

    name: str
    source: Source
    constraints: tuple[Constraint, ...]  # on words
    stopwords: frozenset[str]
    attacks: tuple[tuple[str, Attack], ...]
    target: Target
    services: Mapping[str, Any]
    prover: Prover = Prover()
    time_limit: float | None = None  # seconds for the proof of one example
    gradients: bool = False  # try the positions first where the victim's gradients are largest
    bounds: bool = True  # skip texts that a bound proves; False: ask all
    share: Share | Shares | None = None
    seed: int = 0
    built: Mapping[str, Any] | None = None  # how the spaces are built, for certificates
    clock: Callable[[], float] = time.monotonic

    async def __call__(self, example: Example) -> Record:
        """The record of an example; an exception becomes the outcome `error`."""
        counts: list[Callable[[], int]] = []  # numbers of texts asked

        async def search(draft: Draft) -> Outcome:
            try:
                return await self._measure(example, draft, counts)
            finally:
                draft.queries = sum(count() for count in counts)

        return await attempt(self.name, example, self.seed, search)

    async def _measure(self, example: Example, draft: Draft, counts: list[Callable[[], int]]) -> Outcome:
        x, label, target = example.text, example.label, self.target
        before = await draft.probe(target, example)
        counts.append(lambda: 1)
        draft.near_tie = abs(margin_of(before, label)) < NEAR_TIE
        if margin_of(before, label) <= traits_of(target.traits.verdict or target.model).tolerance:
            return Outcome.SKIPPED  # a margin that decides nothing is no right reading, for proofs and checks alike
        meter: Meter[Text, Scores] = Meter(target.searched, keys=Keys(x))
        counts.append(lambda: meter.queries)
        ask = Ask(self.services, Random(f"{self.seed}/{self.name}/{example.id}"), meter)
        positions = draft.look(target, example)
        space = await build_space(x, self.source, self.constraints, self.stopwords, positions, ask)
        draft.positions = len(space.positions)
        self._refuse_too_large(example, space)
        uppers: dict[str, Edits | None] = {}
        for name, attack in self.attacks:
            own = Ask(self.services, Random(f"{self.seed}/{name}/{example.id}"), meter)
            uppers[name] = await self._attacked(attack, space, label, own)
        seed = f"{self.seed}/{self.name}/{example.id}"
        known = self._known(example, before, Random(f"{seed}/known"))
        points = Points(space, target.anew, target.judge, target.model, target.sheets, target.alone, seed, known)
        counts.append(lambda: points.asked - points.repeated)
        found = min((edits for edits in uppers.values() if edits is not None), key=len, default=None)
        proof, form = await self._proven(points, label, before, found, ask, counts)
        share = None
        if self.share is not None:
            share = await self.share(points, label, len(example.positions), f"{self.seed}/{example.id}")
        if points.differs:
            proof = Proof(found=proof.found, stopped=points.differs)
        for other in (proof.found, await self._confirmed(space, points.failing, label)):
            if other is not None and (found is None or len(other) < len(found)):
                found = other
        upper = None if found is None else len(found)
        lower = proof.certified if upper is None else min(proof.certified, upper - 1)  # low precision may have erred
        whole = lower >= len(space.choices)
        exact = whole or upper == lower + 1
        draft.finding = RadiusFinding(
            lower=lower,
            upper=upper,
            exact=exact,
            whole=whole,
            by=form,
            stopped=proof.stopped or ("" if exact else "max-r"),
            sizes=tuple(proof.texts),
            pruned=tuple(level.pruned for level in proof.levels),
            margins=tuple(level.margin for level in proof.levels),
            attacks={name: None if edits is None else len(edits) for name, edits in uppers.items()},
            share=share,
            certificate=self._certificate(example, points, lower, form, proof.levels) if lower else None,
        )
        if found is not None:
            text = x.replace_all(found)
            (draft.scores_after,) = await target.judge.ask([text.fields])
            draft.perturbed, draft.edits = text.fields, space.edits(text)
        return Outcome.MEASURED

    def _known(self, example: Example, before: Scores, random: Random) -> dict[Fields, Scores]:
        """Texts that the victim must still answer as it did: the original, and some that were asked before the run."""
        told = self.target.known
        some = random.sample(list(told), min(_KNOWN, len(told)))
        return {**{text: told[text] for text in some}, example.text.fields: before}

    def _refuse_too_large(self, example: Example, space: Space) -> None:
        """Refuse an example whose attacks or draws would take more memory than allowed. Proofs go in slices."""
        most = self.target.most_memory
        for _, attack in self.attacks:
            refuse_too_large(example.text, at_once(attack, space), most)
        if self.share is not None:
            needed = self.share.memory(len(space.choices), len(example.positions))
            refuse_above(most, needed, example.text, "the draws for its share")

    async def _proven(
        self,
        points: Points,
        label: int,
        before: Scores,
        found: Edits | None,
        ask: Ask,
        counts: list[Callable[[], int]],
    ) -> tuple[Proof, str]:
        """The proof and its kind. Nothing is proven for a victim whose answers vary."""
        if not self.target.steady or not self.target.alike:
            return Proof(stopped="batches" if self.target.steady else "unsteady"), "enumeration"
        pace = Pace(self.time_limit, self.clock)
        closed = await self._closed(points.space, label, before, counts)
        if closed is not None:
            await points.repeat(*NO_TEXTS, label, np.zeros(0))
            return closed, "closed form"
        last = self.prover.max_r if found is None else min(self.prover.max_r, len(found) - 1)
        bound = bound_of(self.target.model, points.space, label) if self.bounds and last > 1 else None
        compared = [] if bound is None else some_texts(self.target.model, points.space, Random(f"{points.seed}/bound"))
        if compared and not agrees(self.target.model, compared, points.tolerance):
            bound = None  # it is a bound of the model inside, which answers otherwise
        prover = Prover(last, self.prover.most)
        proof = await prover(points, label, pace, bound, await self._order(points.space, label, ask))
        return proof, "enumeration" if bound is None else "enumeration and bounds"

    async def _confirmed(self, space: Space, edits: Edits | None, label: int) -> Edits | None:
        """The edits, if the judge agrees that they change the label."""
        if edits is None:
            return None
        (after,) = await self.target.judge.ask([space.text.replace_all(edits).fields])
        return edits if margin_of(after, label) < -TIE else None

    async def _order(self, space: Space, label: int, ask: Ask) -> list[int]:
        """The position numbers, most sensitive first; empty for the order of the text."""
        if not self.gradients:
            return []
        return by_sensitivity(await sensitivities(space.text, tuple(space.choices), label, ask))

    async def _attacked(self, attack: Attack, space: Space, label: int, ask: Ask) -> Edits | None:
        goal = parse_goal(UNTARGETED, label, self.target.classes)
        try:
            proposal = await attack(space.text, goal, space, ask)
        except BudgetSpent:
            return None
        if proposal == space.text or proposal not in space:
            return None
        (after,) = await self.target.judge.ask([proposal.fields])
        if margin_of(after, label) >= -TIE:
            return None
        return {edit.position: edit.new for edit in space.edits(proposal)}

    async def _closed(self, space: Space, label: int, before: Scores, counts: list[Callable[[], int]]) -> Proof | None:
        """For a victim that adds up words: ask the judge about the worst text of every level."""
        worst = worst_of(self.target.model, space, label)
        if worst is None:
            return None
        proof = Proof()
        tolerance = self.target.traits.tolerance
        random = Random(f"{self.seed}/{space.text}/closed form")
        if not agrees(self.target.model, [space.text.fields, *some_texts(self.target.model, space, random)], tolerance):
            return None
        asked = 0
        counts.append(lambda: asked)
        for some in slices(space.text, range(1, len(worst.steps) + 1)):
            self._refuse_levels(space, some[-1], some[-1])
            texts = [space.text.replace_all(worst.edits(r)).fields for r in some]
            if not agrees(self.target.model, texts, tolerance):
                return None
            asked += len(texts)
            for r, scores in zip(some, await self.target.judge.ask(texts), strict=True):
                margin = margin_of(scores, label)
                if margin < -TIE:
                    proof.found = worst.edits(r)
                    return proof
                proof.levels.append(Level(r, 1, round(margin, 6), worst.edits(r), "", int(margin <= tolerance)))
                proof.texts.append(1)
                if margin <= tolerance:
                    proof.stopped = "ties"
                    return proof
        last = proof.levels[-1].margin if proof.levels else round(margin_of(before, label), 6)
        self._refuse_levels(space, len(worst.steps), len(space.choices))
        whole = worst.edits(len(worst.steps))
        for r in range(len(worst.steps) + 1, len(space.choices) + 1):  # the other positions never hurt the label
            proof.levels.append(Level(r, 1, last, whole, ""))
            proof.texts.append(1)
        return proof

    def _refuse_levels(self, space: Space, steps: int, levels: int) -> None:
        """Refuse an example whose certificate would take more memory than allowed: it tells the worst text of each."""
        needed = bytes_of_levels(steps, levels)
        refuse_above(self.target.most_memory, needed, space.text, f"a certificate of {levels:,} levels")

    def _certificate(
        self, example: Example, points: Points, radius: int, form: str, levels: list[Level]
    ) -> dict[str, Any]:
        choices = points.space.choices
        told = levels[:radius]
        built = None
        if self.built is not None:
            changing = example.changeable or example.names[-1:]
            built = {**self.built, "fields": [i for i, name in enumerate(example.names) if name in changing]}
            if form == "closed form":  # of which one text a level was asked
                sizes = omega.levels(choices, radius)[1:]
                told = [replace(level, size=size) for level, size in zip(told, sizes, strict=True)]
        return Certificate(
            victim=self.target.model.name,
            fingerprint=self.target.model.fingerprint,
            example=example.id,
            text=example.text.fields,
            label=example.label,
            radius=radius,
            choices=choices,
            by=form,
            levels=tuple(told),
            tolerance=points.tolerance,
            built=built,
        ).to_json()
