"""The attacks of the runs to be audited. Each attack of each run is a column."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mohs.attacks.goal import keeps_label
from mohs.errors import BadInput
from mohs.records import Outcome, Record
from mohs.report.attack.figures import Summary
from mohs.runs.run import Run
from mohs.text import Text
from mohs.text.alignment import is_rewrite

AnyRun = Run | str | Path


@dataclass(frozen=True)
class Column:
    """One attack of one run."""

    name: str  # the attack, with the run if two runs have the same attack
    attack: str
    run: Run = field(repr=False)
    summary: Summary = field(repr=False)

    @property
    def labels(self) -> list[str]:
        """The names of the classes, if known."""
        return [str(label) for label in self.run.manifest.get("config", {}).get("labels") or ()]

    def hits(self) -> Iterator[Record]:
        """The adversarial examples, in the order of the run."""
        for record in self.run.records():
            if record.attack == self.attack and record.outcome is Outcome.SUCCESS:
                yield record


def opened(given: AnyRun | Sequence[AnyRun]) -> list[Run]:
    """The runs, from folders or as they are. Refuses what cannot be audited."""
    several = [given] if isinstance(given, Run | str | Path) else list(given)
    if not several:
        raise BadInput("No run was given; name the folder of a finished `mohs attack`.")
    folders = Counter(Path(one).resolve() for one in several if not isinstance(one, Run))
    for folder, times in folders.items():
        if times > 1:
            raise BadInput(f"{folder} is given twice; give it once.")
    runs: list[Run] = []
    try:
        for one in several:
            runs.append(one if isinstance(one, Run) else Run.open(one))
            _check(runs[-1])
    except BaseException:
        for run, one in zip(runs, several, strict=False):
            if run is not one:
                run.close()
        raise
    return runs


def _check(run: Run) -> None:
    place = run.folder or "This run"
    if run.command != "attack":
        raise BadInput(
            f"{place} is a run of `mohs {run.command}`; `mohs audit` reads runs of `mohs attack`, since the others "
            "end in no adversarial examples."
        )
    if not len(run):
        raise BadInput(f"{place} has no finished attempt yet; run its command again to go on with it.")


def columns_of(runs: Sequence[Run]) -> tuple[list[Column], list[str]]:
    """The attacks that can be audited, and notes about those that cannot."""
    found: list[tuple[Run, Summary]] = []
    notes = []
    for run in runs:
        for summary in run.summary():
            if keeps_label(summary.goal):
                notes.append(f"{summary.attack} keeps the label, so its texts are not adversarial: left out.")
            else:
                found.append((run, summary))
    if not found:
        raise BadInput(f"There is nothing to audit: {' '.join(notes)}")
    times = Counter(summary.attack for _, summary in found)
    columns = [
        Column(_name(summary.attack, run, times[summary.attack] > 1, number), summary.attack, run, summary)
        for number, (run, summary) in enumerate(found)
    ]
    return columns, notes


def _name(attack: str, run: Run, several: bool, number: int) -> str:
    if not several:
        return attack
    return f"{run.folder.name if run.folder else f'run {number + 1}'}: {attack}"


def texts_of(record: Record) -> tuple[Text, Text]:
    """The original and the final text, word by word if the edits tell how they correspond."""
    original = Text(*record.original)
    final = original.replace_all({edit.position: edit.new for edit in record.edits})
    perturbed: Any = record.perturbed
    told = final.fields == perturbed and not is_rewrite(record.edits)
    return original, final if told else Text(*(perturbed or record.original))
