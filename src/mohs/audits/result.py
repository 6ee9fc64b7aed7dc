"""The result of an audit: its figures, as objects, as JSON and as a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from mohs.audits.columns import Column
from mohs.audits.figures import AttackAudit, Drawing, Synonyms, synonyms_of
from mohs.audits.gauges import Required
from mohs.audits.measuring import Example, Measuring
from mohs.audits.settings import PAGE
from mohs.audits.show import SHORT
from mohs.audits.taxonomy import of_run
from mohs.report.flags import run_flags
from mohs.report.table import table_html
from mohs.report.template import written
from mohs.runs.run import Run
from mohs.space.services import KINDS
from mohs.tasks.services import fingerprint

if TYPE_CHECKING:
    from rich.console import Console

FILTERED = (
    "Only final texts were filtered: an attack that searches under these constraints may find other texts that "
    "obey them."
)
PEOPLE = (
    "Morris et al. 2020 have people judge meaning and suspicion; the figures here are by models and stand in for that."
)
FIGURE_4 = (
    "Success against the number of synonyms needs runs that differ in the source's k alone, such as `mohs attack "
    "--source neighbours:k=8` and `--source neighbours:k=50`; audit them together."
)


class Audit:
    """The figures of an audit, a column for each attack of each run. As a context manager it closes the runs."""

    def __init__(
        self,
        audits: Sequence[AttackAudit],
        synonyms: Sequence[Synonyms],
        notes: Sequence[str],
        runs: Sequence[Run],
        columns: Sequence[Column],
        examples: dict[str, list[Example]],
        services: Mapping[str, str],
    ) -> None:
        self._audits = list(audits)
        self.synonyms = tuple(synonyms)  # success against the number of synonyms, if the runs show it
        self.notes = tuple(notes)  # what a reader must know
        self.runs = tuple(runs)
        self.columns = tuple(columns)
        self.examples = examples  # by column: what was measured of each adversarial example
        self.services = dict(services)  # by kind: the name and fingerprint of what was asked

    def summary(self) -> list[AttackAudit]:
        """The figures of each attack."""
        return list(self._audits)

    def to_json(self) -> dict[str, Any]:
        """All figures as a JSON-ready dict."""
        return {
            "runs": [str(run.folder) if run.folder else None for run in self.runs],
            "services": self.services,
            "notes": list(self.notes),
            "attacks": [one.to_json() for one in self._audits],
            "success_by_synonyms": [one.to_json() for one in self.synonyms],
        }

    def page(self, path: str | Path | None = None) -> Path:
        """Write the page. By default audit.html in the first run's folder, or in the current folder without one."""
        from mohs.audits.page import audit_page

        place = Path(path) if path is not None else (self.runs[0].folder or Path()) / PAGE
        return written(audit_page(self), place)

    def show(self, console: Console) -> None:
        """Print the figures on a terminal."""
        from mohs.audits.show import show

        show(self, console)

    def close(self) -> None:
        """Close the files of the runs."""
        for run in self.runs:
            run.close()

    def __enter__(self) -> Audit:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Audit of {', '.join(one.name for one in self._audits)}>"

    def _repr_html_(self) -> str:
        from mohs.audits.show import measure_lines, success_lines

        return table_html([(one.name, [*success_lines(one), *measure_lines(one)]) for one in self._audits])


def audit_of(
    runs: Sequence[Run],
    columns: Sequence[Column],
    measuring: Measuring,
    required: Sequence[Required],
    absolute: Sequence[Required],
    notes: Sequence[str],
) -> Audit:
    """Measure, and put the figures together."""
    examples = measuring.run()
    drawing = Drawing(required, absolute, measuring.tools)
    classes = {id(run): of_run(run) for run in runs}
    audits = [
        drawing.audit_of(column, examples[column.name], classes[id(column.run)].get(column.attack, ()))
        for column in columns
    ]
    synonyms = synonyms_of(columns, audits)
    said = [*_about(runs), *notes]
    said += [
        f"{one.name} has no adversarial example, so there is nothing to measure." for one in audits if not one.examples
    ]
    said += [note for one in audits for note in _unknown(one)]
    said += _unmeasured(measuring, required)
    if measuring.broken:
        lines = "1 line" if measuring.broken == 1 else f"{measuring.broken} lines"
        said.append(f"{lines} of audit.jsonl could not be read; those examples were measured again.")
    if measuring.errors:
        count = "1 value" if len(measuring.errors) == 1 else f"{len(measuring.errors)} values"
        said.append(f"{count} could not be measured and count as not holding; the first: {measuring.errors[0]}")
    said += [FILTERED, PEOPLE, *([] if synonyms else [FIGURE_4])]
    services = {kind: fingerprint(part) for kind, part in sorted(measuring.tools.parts.items())}
    return Audit(audits, synonyms, said, runs, columns, examples, services)


def _about(runs: Sequence[Run]) -> list[str]:
    """Warnings about the runs themselves."""
    found = []
    for run in runs:
        flags = run_flags(run.manifest.get("facts", {}), len(run), run.planned)
        found += [f"{run.folder}: {flag}" if len(runs) > 1 else flag for flag in flags]
    return found


def _unknown(one: AttackAudit) -> list[str]:
    """Constraints on values that some examples do not have."""
    return [
        f"{found.written}: {found.unknown} of {one.examples} adversarial examples of {one.name} have no such value (a "
        "word that is not known, for instance) and count as not holding."
        for found in (*one.required, *one.absolute)
        if found.unknown
    ]


def _unmeasured(measuring: Measuring, required: Sequence[Required]) -> list[str]:
    tools = measuring.tools
    left = [one.written for one in required if tools.why_not(one.gauge.needs)]
    found = [
        f"Not measured for want of {KINDS[kind][0]}: {why}." for kind, why in tools.absent.items() if len(why) > SHORT
    ]
    if left:
        found.append(f"All constraints together leaves out {', '.join(left)}, which could not be measured.")
    return found
