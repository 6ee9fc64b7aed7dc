"""The figures of a certify run: clean, robust and certified accuracy, all of the same examples."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from mohs.certifying.budgets import written
from mohs.certifying.finding import BudgetFinding, CertifyFinding
from mohs.records import Outcome, Record
from mohs.report.flags import near_chance, run_flags
from mohs.report.rates import Rate
from mohs.report.table import errors_note, rate

_OF = "examples without an error"
Row = tuple[str, str, str]


@dataclass(frozen=True)
class BudgetFigures:
    """The accuracies with at most so many changed words."""

    budget: str  # a number, or all
    robust: Rate  # right, and no attack changed the prediction
    certified: Rate
    every: int  # examples of which every text was asked
    contradictions: int  # examples that are both certified and fooled
    undecided: int  # certified examples of which a text lost the vote by so little that this may be chance
    unbounded: int  # right examples without a bound

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dict."""
        return {**vars(self), "robust": self.robust.to_json(), "certified": self.certified.to_json()}


@dataclass(frozen=True)
class CertifySummary:
    """The figures of a run."""

    method: str
    clean: Rate
    budgets: tuple[BudgetFigures, ...]
    contradicting: tuple[str, ...]  # the ids of examples that are both certified and fooled
    outcomes: dict[str, int]

    def to_json(self) -> dict[str, Any]:
        """A JSON-ready dict with the values and intervals of all rates."""
        budgets = [found.to_json() for found in self.budgets]
        return {**vars(self), "clean": self.clean.to_json(), "budgets": budgets}


def summarise_certify(records: Iterable[Record], facts: Mapping[str, Any]) -> CertifySummary:
    """The figures of the records."""
    measured: list[tuple[str, CertifyFinding]] = []
    outcomes = {str(kind): 0 for kind in (Outcome.MEASURED, Outcome.SKIPPED, Outcome.ERROR)}
    for record in records:
        outcomes[str(record.outcome)] = outcomes.get(str(record.outcome), 0) + 1
        if record.outcome is Outcome.MEASURED:
            measured.append((record.example_id, record.finding))
    errors = outcomes["error"]
    total = len(measured) + outcomes["skipped"]
    columns: dict[int | None, list[BudgetFinding]] = {}
    for _, finding in measured:
        for found in finding.budgets:
            columns.setdefault(found.budget, []).append(found)
    return CertifySummary(
        method=str(facts.get("method", "-")),
        clean=Rate(len(measured), total, _OF, errors),
        budgets=tuple(_column(budget, found, total, errors) for budget, found in columns.items()),
        contradicting=tuple(name for name, finding in measured if finding.contradiction),
        outcomes=outcomes,
    )


def _column(budget: int | None, found: list[BudgetFinding], total: int, errors: int) -> BudgetFigures:
    return BudgetFigures(
        budget=written(budget),
        robust=Rate(sum(not one.fooled for one in found), total, _OF, errors),
        certified=Rate(sum(one.certified for one in found), total, _OF, errors),
        every=sum(one.every for one in found),
        contradictions=sum(one.contradiction for one in found),
        undecided=sum(one.undecided for one in found),
        unbounded=sum(one.bound is None for one in found),
    )


def words(budget: str) -> str:
    """A budget in words."""
    return "any number of words" if budget == "all" else f"{budget} word{'s' * (budget != '1')}"


def certify_lines(summary: CertifySummary) -> list[Row]:
    """The rows of the table: a figure's name, its value, and its denominator."""
    rows = [("clean accuracy", rate(summary.clean), f"of {_OF}")]
    for one in summary.budgets:
        rows.append((f"robust, {words(one.budget)}", rate(one.robust), "right, and no attack changed the prediction"))
        how = "with probability 1 - alpha" if summary.method in ("safer", "ranmask") else "proven"
        rows.append((f"certified, {words(one.budget)}", rate(one.certified), f"{how}, by {summary.method}"))
    for one in summary.budgets:
        if one.every:
            said = "robust is exact there"
            rows.append((f"all texts asked, {words(one.budget)}", str(one.every), said))
        if one.undecided:
            said = "certified; a text lost the vote, but that may be chance"
            rows.append((f"undecided, {words(one.budget)}", str(one.undecided), said))
        if one.unbounded:
            rows.append((f"no bound, {words(one.budget)}", str(one.unbounded), "right, but nothing can be proven"))
    rows.append(("misclassified", str(summary.outcomes["skipped"]), "neither attacked nor certified"))
    rows.append(("errors", str(summary.outcomes["error"]), errors_note(summary.outcomes["error"])))
    if summary.contradicting:
        rows.append(("CONTRADICTIONS", str(len(summary.contradicting)), "certified and fooled: one of both is wrong"))
    return rows


def headline(summary: CertifySummary) -> str:
    """The main result in a sentence."""
    if not summary.clean.total:
        return "Nothing has been certified yet."
    one = summary.budgets[0] if summary.budgets else None
    if one is None:
        return (
            f"The victim classified none of {summary.clean.total:,} examples correctly, so there is nothing to certify."
        )
    return (
        f"With {words(one.budget)} changed, {one.certified.hits:,} of {summary.clean.total:,} examples are certified "
        f"({summary.method}), {one.robust.hits:,} withstood the attack, and {summary.clean.hits:,} are right to begin "
        "with."
    )


def alarm_of(summary: CertifySummary) -> str:
    """A sentence if certified <= robust does not hold for some example; else empty."""
    if not summary.contradicting:
        return ""
    named = ", ".join(summary.contradicting[:5]) + (", ..." if len(summary.contradicting) > 5 else "")
    count = len(summary.contradicting)
    return (
        f"{count} example{'s are' if count != 1 else ' is'} certified and yet fooled ({named}): a certificate or a "
        "verdict is wrong, so do not trust these figures."
    )


def certify_flags(
    facts: Mapping[str, Any], config: Mapping[str, Any], summary: CertifySummary, finished: int, planned: int
) -> list[str]:
    """What a reader must know before trusting the figures, one sentence each."""
    found = [alarm_of(summary)] if summary.contradicting else []
    found += [*run_flags(facts, finished, planned), *facts.get("notes", [])]
    found += near_chance(summary.clean.hits, summary.clean.total, int(facts.get("classes", 2)))
    alpha = config.get("alpha")
    if alpha and not config.get("published"):
        found.append(
            f"Certificates by smoothing hold with probability {1 - alpha:.5g} for each example, for all budgets at "
            f"once: at most {alpha * summary.clean.total:.2g} false ones are expected among "
            f"{summary.clean.total:,} examples."
        )
    return found


def compared(config: Mapping[str, Any], method: str) -> list[str]:
    """What is compared with what, in sentences."""
    space = "the perturbation sets of SAFER" if method == "safer" else f"the words of {config.get('source')}"
    found = [f"Certificate and attack are about the same space: {space}."]
    if method == "ranmask":
        found.append(
            "The certificate of RanMASK holds for any words in their places; the attack tries those of the space."
        )
    if config.get("draws"):
        found.append(
            "Certified is the vote of all versions that can be drawn, not that of the few that the victim draws with "
            f"its key. The attack searches against the victim with its key; a text that it finds counts as fooled if "
            f"{config['draws']:,} fresh draws give another class the most votes. Clean accuracy is by fresh draws, too."
        )
    return found
