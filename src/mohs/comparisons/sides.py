"""The runs of a comparison: opened, checked against each other, and read once."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from mohs.comparisons.questions import COMMANDS, OF_ATTACKED, Seen, reader_of
from mohs.comparisons.sameness import (
    Contents,
    refuse_different,
    refuse_other_examples,
    refuse_other_settings,
    shared_attacks,
)
from mohs.comparisons.training_time import TrainingTime, training_time
from mohs.errors import BadInput
from mohs.report.flags import run_flags
from mohs.report.paired import Answer
from mohs.report.rates import Completed, Mean, mean_of
from mohs.runs.run import Run, sound

AnyRun = Run | str | Path


@dataclass(frozen=True)
class Side:
    """One run of a comparison, by the name that tables give it."""

    letter: str
    run: Run = field(repr=False)
    seen: Mapping[str, Mapping[str, Seen]] = field(repr=False)  # by attack, then by example
    training: TrainingTime | None  # of the victim, if it is known

    @property
    def place(self) -> str:
        """The run folder, or what stands for it."""
        return str(self.run.folder or f"run {self.letter}")

    @property
    def victim(self) -> str:
        """The victim's name."""
        return str(self.run.manifest.get("config", {}).get("victim", "-"))

    @property
    def groups(self) -> list[str]:
        """The attacks, budgets or radii that were asked about."""
        return list(
            dict.fromkeys(name for by_id in self.seen.values() for seen in by_id.values() for name in seen.groups)
        )

    def clean(self) -> dict[str, Answer]:
        """Whether each original is read right. Several attacks asked it; one that got so far is enough."""
        found: dict[str, Answer] = {}
        for by_id in self.seen.values():
            for name, seen in by_id.items():
                if name not in found or found[name].value is None:
                    found[name] = seen.clean
        return found

    def of_group(self, group: str) -> dict[str, Seen]:
        """What was seen of each example under an attack, budget or radius."""
        if group in self.seen:
            return dict(self.seen[group])
        return {name: seen for by_id in self.seen.values() for name, seen in by_id.items() if group in seen.groups}

    def rate(self, group: str, question: str, of: str) -> Completed:
        """The share of yes in this run alone, over all its examples, as its own report has it."""
        found = [(seen.groups[group][question], seen.attacked) for seen in self.of_group(group).values()]
        some = question in OF_ATTACKED  # errors among those attacked are the only ones
        return _rate([(answer, attacked and not some) for answer, attacked in found if answer.asked], of)

    def clean_rate(self, of: str) -> Completed:
        """The share of originals that are read right."""
        return _rate([(answer, False) for answer in self.clean().values()], of)

    def queries(self, group: str) -> Mean:
        """The queries of each attacked example."""
        asked = [seen.queries for seen in self.of_group(group).values() if seen.queries is not None]
        return mean_of(asked, "examples attacked", 0)

    def outcomes(self, group: str) -> Counter[str]:
        """How many attempts ended how."""
        return Counter(str(seen.outcome) for seen in self.of_group(group).values())


def _rate(answers: Sequence[tuple[Answer, bool]], of: str) -> Completed:
    known = [(answer.value, attacked) for answer, attacked in answers if answer.value is not None]
    hidden = [(answer, attacked) for answer, attacked in answers if answer.value is None]
    return Completed(
        sum(value for value, _ in known),
        len(known),
        of,
        len(hidden),
        errors_hit=sum(answer.least for answer, _ in hidden),
        errors_missed=sum(not answer.most for answer, _ in hidden),
        tried=sum(attacked for _, attacked in known),
        tried_hits=sum(value and attacked for value, attacked in known),
        late=sum(attacked for _, attacked in hidden),
    )


def opened(given: Sequence[AnyRun]) -> list[Run]:
    """The runs, from folders or as they are. Refuses what cannot be compared."""
    if len(given) < 2:
        raise BadInput("A comparison needs at least two runs; name the baseline first, then the others.")
    for place, times in Counter(map(_place, given)).items():
        if times > 1:
            raise BadInput(f"{place if isinstance(place, Path) else 'A run'} is given twice; name two different runs.")
    runs: list[Run] = []
    try:
        for one in given:
            runs.append(one if isinstance(one, Run) else Run.open(one))
            _check(runs[-1], runs[0])
    except BaseException:
        for run, one in zip(runs, given, strict=False):
            if run is not one:
                run.close()
        raise
    return runs


