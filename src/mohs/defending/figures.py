"""The figures of a defence against an attack: three ways to judge it, paired by example.

Denominators:
- "examples scored": the undefended victim scored the original, as in the run's own figures;
- "successes of the run": adversarial texts found against the undefended victim;
- "examples attacked": for (1) those of the run, for (2) those of the adaptive run, which skips what the defended victim
  misreads with that key;
- "attacked examples that most fresh draws read right", for (3).

Texts that a defended victim could not read are errors and in no denominator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from mohs.attacks.goal import Goal, predicted
from mohs.defending.spread import Spread, spread
from mohs.models.victim import Fields, Scores
from mohs.records import Outcome, Record
from mohs.report.rates import Mean, Rate, mean_of

Said = Mapping[Fields, "Scores | str"]  # scores, or an error
GoalOf = Callable[[Record], Goal]

SCORED = "examples scored"
HITS = "successes of the run"
ATTACKED = "examples attacked"
READ = "attacked examples that most fresh draws read right"
TRIED = (Outcome.SUCCESS, Outcome.FAILED, Outcome.EXHAUSTED, Outcome.DETECTED)


@dataclass(frozen=True)
class Adaptive:
    """The same attack against the defended system, for one or more keys, and its successes over fresh keys."""

    success: Spread
    under: Spread  # accuracy under attack
    change: Mean  # of the accuracy under attack, against the undefended victim's
    queries: Mean
    fresh: Spread | None  # None without draws
    averaging: Rate | None  # over fresh draws, of the attack against the mean of several; None if there was none
    errors: int

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dict."""
        return {
            "success": self.success.to_json(),
            "accuracy_under_attack": self.under.to_json(),
            "accuracy_under_attack_change": vars(self.change),
            "queries": vars(self.queries),
            "success_over_fresh_draws": None if self.fresh is None else self.fresh.to_json(),
            "averaging_success_over_fresh_draws": None if self.averaging is None else self.averaging.to_json(),
            "errors": self.errors,
        }


