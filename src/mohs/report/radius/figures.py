"""The figures of a radius run, each with a named denominator (Yang et al. 2022, tables 2 and 3, figures 3 to 5).

Only examples that the victim classifies correctly are measured; they are the denominator. Only such examples can end in
an error after they were scored, so an error with scores was read right. In all other figures errors are left out; the
bounds of each share say what they might have changed. An example with L <= R < U provably withstands r substitutions if
r <= L, and possibly if r < U or no U is known. If no text of its whole space changes the label, it withstands any
number of substitutions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from mohs.bounds.finding import RadiusFinding
from mohs.errors import BadInput
from mohs.records import Outcome, Record
from mohs.report.flags import OFTEN, near_chance, run_flags
from mohs.report.radius.shares import ShareFigures, ShareTally, all_figures
from mohs.report.radius.uppers import RIGHT, Duel, Duels, Upper, UpperTally
from mohs.report.rates import Mean, Rate, mean_of
from mohs.report.table import mean, rate

KINDS = {"whole": "withstands all", "exact": "exact", "bracketed": "bracketed", "unknown": "open above"}
REASONS = {
    "max-r": "--max-r was reached",
    "texts": "the limit --most was reached",
    "time": "--time-limit was reached",
    "ties": "the margin was too small",
    "unsteady": "the victim's answers vary",
    "batches": "the victim answers differently in batches than alone",
}
_ROWS = 12  # of the curve; if there are more, only round numbers are shown
_CERTAINLY = 1_000  # substitutions that no one would forge to make a page slow


@dataclass(frozen=True)
class Step:
    """How many examples withstand any r substitutions."""

    r: int
    proven: Rate
    possible: Rate

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dict."""
        return {"r": self.r, "proven": self.proven.to_json(), "possible": self.possible.to_json()}


