"""Several attacks as one: each example's worst case over all of them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from mohs.attacks.trial import Trial
from mohs.engine import Memory
from mohs.records import Outcome, Record
from mohs.text import Example
from mohs.text.text import brief

_ENDS = (Outcome.SUCCESS, Outcome.SKIPPED, Outcome.REJECTED)  # after these no other member has anything to do


@dataclass(frozen=True)
class Battery:
    """Trials one after the other, each only on what survived those before it.

    The record is that of the trial that succeeded, under the battery's name and with that trial's in `by`. Where none
    succeeded it is that of the last, exhausted if any was; an error of one member is one of the battery, unless another
    member succeeds. Queries add up: a text that two members ask counts twice, as it would without the battery. The
    models behind are asked once: what one member heard of them is told to the next.
    """

    name: str
    trials: tuple[Trial, ...]
    budget: int | None = None  # for all members together

    async def __call__(self, example: Example) -> Record:
        """The worst case of an example."""
        spent, exhausted, broken = 0, False, None
        record: Record | None = None
        target = self.trials[0].target
        victim, judge = (Memory(service, key=brief) for service in (target.victim, target.judge))
        target = replace(target, victim=victim, judge=judge)
        for member in self.trials:
            trial = replace(member, target=target)
            if self.budget is not None:
                if spent >= self.budget:
                    exhausted = True
                    break
                trial = replace(trial, budget=self.budget - spent)
            found = await trial(example)
            spent += found.queries
            if found.outcome is Outcome.ERROR:
                broken = broken or found
                continue
            record = found
            if record.outcome in _ENDS:
                break
            exhausted = exhausted or record.outcome is Outcome.EXHAUSTED
        if record is None or (broken is not None and record.outcome not in _ENDS):
            record = broken
        assert record is not None, "a battery has members"
        by = record.attack if record.outcome is Outcome.SUCCESS else ""
        outcome = Outcome.EXHAUSTED if exhausted and record.outcome is Outcome.FAILED else record.outcome
        return replace(record, attack=self.name, by=by, queries=spent, outcome=outcome)
