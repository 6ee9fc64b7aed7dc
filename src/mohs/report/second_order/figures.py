"""The figures of a second-order run, each with a named denominator, and its examples as two-level diffs.

An example is skipped if no patch pair fits its text. The main rate is the share of examples with a patch pair that have
a vulnerable example in their neighbourhood: a text whose prediction changes when the pair is swapped. A search that ran
out of queries counts as one that found none. An error after a pair was found still shows that there is one. In all
other figures errors are left out, and the bounds of each share say what they might have changed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from mohs.records import Outcome, Record
from mohs.report.fair import Fair, fair_of
from mohs.report.flags import OFTEN, run_flags
from mohs.report.listing import first_of_highest, named
from mohs.report.rates import Completed, Mean, Rate, mean_of
from mohs.report.table import errors_note, fair_rows, mean, rate
from mohs.report.verdicts import Pair, Verdicts
from mohs.second_order.finding import SecondOrderFinding
from mohs.second_order.patches import Patch
from mohs.text import Text

_WITH_PAIR = "examples with a patch pair"
_FOUND = "vulnerable examples"


@dataclass(frozen=True)
class SecondOrderSummary:
    """The figures of one method."""

    attack: str
    outcomes: dict[str, int]
    with_pair: Rate
    vulnerable: Rate
    unchanged: int  # originals that are already vulnerable
    l0: Mean
    l0_counts: dict[int, int]
    steps: Mean
    queries: Mean
    perplexity_before: float | None  # medians over the vulnerable examples with a measurement
    perplexity: float | None
    perplexities: int
    near_ties: int
    fair: Fair | None = None  # vulnerable examples whose pair people would accept there; None without a judge

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dict with the values and intervals of all rates."""
        row = asdict(self)
        for key in ("with_pair", "vulnerable"):
            found: Rate = getattr(self, key)
            row[key] = found.to_json()
        if self.fair is None:
            del row["fair"]
        else:
            row["fair"] = self.fair.to_json()
        return row


class _Tally:
    def __init__(self, verdicts: Verdicts | None) -> None:
        self.verdicts = verdicts
        self.judged: list[tuple[float, ...] | None] = []
        self.outcomes: Counter[str] = Counter()
        self.l0: list[int] = []
        self.steps: list[float] = []
        self.queries: list[float] = []
        self.perplexities: list[tuple[float, float]] = []
        self.near_ties = 0
        self.paired_errors = 0  # errors after a patch pair was found

    def add(self, record: Record) -> None:
        self.outcomes[str(record.outcome)] += 1
        self.paired_errors += record.outcome is Outcome.ERROR and record.finding is not None
        if record.outcome in (Outcome.SUCCESS, Outcome.FAILED, Outcome.EXHAUSTED):
            self.queries.append(record.queries)
            self.near_ties += record.near_tie
        if record.outcome is Outcome.SUCCESS:
            if self.verdicts is not None:
                self.judged.append(self.verdicts.words(record))
            self.l0.append(len(record.edits))
            self.steps.append(record.finding.steps if record.finding else len(record.edits))
            if "perplexity" in record.measures and "perplexity-before" in record.measures:
                self.perplexities.append((record.measures["perplexity-before"], record.measures["perplexity"]))

    def summary(self, attack: str) -> SecondOrderSummary:
        kinds = (Outcome.SUCCESS, Outcome.FAILED, Outcome.EXHAUSTED, Outcome.SKIPPED, Outcome.ERROR)
        count = {str(outcome): self.outcomes[str(outcome)] for outcome in kinds}
        tried, errors, late = len(self.queries), count["error"], self.paired_errors
        paired = tried + late
        before, after = zip(*self.perplexities, strict=True) if self.perplexities else ((), ())
        return SecondOrderSummary(
            attack=attack,
            outcomes=count,
            with_pair=Rate(paired, paired + count["skipped"], "examples whose pairs are known", errors - late),
            vulnerable=Rate(count["success"], tried, _WITH_PAIR, errors),
            unchanged=self.l0.count(0),
            l0=mean_of(self.l0, _FOUND, 0),
            l0_counts=dict(sorted(Counter(self.l0).items())),
            steps=mean_of(self.steps, _FOUND, 0),
            queries=mean_of(self.queries, _WITH_PAIR, 0),
            perplexity_before=median(before) if before else None,
            perplexity=median(after) if after else None,
            perplexities=len(self.perplexities),
            near_ties=self.near_ties,
            fair=None
            if self.verdicts is None
            else fair_of(self.judged, tried, _WITH_PAIR, self.verdicts.calibration, self.verdicts.name, errors),
        )


def summarise_second_order(records: Iterable[Record], verdicts: Verdicts | None = None) -> list[SecondOrderSummary]:
    """One summary for each method, in order of appearance. verdicts: what a judge says about the patch pairs."""
    tallies: dict[str, _Tally] = {}
    for record in records:
        tallies.setdefault(record.attack, _Tally(verdicts)).add(record)
    return [tally.summary(attack) for attack, tally in tallies.items()]


