"""The figures of attacks as a table for terminals and notebooks."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rich.table import Table

from mohs.attacks.goal import UNTARGETED
from mohs.report.attack.figures import Summary
from mohs.report.rates import Mean, Rate
from mohs.report.table import errors_note, fair_rows, marks, mean, measured_rows, order_of, rate, tables_of

_WRITTEN = re.compile(r"\b[A-Za-z]+\((.*)\)$")  # the repr of a measure: only its settings are shown
_UNJUDGED = "not judged: successes on which the judge has no opinion, only in the upper end of fair success"
_SAID = ("words changed", "share of words changed")  # measures that repeat a figure of every attack


def lines(summary: Summary) -> list[tuple[str, str, str]]:
    """The rows of the table: a figure's name, its value, and its denominator."""
    count = summary.outcomes
    rows = [
        ("accuracy before", rate(summary.accuracy_before), f"of {summary.accuracy_before.of}"),
        *_under_attack(summary),
        ("attack success", rate(summary.success), f"of {summary.success.of}"),
        *fair_rows(summary.fair, "changes people accept"),
        *measured_rows(summary.measured),
        ("words changed", mean(summary.words_changed), f"mean over {summary.words_changed.over}"),
        (
            "share changed",
            mean(summary.share_changed, percent=True),
            f"mean over {summary.share_changed.over}",
        ),
        ("queries", mean(summary.queries), f"mean over {summary.queries.over}"),
    ]
    rows += [(name, *_measured(value, summary.success.hits)) for name, value in _measures(summary).items()]
    rows.append(("skipped", str(count["skipped"]), "misclassified, or at the goal, before any attack"))
    rows.append(("errors", str(count["error"]), errors_note(count["error"])))
    if summary.false_alarms is not None:
        note = f"of {summary.false_alarms.of}; originals that the victim rejected"
        rows.append(("false alarms", rate(summary.false_alarms), note))
        detected = Rate(summary.detected, summary.success.total, summary.success.of)
        note = f"of {detected.of}; final texts rejected, counted as failed attacks"
        rows.append(("detected", rate(detected), note))
    rows += [(f"by {member}", str(hits), "successes of this member") for member, hits in summary.by.items()]
    if summary.empty:
        rows.append(("empty spaces", str(summary.empty), "no word to replace; counted as failed attacks"))
    if count["exhausted"]:
        rows.append(("budget spent", str(count["exhausted"]), "counted as failed attacks"))
    if summary.near_ties:
        rows.append(("near ties", str(summary.near_ties), "verdicts with a margin under 1e-4"))
    if summary.cut:
        rows.append(("longer than the window", str(summary.cut), "words beyond it were not attacked"))
    return rows


def _measured(value: Mean, successes: int) -> tuple[str, str]:
    """The mean of a measure, and over what. Members of a battery measure different things: then it says how many."""
    if value.total == successes:
        return mean(value, 3), f"mean over {value.over}"
    return f"{mean(value, 3)} ({value.total} of {successes})", f"mean over the {value.over} that have it"


def _measures(summary: Summary) -> dict[str, Mean]:
    """The measures worth a row. A measure that appears again with its settings in the name is shown once."""
    found = {name: value for name, value in summary.measures.items() if name not in _SAID}
    plain = {name: value for name, value in found.items() if "(" not in name}
    shown = dict(plain)
    for name, value in found.items():
        if name not in plain:
            base = next((other for other in plain if name.startswith(f"{other} ")), None)
            if base is None or plain[base] != value:
                shown[_WRITTEN.sub(r"(\1)", name)] = value
    return shown


def _under_attack(summary: Summary) -> list[tuple[str, str, str]]:
    """The accuracy under attack, or the words left if the goal was to keep the label."""
    if summary.accuracy_under_attack is not None:
        under = summary.accuracy_under_attack
        counts = "; errors count as the attacked without one" if under.late else ""
        return [("accuracy under attack", rate(under), f"of {under.of}{counts}")]
    if summary.words_left is not None:
        note = f"mean over {summary.words_left.over}; the goal keeps the label, so there is no accuracy under attack"
        return [("words left", mean(summary.words_left), note)]
    return []


def rows_of(summaries: Sequence[Summary]) -> list[str]:
    """The names of the figures of all attacks."""
    return order_of([name for name, _, _ in lines(summary)] for summary in summaries)


def has_own_goal(summary: Summary) -> bool:
    """Whether the goal is to change the label, but not every wrong label is a success."""
    return summary.goal != UNTARGETED and summary.accuracy_under_attack is not None


def _note(summaries: Sequence[Summary], beside: bool) -> str:
    """The note below a table. It names the denominators if they are not beside the figures."""
    parts = [
        "scored: before any attack",
        "attacked: neither skipped nor ended in an error",
    ]
    judged = any(summary.fair is not None for summary in summaries)
    if judged and beside:
        parts.append("fair success: expected number, by the judge")
    if not beside:
        kinds = "success, fair success (expected number that people would accept)" if judged else "success"
        parts = ["accuracy before: of examples scored before any attack"]
        if any(summary.accuracy_under_attack is not None for summary in summaries):
            parts.append("under attack: of the same")
            if any(s.accuracy_under_attack and s.accuracy_under_attack.late for s in summaries):
                parts.append("errors count there as the attacked examples without one")
        parts.append(f"{kinds}, queries: of examples attacked (neither skipped nor ended in an error)")
        partly = any(value.total < s.success.hits for s in summaries for value in _measures(s).values())
        but = ", or over as many of them as the row says" if partly else ""
        parts.append(f"words, measures: mean over successes{but}")
        if any(summary.fair is not None and summary.fair.unjudged for summary in summaries):
            parts.append(_UNJUDGED)
        if any(summary.words_left is not None for summary in summaries):
            parts.append("words left: mean over examples attacked")
    told = dict.fromkeys((s.measured.who, s.measured.design) for s in summaries if s.measured)
    if told and not beside:
        who = "; ".join(f"{who}, design {design}" for who, design in told)
        parts.append(f"measured fair success: attack success x share of successes that people found valid ({who})")
    if any(map(has_own_goal, summaries)):
        parts.append("any wrong class lowers the accuracy, only reaching the goal counts as success")
    return "; ".join([*parts, marks(sum(summary.outcomes["error"] for summary in summaries))])


def summary_tables(summaries: Sequence[Summary], width: int) -> tuple[list[Table], str]:
    """The tables of the attacks' figures, and the note below them."""
    tables, beside = tables_of([(summary.attack, lines(summary)) for summary in summaries], width)
    return tables, _note(summaries, beside)


def goal_named(goal: str, labels: Sequence[str]) -> str:
    """A run's goal, with the name of its target class after the number if there is one."""

    def named(match: re.Match[str]) -> str:
        number = int(match[1])
        return f"{match[0]} ({labels[number]})" if number < len(labels) else match[0]

    return re.sub(r"\btargeted:(\d+)", named, goal)
