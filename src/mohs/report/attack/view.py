"""The view of an attack run: the table, and successes as diffs."""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import cached_property
from heapq import nlargest
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text as Styled

from mohs.attacks.goal import UNTARGETED, keeps_label
from mohs.records import Outcome, Record
from mohs.records.export import export
from mohs.report.attack.classes import class_lines
from mohs.report.attack.figures import Summary, summarise
from mohs.report.attack.flags import flags
from mohs.report.attack.table import goal_named, lines, summary_tables
from mohs.report.listing import named, short_names
from mohs.report.table import table_html, tables_of
from mohs.report.terminal import diff, printable, show_tables
from mohs.report.view import View

if TYPE_CHECKING:
    from mohs.report.verdicts import Verdicts

ADVERSARIAL = "adversarial.jsonl"


class AttackView(View):
    """The view of an attack run."""

    offers = ("summary", "goal", "goal_of")
    judged = True
    measurable = True

    @cached_property
    def _summaries(self) -> list[Summary]:
        rejects = bool(self.facts.get("rejects"))
        found = summarise(self._run.records(), self.goal_of, rejects=rejects, verdicts=self._verdicts)
        if self._measured is None:
            return found
        return [replace(summary, measured=self._measured.attacks.get(summary.attack)) for summary in found]

    @cached_property
    def _verdicts(self) -> Verdicts | None:
        """What the judge says about the successes; None if it is turned off."""
        from mohs.report.verdicts import Verdicts

        if self.judge == "none":
            return None
        records = (record for record in self._run.records() if not keeps_label(self.goal_of(record.attack)))
        return Verdicts(records, self.judge)

    def accepted(self, record: Record) -> float | None:
        """The probability that people would accept the changes of a success; None if it was not judged."""
        return self._verdicts.text(record) if self._verdicts is not None else None

    def said_of(self, record: Record) -> str | None:
        """What the people of the study said of a success; None without a study, or if nobody judged it."""
        if self._measured is None or record.outcome is not Outcome.SUCCESS:
            return None
        return self._measured.said(record.attack, record.example_id)

    @property
    def study(self) -> str | None:
        """The study whose people measured fair success."""
        return None if self._measured is None else self._measured.study

    def goal_of(self, attack: str) -> str:
        """The goal of one attack: its own if it has one, else the run's."""
        return str(self.facts.get("goals", {}).get(attack, self.config.get("goal", UNTARGETED)))

    @property
    def goal(self) -> str:
        """The goals of the run in words."""
        own = self.facts.get("goals", {})
        usual = str(self.config.get("goal", UNTARGETED))
        apart = [f"{goal} for {name}" for name, goal in own.items() if goal != usual]
        if apart and len(apart) == len(own):
            return ", ".join(dict.fromkeys(own.values()))
        return ", ".join([usual, *apart])

    @property
    def about(self) -> str:
        """The goal, for the title."""
        return f"goal {goal_named(self.goal, self.labels)}"

    @property
    def headline(self) -> str:
        """The success of the strongest attacks in a sentence."""
        from mohs.report.attack.page import headline

        return headline(self._summaries, short_names(summary.attack for summary in self._summaries), self.labels)

    @cached_property
    def notes(self) -> list[str]:
        """What a reader must know before trusting the figures."""
        own = self._measured.notes if self._measured is not None else ()
        return [*flags(self.facts, self._summaries, len(self._run), self._run.planned), *self._about_judge(), *own]

    @cached_property
    def errors(self) -> int:
        """How many attempts ended in an error."""
        return sum(summary.outcomes["error"] for summary in self._summaries)

    def summary(self) -> list[Summary]:
        """The figures of each attack, with denominators and 95% intervals."""
        return self._summaries

    def figures(self) -> dict[str, Any]:
        """The figures for JSON."""
        found: dict[str, Any] = {"summary": [summary.to_json() for summary in self._summaries]}
        return found if self._measured is None else {**found, "study": self.study}

    def show(self, console: Console, diffs: int) -> None:
        """Print the tables, and some successes as diffs."""
        tables, below = summary_tables(self._summaries, console.width)
        show_tables(console, tables, below)
        classes = [(summary.attack, rows) for summary in self._summaries if (rows := self._by_class(summary))]
        if classes:
            console.print()
            show_tables(console, tables_of(classes, console.width)[0], "of the examples with that true class")
        for record, value in self._examples(diffs):
            console.print()
            console.print(_headline(record, self.labels, value))
            console.print(diff(record))

    def _examples(self, count: int) -> list[tuple[Record, float | None]]:
        """Some successes, those that people would most likely accept first."""
        hits = (record for record in self._run.records() if record.outcome is Outcome.SUCCESS)
        if self._verdicts is None:
            return [(record, None) for record in islice(hits, count)]
        rated = {(record.example_id, record.perturbed): (record, self.accepted(record)) for record in hits}
        known = [(record, -1.0 if value is None else value) for record, value in rated.values()]
        return [*nlargest(count, known, key=lambda pair: pair[1])]

    def _by_class(self, summary: Summary) -> list[tuple[str, str, str]]:
        return class_lines(summary.by_class, self.labels)

    def page(self) -> str:
        """The whole HTML page."""
        from mohs.report.attack.page import attack_page

        return attack_page(self, self._run)

    def files(self, folder: Path) -> list[Path]:
        """Write the adversarial examples, also of a battery with an error. Shortened texts are not among them."""
        hits = (
            record
            for record in self._run.records()
            if (record.outcome is Outcome.SUCCESS or record.by) and not keeps_label(self.goal_of(record.attack))
        )
        first = next(hits, None)
        if first is None:
            return []
        export(chain([first], hits), "jsonl", folder / ADVERSARIAL, sys.stdout, self.columns)
        return [folder / ADVERSARIAL]

    def columns(self, record: Record) -> dict[str, Any]:
        """The probability that people would accept a success, and what they said of it."""
        found: dict[str, Any] = {} if self._verdicts is None else {"accepted": self.accepted(record)}
        return found if self._measured is None else {**found, "people": self.said_of(record)}

    def html(self) -> str:
        """The table for a notebook."""
        return table_html([(summary.attack, lines(summary)) for summary in self._summaries])


def _headline(record: Record, labels: list[str], accepted: float | None) -> Styled:
    def name(scores: tuple[float, ...]) -> str:
        best = max(range(len(scores)), key=scores.__getitem__)
        return named(best, labels) if set(scores) <= {0.0, 1.0} else f"{named(best, labels)} {scores[best]:.0%}"

    attack = f"{record.attack} ({record.by})" if record.by else record.attack
    misread = record.scores_before and max(record.scores_before) > record.scores_before[record.label]
    truth = f" (label {named(record.label, labels)})" if misread else ""  # below:0.3 attacks such examples too
    line = f"{attack}, {record.example_id}{truth}: {name(record.scores_before)} -> {name(record.scores_after)}"
    if accepted is not None:
        line += f", {accepted:.0%} likely that people would accept it" if accepted >= 0 else ", not judged"
    return Styled(printable(line), style="dim")
