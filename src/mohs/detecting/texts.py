"""The texts of finished attacks that detectors are asked about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mohs.attacks.goal import keeps_label
from mohs.errors import BadInput
from mohs.models.victim import Fields
from mohs.records import Outcome, Record
from mohs.runs.run import Run, sound


@dataclass(frozen=True)
class Column:
    """The texts of one attack of one run."""

    name: str
    run: str
    attack: str
    goal: str
    records: tuple[Record, ...] = field(repr=False)  # those that did not end in an error

    @property
    def successes(self) -> list[Record]:
        """The records with an adversarial text."""
        return [record for record in self.records if record.outcome is Outcome.SUCCESS and record.perturbed]

    @property
    def texts(self) -> list[Fields]:
        """All originals, then the adversarial texts."""
        return [record.original for record in self.records] + [record.perturbed or () for record in self.successes]


def columns_of(runs: Sequence[Run]) -> tuple[list[Column], list[str]]:
    """The attacks of some runs of one victim, and notes about what was left out."""
    if not runs:
        raise BadInput("There is no run to read; name at least one run folder of `mohs attack`.")
    found: list[tuple[Run, str]] = []
    notes: list[str] = []
    for run in runs:
        place = str(run.folder or "This run")
        if run.command != "attack":
            raise BadInput(f"{place} is a run of `mohs {run.command}`; `mohs detect` reads runs of `mohs attack`.")
        if run.manifest.get("facts", {}).get("rejects"):
            raise BadInput(
                f"{place} attacked a victim that rejects texts, so its attack has seen the detector and there is no "
                f"curve to draw; `mohs report {place}` has its false alarms and detected texts."
            )
        if len(run) < run.planned:
            notes.append(f"{place} is not finished: {len(run):,} of {run.planned:,} attempts so far.")
        with sound(run):
            for attack in dict.fromkeys(record.attack for record in run.records()):
                if keeps_label(run.goal_of(attack)):
                    notes.append(f"{attack} keeps the label, so its texts are not adversarial: left out.")
                else:
                    found.append((run, attack))
    _of_one_victim(runs)
    goals = [run.goal_of(attack) for run, attack in found]
    columns = []
    for (run, attack), goal, name in zip(found, goals, _names(found, goals), strict=True):
        with sound(run):
            own = [record for record in run.records() if record.attack == attack]
        kept = tuple(record for record in own if record.outcome is not Outcome.ERROR)
        if len(kept) < len(own):
            notes.append(f"{name}: {len(own) - len(kept)} attempts ended in an error; they are left out.")
        columns.append(Column(name, str(run.folder or ""), attack, goal, kept))
    if not any(column.successes for column in columns):
        raise BadInput("The runs have no adversarial text, so there is nothing to detect; attack with more examples.")
    return columns, notes


def _of_one_victim(runs: Sequence[Run]) -> None:
    known = {run.manifest.get("identity", {}).get("victim_fingerprint"): run for run in runs}
    if len(known) > 1:
        (one, first), (other, second) = (
            (run.folder or "a run", run.manifest["config"].get("victim")) for run in list(known.values())[:2]
        )
        raise BadInput(
            f"{one} attacked {first} and {other} attacked {second}, which is another victim; give runs of one victim."
        )


def _names(found: Sequence[tuple[Run, str]], goals: Sequence[str]) -> list[str]:
    """A name for each attack: with its goal, or also its folder, if another has the same name."""
    attacks = [attack for _, attack in found]
    times = Counter(attacks)
    names = [a if times[a] == 1 else f"{a} {goal}" for a, goal in zip(attacks, goals, strict=True)]
    times = Counter(names)
    return [
        name if times[name] == 1 else f"{name} ({Path(run.folder).name if run.folder else number + 1})"
        for number, (name, (run, _)) in enumerate(zip(names, found, strict=True))
    ]