@dataclass(frozen=True)
class RadiusSummary:
    """The figures of a run."""

    outcomes: dict[str, int]
    right: Rate
    kinds: dict[str, int]  # among the examples the model got right
    why: dict[str, dict[str, int]]  # what ended the proof, for the kinds that are not exact
    curve: list[Step]
    lower: Mean
    upper: Mean
    attacks: list[Upper]
    duels: list[Duel]
    prover_only: int  # examples whose upper bound is below that of every attack
    forms: dict[str, int]
    queries: Mean
    median_queries: float | None
    texts: int  # in levels proven by enumeration
    excluded: int  # of those, not queried because a bound settles them
    in_time: Rate | None  # proofs that --time-limit did not cut off; None without a limit
    certificates: int
    empty: int
    cut: int
    near_ties: int
    shares: list[ShareFigures]  # one for each requested r

    @property
    def total(self) -> int:
        """How many examples have a radius."""
        return self.outcomes["measured"]

    def of_right(self, *kinds: str) -> Rate:
        """The share of examples of these kinds."""
        return Rate(sum(self.kinds[kind] for kind in kinds), self.total, RIGHT, self.outcomes["error"])

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dict with the values and intervals of all rates."""
        return {
            **asdict(self),
            "right": self.right.to_json(),
            "kinds": {kind: self.of_right(kind).to_json() for kind in KINDS},
            "curve": [step.to_json() for step in self.curve],
            "attacks": [upper.to_json() for upper in self.attacks],
            "duels": [duel.to_json() for duel in self.duels],
            "in_time": None if self.in_time is None else self.in_time.to_json(),
            "shares": [share.to_json() for share in self.shares],
        }


class _Tally:
    def __init__(self) -> None:
        self.outcomes: Counter[str] = Counter()
        self.kinds: Counter[str] = Counter()
        self.why: dict[str, Counter[str]] = {"bracketed": Counter(), "unknown": Counter()}
        self.proven: Counter[int] = Counter()  # L of the examples that do not withstand their whole space
        self.fooled: Counter[int] = Counter()  # U
        self.lowers: list[int] = []
        self.uppers: list[int] = []
        self.attacks: dict[str, UpperTally] = {}
        self.duels = Duels()
        self.forms: Counter[str] = Counter()
        self.queries: list[float] = []
        self.shares: list[ShareTally] = []
        self.late = self.excluded = self.scored_errors = 0
        self.prover_only = self.texts = self.certificates = self.empty = self.cut = self.near_ties = 0

    def add(self, record: Record) -> None:
        self.outcomes[str(record.outcome)] += 1
        self.scored_errors += record.outcome is Outcome.ERROR and bool(record.scores_before)
        if record.outcome is not Outcome.MEASURED:
            return
        found: RadiusFinding = record.finding
        kind, lower, upper = found.kind, found.lower, found.upper
        if max(lower, upper or 0) > max(_CERTAINLY, record.words):  # the curve has a step for each
            raise BadInput(
                f"The record of example {record.example_id!r} speaks of {max(lower, upper or 0):,} substitutions in "
                f"{record.words:,} words, so it is not what mohs wrote; restore the run folder from a copy."
            )
        self.kinds[kind] += 1
        if kind in self.why:
            self.why[kind][found.reason] += 1
        if kind != "whole":
            self.proven[lower] += 1
        self.lowers.append(lower)
        self.forms[found.by] += 1
        if found.by != "closed form":
            self.texts += sum(found.sizes[:lower])
            self.excluded += sum(found.pruned[:lower])
        self.late += found.stopped == "time"
        self.queries.append(record.queries)
        self.certificates += found.certificate is not None
        self.empty += not record.positions
        self.cut += record.beyond_window > 0
        self.near_ties += record.near_tie
        edits = found.attacks or {}
        fewest = min((n for n in edits.values() if n is not None), default=None)
        if upper is not None:
            self.fooled[upper] += 1
            self.uppers.append(upper)
            self.prover_only += fewest is None or upper < fewest
        for name, count in edits.items():
            others = [n for other, n in edits.items() if other != name and n is not None]
            self.attacks.setdefault(name, UpperTally()).add(count, others, record.words)
        self.duels.add(edits)
        for place, share in enumerate(found.shares):
            if place == len(self.shares):
                self.shares.append(ShareTally())
            self.shares[place].add(found, share)

    def summary(self, config: Mapping[str, Any], examples: int) -> RadiusSummary:
        total, errors = self.outcomes[str(Outcome.MEASURED)], self.outcomes[str(Outcome.ERROR)]
        right = total + self.scored_errors
        kinds = (Outcome.MEASURED, Outcome.SKIPPED, Outcome.ERROR)
        return RadiusSummary(
            outcomes={str(outcome): self.outcomes[str(outcome)] for outcome in kinds},
            right=Rate(
                right,
                right + self.outcomes[str(Outcome.SKIPPED)],
                "examples scored",
                errors - self.scored_errors,
            ),
            kinds={kind: self.kinds[kind] for kind in KINDS},
            why={kind: {reason: found[reason] for reason in REASONS} for kind, found in self.why.items()},
            curve=self._curve(total, errors),
            lower=mean_of(self.lowers, RIGHT, 0),
            upper=mean_of(self.uppers, "examples with an upper bound", 0),
            attacks=[found.figures(name, len(self.attacks), errors) for name, found in self.attacks.items()],
            duels=self.duels.figures(),
            prover_only=self.prover_only,
            forms=dict(self.forms),
            queries=mean_of(self.queries, RIGHT, 0),
            median_queries=median(self.queries) if self.queries else None,
            texts=self.texts,
            excluded=self.excluded,
            in_time=Rate(total - self.late, total, RIGHT, errors) if config.get("time_limit") else None,
            certificates=self.certificates,
            empty=self.empty,
            cut=self.cut,
            near_ties=self.near_ties,
            shares=all_figures(self.shares, config, examples, errors),
        )

    def _curve(self, total: int, errors: int) -> list[Step]:
        """The curve, up to the number of substitutions after which it is flat."""
        if not total:
            return []
        steps, proven, possible = [], total, total
        for r in range(1, max([1, *(lower + 1 for lower in self.proven), *self.fooled]) + 1):
            proven -= self.proven[r - 1]
            possible -= self.fooled[r]
            steps.append(Step(r, Rate(proven, total, RIGHT, errors), Rate(possible, total, RIGHT, errors)))
        return steps


def summarise_radius(records: Iterable[Record], config: Mapping[str, Any], examples: int = 0) -> RadiusSummary:
    """The figures of a run. examples: how many the finished run will have."""
    tally = _Tally()
    for record in records:
        tally.add(record)
    return tally.summary(config, examples)


def radius_lines(summary: RadiusSummary) -> list[tuple[str, str, str]]:
    """The rows of the table: a figure's name, its value, and its denominator."""
    count = summary.outcomes
    of = f"of {RIGHT}"
    rows = [("read right", rate(summary.right), f"of {summary.right.of}")]
    if summary.total:
        rows += [
            ("radius exact", rate(summary.of_right("exact", "whole")), of),
            ("whole space withstood", rate(summary.of_right("whole")), f"{of}; counted as exact"),
            (
                "bracketed",
                rate(summary.of_right("bracketed")),
                f"{of}; L and U are known, but fewer edits than U may suffice",
            ),
            *_why("bracketed: why", summary.why["bracketed"]),
            ("open above", rate(summary.of_right("unknown")), f"{of}; no text that changes the label was found"),
            *_why("open above: why", summary.why["unknown"]),
            (
                "lower bound (L)",
                mean(summary.lower, 2),
                f"mean over {RIGHT}; for a whole space, all words that can change",
            ),
            ("upper bound (U)", mean(summary.upper, 2), f"mean over {summary.upper.total} {summary.upper.over}"),
            ("queries", mean(summary.queries, 0), f"mean over {summary.queries.over}; including attacks and shares"),
            ("queries, median", f"{summary.median_queries:,.0f}", f"over {RIGHT}"),
            *_time(summary),
            *((f"by {form}", f"{number:,}", of) for form, number in summary.forms.items()),
        ]
        if summary.texts or summary.forms.get("enumeration"):
            asked = (
                "in levels proven by enumeration"
                if summary.excluded
                else "all queried, in levels proven by enumeration"
            )
            rows.append(("texts of proven levels", f"{summary.texts:,}", asked))
        if summary.excluded:
            rows.append(("of these asked", f"{summary.texts - summary.excluded:,}", "queried from the victim"))
            rows.append(("of these excluded", f"{summary.excluded:,}", "not queried: bounds show that the label stays"))
        rows.append(("certificates", f"{summary.certificates:,}", "one for each example with L of at least 1"))
    rows += [
        ("skipped", str(count["skipped"]), "misclassified, or tied, before any substitution"),
        ("errors", str(count["error"]), "in no figure but 'read right', if scored"),
    ]
    if summary.empty:
        rows.append(("empty spaces", str(summary.empty), "no word to replace; counted as whole space withstood"))
    if summary.near_ties:
        rows.append(("near ties", str(summary.near_ties), "originals with a margin under 1e-4"))
    if summary.cut:
        rows.append(("longer than the window", str(summary.cut), "words beyond it were not substituted"))
    return rows


