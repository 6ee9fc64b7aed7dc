"""The figures of an attack run, each with a named denominator and a 95% interval.

Skipped examples and errors are counted separately. An error says nothing about the victim. A skipped example met the
goal, or was misclassified, before any attack. Each share has bounds, for errors that had all been misses or all been
hits. A battery that succeeded after the error of a member counts as an error, as one that failed after it does; its
bounds know better. The denominators:
- "examples scored": the victim scored the original. This includes examples whose attack then ended in an error: only
  attacked examples can end that way, so both accuracies would be too low without them. Under attack, such an example
  counts as the attacked ones without an error do on average (`Completed`);
- "examples attacked": neither skipped nor ended in an error.

Accuracy is that of the victim's predictions, whatever the goal of the attack. If the goal is to keep the label with
fewer words (`reduced:N`), there is no accuracy under attack, because no attack tried to lower it.

A victim may reject a text instead of classifying it. A rejected original is a false alarm: it counts as misclassified,
is not attacked, and the rate is of the examples scored. A rejected final text is no success: the victim resisted.

Fair success counts each success by the probability that people would accept its changes (see mohs.report.fair). If
people judged successes of the run in a study, it is measured as well (see mohs.report.measured).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from mohs.attacks.finding import AttackFinding
from mohs.attacks.goal import UNTARGETED, keeps_label
from mohs.records import Outcome, Record
from mohs.report.attack.classes import ByClass, ClassTally
from mohs.report.fair import Fair, fair_of
from mohs.report.measured import Measured
from mohs.report.rates import Completed, Mean, Rate, mean_of
from mohs.report.verdicts import Verdicts
from mohs.space.written import limits_of


@dataclass(frozen=True)
class Summary:
    """The figures of one attack."""

    attack: str
    outcomes: dict[str, int]
    accuracy_before: Rate
    accuracy_under_attack: Completed | None  # None if the goal is to keep the label
    success: Rate
    words_changed: Mean
    share_changed: Mean
    queries: Mean
    goal: str = UNTARGETED
    words_left: Mean | None = None  # only if the goal is to keep the label with fewer words
    near_ties: int = 0
    apart: int = 0  # final texts whose scores in a batch and alone differ by more than rounding
    cut: int = 0  # examples longer than the victim's window
    empty: int = 0  # attacked examples without a word to replace
    labels: int = 0  # number of different labels among the scored examples
    detected: int = 0  # final texts that the victim rejects
    false_alarms: Rate | None = None  # originals that the victim rejects; None if it cannot reject texts
    by: dict[str, int] = field(default_factory=dict)  # successes of each member, if the attack is a battery
    measures: dict[str, Mean] = field(default_factory=dict)
    fair: Fair | None = None  # None without a judge, or if the goal is to keep the label
    by_class: ByClass = ByClass()
    measured: Measured | None = None  # fair success by people, if a study of the run was named

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dict with the values and intervals of all rates."""
        row = asdict(self)
        for key in ("accuracy_before", "accuracy_under_attack", "success", "false_alarms", "fair"):
            rate: Rate | Fair | None = getattr(self, key)
            if rate is not None:
                row[key] = rate.to_json()
        row["by_class"] = self.by_class.to_json()
        if self.false_alarms is None:
            del row["false_alarms"], row["detected"]
        if self.fair is None:
            del row["fair"]
        if self.measured is None:
            del row["measured"]
        else:
            row["measured"] = self.measured.to_json()
        return row


def _right(record: Record, scores: Sequence[float]) -> bool:
    """Whether the prediction (the first of the highest scores) is the label."""
    return bool(scores) and max(range(len(scores)), key=scores.__getitem__) == record.label


