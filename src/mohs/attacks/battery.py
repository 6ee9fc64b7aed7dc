"""Several attacks run as one: the worst case of each example over all of them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from mohs.attacks.trial import Trial
from mohs.engine import Memory
from mohs.records import Outcome, Record
from mohs.text import Example
from mohs.text.sweep import Keys
from mohs.text.text import brief

_ENDS = (Outcome.SUCCESS, Outcome.SKIPPED, Outcome.REJECTED)  # after these, no other member has anything to do


@dataclass(frozen=True)
class Battery:
    """Runs trials one after the other, each only on the examples that resisted the ones before it.

    The record is that of the successful trial, under the battery's name, with the trial's name in `by`. If none
    succeeds, it is the record of the last trial, marked exhausted if any trial was. An error of one member is an error
    of the battery, also if a later member succeeds: otherwise errors would hide failures but no successes, and the rate
    would be too high. Such a record keeps the text, and `by` names the member. Queries add up: a text that two members
    query counts twice, as it would without the battery. The models compute each answer only once, because members share
    a cache.
    """

    name: str
    trials: tuple[Trial, ...]
    budget: int | None = None  # shared by all members

    async def __call__(self, example: Example) -> Record:
        """The worst case of one example."""
        spent, exhausted, broken = 0, False, None
        record: Record | None = None
        target = self.trials[0].target
        keys = Keys(example.text)
        target = replace(target, memory=Memory(target.searched, keys=keys), judge=Memory(target.judge, key=brief))
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
        if by and broken is not None:
            said = f"{broken.attack}: {broken.error} ({by} succeeded all the same)"
            record = replace(record, outcome=Outcome.ERROR, error=said, traceback=broken.traceback)
        outcome = Outcome.EXHAUSTED if exhausted and record.outcome is Outcome.FAILED else record.outcome
        return replace(record, attack=self.name, by=by, queries=spent, outcome=outcome)
