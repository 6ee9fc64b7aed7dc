"""A verb in one file: settings, task and view. The last line makes it known; nothing else is edited anywhere.

`python -m tests.runs.toy_verb shout ...` is the command line with this verb in it.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mohs.records import Outcome, Record
from mohs.report.rates import mean_of
from mohs.report.table import mean
from mohs.report.view import View
from mohs.runs.verbs import register
from mohs.tasks.attempt import Draft, attempt
from mohs.tasks.option import model, option
from mohs.tasks.plan import Plan, Verb
from mohs.tasks.subject import Subject, Target
from mohs.text import Example


@dataclass(frozen=True)
class ShoutFinding:
    """How much shouting moves the label's probability."""

    fall: float
    tagged: int | None = None


@dataclass(frozen=True)
class ShoutTask:
    """Ask about the text in capitals."""

    name: str
    target: Target
    services: Mapping[str, Any]
    times: int
    seed: int

    async def __call__(self, example: Example) -> Record:
        return await attempt(self.name, example, self.seed, lambda draft: self._search(example, draft))

    async def _search(self, example: Example, draft: Draft) -> Outcome:
        if example.id == os.environ.get("KILL_AT"):
            os.kill(os.getpid(), signal.SIGKILL)
        before = await draft.probe(self.target, example)
        loud = tuple(field.upper() + "!" * self.times for field in example.text.fields)
        (draft.scores_after,) = await self.target.judge.ask([loud])
        draft.perturbed, draft.queries = loud, 2
        draft.finding = ShoutFinding(round(before[example.label] - draft.scores_after[example.label], 6))
        return Outcome.MEASURED


@dataclass(frozen=True, kw_only=True)
class Shout(Verb, command="shout", doing="shouting", third="times"):
    """Measure how much shouting moves a classifier.

    Examples:
      mohs shout --times 3
    """

    finds = ShoutFinding

    times: int = option("How many exclamation marks.", default=1, least=1)
    tagger: Any = model("tagger")

    def needs(self, subject: Subject) -> list[str]:
        return ["tagger"] if self.tagger else []

    def plan(self, subject: Subject, services: Mapping[str, Any]) -> Plan:
        task = ShoutTask("shout", subject.target, services, self.times, subject.seed)
        return Plan(tasks=[task], notes=["Shouting is rude."])


class ShoutView(View):
    """The mean fall."""

    offers = ("falls",)

    def falls(self) -> list[float]:
        """The fall of each example."""
        return [record.finding.fall for record in self._run.records() if record.finding]

    def tables(self) -> list[tuple[str, list[tuple[str, str, str]]]]:
        return [("shout", [("fall", mean(mean_of(self.falls(), "examples"), 4), "mean over examples")])]

    def columns(self, record: Record) -> dict[str, Any]:
        return {"fall": record.finding.fall if record.finding else None}


register(Shout, ShoutView)

if __name__ == "__main__":
    from mohs.cli import main

    main()