@dataclass(frozen=True)
class Judged:
    """One defence against one attack of one run."""

    attack: str
    defence: str
    draws: bool  # whether the defence has randomness
    clean: Spread
    clean_change: Mean
    reverted: Spread
    left: Spread  # successes of the run that still reach the goal
    rejected: Spread | None  # adversarial texts that the defence rejects; None if it rejects none ever
    adaptive: Adaptive | None  # None if the attack was not carried out again
    forwards: float | None  # texts asked inside for one answer
    rows: tuple[dict[str, Any], ...] = field(repr=False, default=())  # one an example and key

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dict."""
        return {
            "attack": self.attack,
            "defence": self.defence,
            "draws": self.draws,
            "clean_accuracy": self.clean.to_json(),
            "clean_accuracy_change": vars(self.clean_change),
            "finished": {
                "reverted": self.reverted.to_json(),
                "success_left": self.left.to_json(),
                **({} if self.rejected is None else {"rejected": self.rejected.to_json()}),
            },
            "adaptive": None if self.adaptive is None else self.adaptive.to_json(),
            "forwards_per_query": self.forwards,
        }


def right(record: Record, scores: Sequence[float]) -> bool:
    """Whether the prediction is the label."""
    return bool(scores) and predicted(scores) == record.label


def final_right(record: Record) -> bool:
    """Whether the victim of a record reads the final text right, or rejects it."""
    return record.outcome is Outcome.DETECTED or right(record, record.scores_after or record.scores_before)


def scored(records: Iterable[Record]) -> list[Record]:
    """The records whose original the victim scored."""
    return [record for record in records if record.scores_before]


def clean_rate(records: Sequence[Record], said: Said) -> Rate:
    """Accuracy of a defended victim on the originals."""
    read = [(record, found) for record in records if isinstance(found := said[record.original], tuple)]
    return Rate(sum(right(r, s) for r, s in read), len(read), SCORED, len(records) - len(read))


def finished_rates(hits: Sequence[Record], said: Said, goal: GoalOf, attacked: int) -> tuple[Rate, Rate]:
    """(1) Of the adversarial texts of the run: those read right again, and those that still reach the goal.

    The first is of the successes ("reverted attacks" of Hauser 2021, A.2), the second of the examples attacked (the
    success rate after post-processing, 8.1).
    """
    read = [(r, found) for r in hits if r.perturbed and isinstance(found := said[r.perturbed], tuple)]
    errors = len(hits) - len(read)
    back = sum(right(record, scores) for record, scores in read)
    still = sum(goal(record).won(scores, 0) for record, scores in read)
    return Rate(back, len(read), HITS, errors), Rate(still, attacked - errors, ATTACKED, errors)


def rejected_rate(hits: Sequence[Record], said: Said, classes: int) -> Rate:
    """Of the adversarial texts of the run, those that the defence rejects."""
    read = [found for r in hits if r.perturbed and isinstance(found := said[r.perturbed], tuple)]
    return Rate(sum(predicted(scores) == classes for scores in read), len(read), HITS, len(hits) - len(read))


@dataclass(frozen=True)
class Vote:
    """What fresh draws of a defence say about a text: how many answered, and how many read it right or are fooled."""

    draws: int
    right: int
    fooled: int

    @property
    def reads(self) -> bool:
        """Whether most read it right."""
        return 2 * self.right > self.draws

    @property
    def falls(self) -> bool:
        """Whether most are fooled."""
        return 2 * self.fooled > self.draws


def vote(record: Record, text: Fields, draws: Sequence[Said], goal: Goal) -> Vote:
    """The answers of the fresh draws to a text. A draw that could not read it has no vote."""
    found = [scores for said in draws if isinstance(scores := said[text], tuple)]
    return Vote(len(found), sum(right(record, s) for s in found), sum(goal.won(s, 0) for s in found))


def fresh_rate(records: Sequence[Record], draws: Sequence[Said], goal: GoalOf) -> Rate:
    """(3) Of the attacked examples that most fresh draws read right, those whose adversarial text fools most."""
    hits = total = errors = 0
    for record in records:
        if record.outcome not in TRIED:
            continue
        before = vote(record, record.original, draws, goal(record))
        after = None
        if record.outcome is Outcome.SUCCESS and record.perturbed:
            after = vote(record, record.perturbed, draws, goal(record))
        if not before.draws or (after is not None and not after.draws):
            errors += 1
        elif before.reads:
            total += 1
            hits += after is not None and after.falls
    return Rate(hits, total, READ, errors)


def adaptive_of(
    undefended: Sequence[Record],
    runs: Sequence[tuple[Rate, Rate, Sequence[Record]]],
    fresh: Sequence[Rate],
    averaging: Rate | None,
) -> Adaptive | None:
    """(2) The figures of adaptive runs, one a key: success, accuracy under attack, records. fresh, averaging: (3)."""
    if not runs:
        return None
    before = {record.example_id: final_right(record) for record in undefended if record.outcome is not Outcome.ERROR}
    changes: dict[str, list[float]] = {}
    queries: dict[str, list[float]] = {}
    errors = 0
    for _, _, records in runs:
        for record in records:
            errors += record.outcome is Outcome.ERROR
            if record.outcome in TRIED:
                queries.setdefault(record.example_id, []).append(record.queries)
            if record.outcome is not Outcome.ERROR and record.example_id in before:
                changes.setdefault(record.example_id, []).append(final_right(record) - before[record.example_id])
    return Adaptive(
        success=Spread(tuple(success for success, _, _ in runs)),
        under=Spread(tuple(under for _, under, _ in runs)),
        change=mean_of(list(map(fmean, changes.values())), "examples without an error, paired", -1, 1),
        queries=mean_of(list(map(fmean, queries.values())), ATTACKED, 0),
        fresh=spread(fresh),
        averaging=averaging,
        errors=errors,
    )


def change_of(records: Sequence[Record], answers: Sequence[Said]) -> Mean:
    """By how much a defence changes the clean accuracy, paired by example; the mean over keys for each."""
    changes = []
    for record in records:
        found = [s for said in answers if isinstance(s := said[record.original], tuple)]
        if found:
            changes.append(fmean(right(record, s) for s in found) - right(record, record.scores_before))
    return mean_of(changes, f"{SCORED}, paired", -1, 1)