class _Tally:
    """Collects one attack's numbers while its records stream by, without keeping the records."""

    def __init__(self, goal: str, rejects: bool, verdicts: Verdicts | None) -> None:
        self.goal = goal
        self.rejects = rejects
        self.verdicts = None if keeps_label(goal) else verdicts
        self.judged: list[tuple[float, ...] | None] = []
        self.outcomes: Counter[str] = Counter()
        self.changed: list[float] = []
        self.shares: list[float] = []
        self.queries: list[float] = []
        self.left: list[float] = []
        self.measures: dict[str, list[float]] = {}
        self.near_ties = self.apart = 0
        self.cut = 0
        self.empty = 0
        self.labels: set[int] = set()
        self.by: Counter[str] = Counter()
        self.classes = ClassTally()
        self.read = 0
        self.right_before = 0
        self.right_after = 0
        self.tried_right = 0  # of these, examples attacked
        self.won_anyway = self.wrong_anyway = 0  # errors of batteries that succeeded all the same

    def add(self, record: Record) -> None:
        self.classes.add(record)
        self.outcomes[str(record.outcome)] += 1
        self.near_ties += record.near_tie
        self.apart += isinstance(record.finding, AttackFinding)
        self.cut += record.beyond_window > 0
        judged = record.outcome is not Outcome.ERROR
        if judged or record.scores_before:
            self.read += 1
            self.labels.add(record.label)
            self.right_before += _right(record, record.scores_before)
        if judged:
            stopped = record.outcome is Outcome.DETECTED
            self.right_after += stopped or _right(record, record.scores_after or record.scores_before)
        elif record.by:
            self.won_anyway += 1
            self.wrong_anyway += not _right(record, record.scores_after)
        if record.outcome in (Outcome.SUCCESS, Outcome.FAILED, Outcome.EXHAUSTED, Outcome.DETECTED):
            self.tried_right += record.outcome is Outcome.DETECTED or _right(record, record.scores_after)
            self.queries.append(record.queries)
            self.left.append(record.words - len(record.edits))
            self.empty += not record.positions
        if record.outcome is Outcome.SUCCESS:
            self._judge(record)
            self.changed.append(len(record.edits))
            self.by.update([record.by] if record.by else [])
            self.shares.append(len(record.edits) / max(record.words, 1))
            for name, value in record.measures.items():
                self.measures.setdefault(name, []).append(value)

    def _judge(self, record: Record) -> None:
        if self.verdicts is not None:
            self.judged.append(self.verdicts.words(record))

    def summary(self, attack: str) -> Summary:
        own = (Outcome.DETECTED, Outcome.REJECTED)  # only with victims that can reject texts
        kinds = [kind for kind in Outcome if kind is not Outcome.MEASURED and (self.rejects or kind not in own)]
        count = {str(kind): self.outcomes[str(kind)] for kind in kinds}
        detected, rejected = (self.outcomes[str(kind)] for kind in own)
        attacked = count["success"] + count["failed"] + count["exhausted"] + detected
        judged = attacked + count["skipped"] + rejected
        errors = count["error"]
        unread = judged + errors - self.read  # errors before the victim scored the original
        reduces = keeps_label(self.goal)
        under = Completed(
            self.right_after,
            judged,
            "examples scored",
            errors,
            errors_missed=self.wrong_anyway,
            tried=attacked,
            tried_hits=self.tried_right,
            late=errors - unread,
        )
        return Summary(
            attack=attack,
            outcomes=count,
            accuracy_before=Rate(self.right_before, self.read, "examples scored", unread),
            accuracy_under_attack=None if reduces else under,
            success=Rate(count["success"], attacked, "examples attacked", errors, self.won_anyway),
            words_changed=mean_of(self.changed, "successes", 0),
            share_changed=mean_of(self.shares, "successes", 0, 1),
            queries=mean_of(self.queries, "examples attacked", 0),
            goal=self.goal,
            words_left=mean_of(self.left, "examples attacked", 0) if reduces else None,
            near_ties=self.near_ties,
            apart=self.apart,
            cut=self.cut,
            empty=self.empty,
            labels=len(self.labels),
            detected=detected,
            false_alarms=Rate(rejected, self.read, "examples scored", unread) if self.rejects else None,
            by=dict(self.by.most_common()),
            measures={
                name: mean_of(values, "successes", *limits_of(name)) for name, values in sorted(self.measures.items())
            },
            fair=None
            if self.verdicts is None
            else fair_of(
                self.judged, attacked, "examples attacked", self.verdicts.calibration, self.verdicts.name, errors
            ),
            by_class=self.classes.figures(reduces),
        )


def summarise(
    records: Iterable[Record],
    goal_of: Callable[[str], str] = lambda attack: UNTARGETED,
    *,
    rejects: bool = False,
    verdicts: Verdicts | None = None,
) -> list[Summary]:
    """One summary for each attack, in order of appearance. `goal_of` gives the goal of an attack.

    rejects: whether the victim can reject a text. verdicts: what a judge says about the successes; without them there
    is no fair success.
    """
    tallies: dict[str, _Tally] = {}
    for record in records:
        if record.attack not in tallies:
            tallies[record.attack] = _Tally(goal_of(record.attack), rejects, verdicts)
        tallies[record.attack].add(record)
    return [tally.summary(attack) for attack, tally in tallies.items()]
