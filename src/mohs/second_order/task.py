"""One second-order search for one example, from the choice of the patch to the verdict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

from mohs.attacks.method import Ask
from mohs.attacks.trial import NEAR_TIE, failure, record_of, seen_by
from mohs.engine import Answers, BudgetSpent, Meter
from mohs.models.victim import Fields, Scores, Victim
from mohs.records import Outcome, Record
from mohs.second_order.patches import PatchBook
from mohs.second_order.searches import SecondOrder
from mohs.space.fluency import perplexity
from mohs.text import Example
from mohs.text.text import brief


@dataclass(frozen=True)
class SecondOrderTask:
    """A method made ready for a victim: calling it with an example gives the search for the engine.

    The record has the original, the vulnerable example in the place of the perturbed text, and in its details the patch
    and the victim's answers with it. All four verdicts are the judge's.
    """

    name: str
    method: SecondOrder
    book: PatchBook
    model: Victim
    victim: Answers[Fields, Scores]
    judge: Answers[Fields, Scores]
    services: Mapping[str, Any]
    seed: int = 0
    budget: int | None = None

    async def __call__(self, example: Example) -> Record:
        """The record of this search; whatever raises becomes its outcome `error`."""
        facts: dict[str, Any] = {}
        try:
            return await self._record(example, facts)
        except Exception as error:
            facts |= failure(error)
            return self._made(example, Outcome.ERROR, facts)

    async def _record(self, example: Example, facts: dict[str, Any]) -> Record:
        x = example.text
        (before,) = await self.judge.ask([x.fields])
        facts["scores_before"] = before
        positions = seen_by(self.model, example)
        facts |= {"beyond_window": len(example.positions) - len(positions), "positions": len(positions)}
        meter = Meter(self.victim, self.budget or self.method.budget, key=brief)
        ask = Ask(self.services, Random(f"{self.seed}/{self.name}/{example.id}"), meter)
        patch = await self.book.choose(x, positions, ask, self.method.plausible)
        if patch is None:
            return self._made(example, Outcome.SKIPPED, facts)
        (patched,) = await self.judge.ask([patch.applied(x).fields])
        details: dict[str, Any] = {"patch": patch._asdict(), "patched_before": list(patched)}
        facts["details"] = details
        spent = False
        try:
            found = await self.method(x, patch, positions, ask)
        except BudgetSpent:
            found, spent = None, True
        finally:
            facts["queries"] = meter.queries
        if found is None:
            return self._made(example, Outcome.EXHAUSTED if spent else Outcome.FAILED, facts)
        plain, other = await self.judge.ask([found.text.fields, patch.applied(found.text).fields])
        details |= {"patched_after": list(other), "steps": found.steps, "size": found.size}
        facts |= {
            "perturbed": found.text.fields,
            "edits": x.edits(found.text),
            "scores_after": plain,
            "measures": await self._fluency(example, found.text.fields, ask),
            "near_tie": min(_margin(plain), _margin(other)) < NEAR_TIE,
        }
        return self._made(example, Outcome.SUCCESS if self.method.tipped(plain, other) else Outcome.FAILED, facts)

    async def _fluency(self, example: Example, found: Fields, ask: Ask) -> dict[str, float]:
        if "lm" not in self.services:
            return {}
        before, after = await ask.lm([" ".join(example.text.fields), " ".join(found)])
        return {"perplexity-before": perplexity(before), "perplexity": perplexity(after)}

    def _made(self, example: Example, outcome: Outcome, facts: dict[str, Any]) -> Record:
        return record_of(self.name, example, self.seed, outcome, facts)


def _margin(scores: Scores) -> float:
    best, second, *_ = sorted(scores, reverse=True)
    return best - second