def second_order_lines(summary: SecondOrderSummary) -> list[tuple[str, str, str]]:
    """The rows of the table: a figure's name, its value, and its denominator."""
    count = summary.outcomes
    tried, pairs = summary.vulnerable, summary.with_pair
    found = Completed(
        tried.hits,
        tried.total + count["skipped"],
        pairs.of,
        count["error"],
        tried=tried.total,
        tried_hits=tried.hits,
        late=pairs.hits - tried.total,
    )
    rows = [
        ("with a patch pair", rate(summary.with_pair), f"of {summary.with_pair.of}"),
        ("vulnerable example found", rate(summary.vulnerable), f"of {summary.vulnerable.of}"),
        ("found, of all examples", rate(found), f"of {found.of}{'; errors as the others' if found.late else ''}"),
        *fair_rows(summary.fair, "people accept it"),
        *_unchanged(summary),
        ("words changed (l0)", mean(summary.l0, 2), f"mean over {summary.l0.over}"),
        ("steps", mean(summary.steps, 2), f"mean over {summary.steps.over}"),
    ]
    if summary.perplexity_before is not None and summary.perplexity is not None:
        of = f"medians over {summary.perplexities} {_FOUND}"
        rows.append(("perplexity", f"{summary.perplexity_before:.0f} -> {summary.perplexity:.0f}", of))
    rows += [
        ("queries", mean(summary.queries), f"mean over {summary.queries.over}"),
        ("skipped", str(count["skipped"]), "no patch pair fits the text"),
        ("errors", str(count["error"]), errors_note(count["error"])),
    ]
    if count["exhausted"]:
        rows.append(("budget spent", str(count["exhausted"]), "counted as none found"))
    if summary.near_ties:
        rows.append(("near ties", str(summary.near_ties), "verdicts with a margin under 1e-4"))
    return rows


def _unchanged(summary: SecondOrderSummary) -> list[tuple[str, str, str]]:
    """How many originals are already vulnerable, if any."""
    if not summary.unchanged:
        return []
    return [("the original itself", str(summary.unchanged), "vulnerable without any change (l0 = 0); counted as found")]


def second_order_flags(
    facts: Mapping[str, Any], summaries: Sequence[SecondOrderSummary], finished: int, planned: int
) -> list[str]:
    """What a reader must know before trusting the figures, one sentence each."""
    found = [*run_flags(facts, finished, planned), *facts.get("notes", [])]
    for summary in summaries:
        spent, tried = summary.outcomes["exhausted"], summary.vulnerable.total
        if spent > OFTEN * tried:
            found.append(
                f"{summary.attack} ran out of queries on {spent} of {tried} {_WITH_PAIR}: "
                "a larger --budget may find more."
            )
    return found


def headline(summaries: Sequence[SecondOrderSummary], names: Mapping[str, str]) -> str:
    """One sentence about all methods."""
    if not summaries:
        return "Nothing has been searched yet."
    tried = [summary for summary in summaries if summary.vulnerable.total]
    if not tried:
        judged = sum(summary.with_pair.total for summary in summaries)
        if not judged:
            return "Every search ended in an error."
        return f"No patch pair fits any of the {judged:,} examples, so there was nothing to search."
    first, *others = tried
    start = f"{names[first.attack]} found a vulnerable example near"
    count = f"{first.vulnerable.hits:,} of {first.vulnerable.total:,} {_WITH_PAIR}"
    rest = [f"{names[s.attack]} near {s.vulnerable.hits:,} of {s.vulnerable.total:,}" for s in others]
    return "; ".join([f"{start} {count}", *rest]) + "."


Said = tuple[str, str, float]  # the pair's word in the text, the class predicted, its probability


def predictions(record: Record, labels: Sequence[str]) -> list[tuple[str, Said, Said]]:
    """The four predictions: on the original and on the vulnerable example, each with both words of the pair."""
    finding: SecondOrderFinding | None = record.finding
    if finding is None:
        return []
    patch = finding.patch

    def said(word: str, scores: Sequence[float]) -> Said:
        best = first_of_highest(scores)
        return word, named(best, labels), round(scores[best], 4)

    rows = [
        ("original", record.scores_before, finding.patched_before),
        ("vulnerable" if record.outcome is Outcome.SUCCESS else "neighbour", record.scores_after,
         finding.patched_after),
    ]  # fmt: skip
    return [(whose, said(patch.old, a), said(patch.new, b)) for whose, a, b in rows if a and b]


def patched(record: Record) -> Pair | None:
    """A vulnerable example without and with the patch, as people would compare them."""
    patch = patch_of(record)
    if patch is None or record.perturbed is None:
        return None
    text = Text(*record.perturbed)
    return text, patch.applied(text)


def patch_of(record: Record) -> Patch | None:
    """The patch pair of a search, or None if none fits."""
    return record.finding.patch if record.finding else None
