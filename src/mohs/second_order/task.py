"""A second-order search for one example: choose the patch, search, and judge the result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

from mohs.attacks.method import Ask
from mohs.engine import BudgetSpent, Meter
from mohs.models.victim import Fields, Scores
from mohs.records import Outcome, Record
from mohs.second_order.finding import SecondOrderFinding
from mohs.second_order.patches import PatchBook
from mohs.second_order.searches import SecondOrder
from mohs.space.fluency import perplexity
from mohs.tasks.attempt import NEAR_TIE, Draft, attempt
from mohs.tasks.memory import refuse_too_large
from mohs.tasks.subject import Target
from mohs.text import Example
from mohs.text.sweep import Keys


@dataclass(frozen=True)
class SecondOrderTask:
    """A method bound to a victim. Calling it with an example gives the search for the engine.

    In the record, the perturbed text is the vulnerable example. The finding has the patch and the victim's answers with
    it. The judge gives all four answers.
    """

    name: str
    method: SecondOrder
    book: PatchBook
    target: Target
    services: Mapping[str, Any]
    seed: int = 0
    budget: int | None = None

    async def __call__(self, example: Example) -> Record:
        """The record of this search; an exception becomes the outcome `error`."""
        return await attempt(self.name, example, self.seed, lambda draft: self._search(example, draft))

    async def _search(self, example: Example, draft: Draft) -> Outcome:
        x, judge = example.text, self.target.judge
        await draft.probe(self.target, example)
        positions = draft.look(self.target, example)
        draft.positions = len(positions)
        meter = Meter(self.target.searched, self.budget or self.method.budget, keys=Keys(x))
        ask = Ask(self.services, Random(f"{self.seed}/{self.name}/{example.id}"), meter)
        patch = await self.book.choose(x, positions, ask, self.method.plausible)
        if patch is None:
            return Outcome.SKIPPED
        (patched,) = await judge.ask([patch.applied(x).fields])
        draft.finding = SecondOrderFinding(patch, patched)
        spent = False
        try:
            found = await self.method(x, patch, positions, ask, self._hold(example))
        except BudgetSpent:
            found, spent = None, True
        finally:
            draft.queries = meter.queries
        if found is None:
            return Outcome.EXHAUSTED if spent else Outcome.FAILED
        plain, other = await judge.ask([found.text.fields, patch.applied(found.text).fields])
        draft.finding = SecondOrderFinding(patch, patched, other, found.steps, found.size)
        draft.perturbed, draft.edits, draft.scores_after = found.text.fields, x.edits(found.text), plain
        draft.measures = await self._fluency(example, found.text.fields, ask)
        draft.near_tie = min(_margin(plain), _margin(other)) < NEAR_TIE
        return Outcome.SUCCESS if self.method.tipped(plain, other) else Outcome.FAILED

    def _hold(self, example: Example) -> Callable[[int], None]:
        """Refuses to hold more neighbours of an example than the memory allows."""
        return lambda texts: refuse_too_large(example.text, texts, self.target.most_memory)

    async def _fluency(self, example: Example, found: Fields, ask: Ask) -> dict[str, float]:
        if "lm" not in self.services:
            return {}
        before, after = await ask.lm([" ".join(example.text.fields), " ".join(found)])
        return {"perplexity-before": perplexity(before), "perplexity": perplexity(after)}


def _margin(scores: Scores) -> float:
    best, second, *_ = sorted(scores, reverse=True)
    return best - second