def _place(one: AnyRun) -> Path | int:
    """What tells runs apart: the folder, or the object of a run in memory."""
    folder = one.folder if isinstance(one, Run) else Path(one)
    return id(one) if folder is None else folder.resolve()


def _check(run: Run, base: Run) -> None:
    place = run.folder or "This run"
    if run.command == "bias":
        raise BadInput(
            f"{place} is a run of `mohs bias`, whose changes are tested by `mohs report AFTER --against BEFORE`."
        )
    if run.command not in COMMANDS:
        raise BadInput(f"{place} is a run of `mohs {run.command}`; `mohs compare` reads {', '.join(COMMANDS)} runs.")
    if run.command != base.command:
        raise BadInput(
            f"{place} is a run of `mohs {run.command}` and {base.folder or 'the first'} one of `mohs {base.command}`; "
            "compare runs of one command."
        )
    if not len(run):
        raise BadInput(f"{place} has no finished attempt yet; run its command again to go on with it.")


def sides_of(runs: Sequence[Run]) -> tuple[list[Side], list[str]]:
    """Read the runs, refuse those that cannot be paired with the first, and say what a reader must know."""
    base, notes = runs[0], []
    called = [str(run.folder or f"run {letter_of(number)}") for number, run in enumerate(runs)]
    found = []
    for run in runs:
        with sound(run):
            found.append(Contents.of(run))
    first, shared = found[0], list(found[0].attacks)
    for run, contents, place in zip(runs[1:], found[1:], called[1:], strict=True):
        names = called[0], place
        with sound(run):
            refuse_different(base, run, names)
            mine = shared_attacks(first, contents, names)
            refuse_other_settings(base, run, mine, names)
        unfinished = len(run) < run.planned or len(base) < base.planned
        refuse_other_examples(first.examples, contents.examples, not unfinished, names)
        if list(first.examples) != list(contents.examples) and first.examples.keys() == contents.examples.keys():
            notes.append(f"{place} has its examples in another order than {called[0]}; they are paired by their ids.")
        shared = [name for name in shared if name in mine]
        if _fingerprint(run) == _fingerprint(base):
            notes.append(f"{place} and {called[0]} have the same victim, by its fingerprint.")
    if not shared:
        raise BadInput("No attack is in all of these runs; compare runs that share one.")
    for run, contents, place in zip(runs, found, called, strict=True):
        alone = [name for name in contents.attacks if name not in shared]
        if alone:
            notes.append(f"{', '.join(alone)} of {place}: not in all runs, so not compared.")
        facts = {**run.manifest.get("facts", {}), "changed": run.effort().get("changed", 0)}
        alarm = run.view().alarm
        said = [*([alarm] if alarm else []), *run_flags(facts, len(run), run.planned)]
        notes += [f"{place}: {flag}" for flag in said]
    sides = [_side(number, run, shared) for number, run in enumerate(runs)]
    return sides, [*notes, *_windows(sides)]


def _windows(sides: Sequence[Side]) -> list[str]:
    """Notes about victims that read less, or more, of some texts than the first, so that other words were attacked."""
    base, found = {name: seen.beyond for name, seen in _any(sides[0]).items()}, []
    for side in sides[1:]:
        apart = sum(base.get(name, seen.beyond) != seen.beyond for name, seen in _any(side).items())
        if apart:
            found.append(
                f"The windows of {side.place} and {sides[0].place} end at other words in {apart:,} examples, so their "
                "attacks could not change the same words there."
            )
    return found


def _any(side: Side) -> Mapping[str, Seen]:
    """What was seen of each example under the first attack."""
    return next(iter(side.seen.values()))


def _fingerprint(run: Run) -> Any:
    return run.manifest.get("identity", {}).get("victim_fingerprint", math.nan)  # unknown ones differ


def _side(number: int, run: Run, shared: Sequence[str]) -> Side:
    seen: dict[str, dict[str, Seen]] = {name: {} for name in shared}
    with sound(run):
        read = reader_of(run)
        for record in run.records():
            if record.attack in seen:
                seen[record.attack][record.example_id] = read(record)
    return Side(letter_of(number), run, seen, training_time(run.manifest.get("config", {}).get("victim")))


def letter_of(number: int) -> str:
    """A, B, C ...; after Z comes AA."""
    letter = ascii_uppercase[number % 26]
    return letter if number < 26 else letter_of(number // 26 - 1) + letter