def _time(summary: RadiusSummary) -> list[tuple[str, str, str]]:
    """How many proofs ended before --time-limit."""
    if summary.in_time is None:
        return []
    return [("ended in time", rate(summary.in_time), f"of {RIGHT}; the others were cut off by --time-limit")]


def _why(name: str, reasons: Mapping[str, int]) -> list[tuple[str, str, str]]:
    said = ", ".join(f"{reason} {count}" for reason, count in reasons.items() if count)
    return [(name, said, "; ".join(f"{r}: {REASONS[r]}" for r, n in reasons.items() if n))] if said else []


def shown_steps(curve: Sequence[Step]) -> list[Step]:
    """The points of the curve that a table shows: all if they are few, else round numbers and the last."""
    if len(curve) <= _ROWS:
        return list(curve)
    round_ones = {digit * 10**power for power in range(6) for digit in (1, 2, 3, 5, 7)}
    return [step for step in curve if step.r in round_ones or step.r == len(curve)]


def curve_lines(summary: RadiusSummary) -> list[tuple[str, str, str]]:
    """The curve for a notebook."""
    return [
        (f"r = {s.r}", f"{rate(s.proven)} proven", f"{rate(s.possible)} possible") for s in shown_steps(summary.curve)
    ]


def radius_flags(facts: Mapping[str, Any], summary: RadiusSummary, finished: int, planned: int) -> list[str]:
    """What a reader must know before trusting the figures, one sentence each."""
    found = [*run_flags(facts, finished, planned), *facts.get("notes", [])]
    found += near_chance(summary.right.hits, summary.right.total, facts.get("classes", 2))
    total = summary.total
    if summary.empty > OFTEN * total:
        found.append(
            f"{summary.empty} of {total} {RIGHT} have no word to replace: "
            "they withstand only because there is nothing to try."
        )
    remedies = {
        "max-r": "a larger --max-r proves more, and --attack may find texts that change the label",
        "texts": "a larger --most lets the prover try more texts",
        "time": "a larger --time-limit lets the prover try more texts",
    }
    for reason in ("batches", "unsteady"):
        count = sum(why[reason] for why in summary.why.values())
        if count:
            found.append(f"{count} of {total} {RIGHT} have no certificate because {REASONS[reason]}.")
    for reason, remedy in remedies.items():
        count = summary.why["unknown"][reason]
        if count > OFTEN * total:
            found.append(f"Nothing is known beyond L for {count} of {total} {RIGHT} ({REASONS[reason]}): {remedy}.")
    return found


def radius_headline(summary: RadiusSummary) -> str:
    """One sentence."""
    if not summary.total:
        if summary.right.hits and summary.outcomes["skipped"]:
            return f"All {summary.right.hits:,} examples that the model got right ended in an error."
        if summary.right.total > summary.right.hits:
            return f"The model got none of {summary.right.total:,} examples right, so there is no radius to measure."
        return "Every example ended in an error." if summary.outcomes["error"] else "Nothing has been measured yet."
    if summary.empty == summary.total:
        return f"No word can be replaced in any of {summary.total:,} {RIGHT}, so there was nothing to withstand."
    first = summary.curve[0]
    low, high = first.proven.hits, first.possible.hits
    of = f"of {summary.total:,} {RIGHT}"
    start = f"{low:,} {of} provably withstand" if low == high else f"Between {low:,} and {high:,} {of} withstand"
    exact = summary.of_right("exact", "whole").hits
    return f"{start} any one substitution; the radius is exact for {'all' if exact == summary.total else f'{exact:,}'}."
