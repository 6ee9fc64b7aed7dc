"""The suite: every attack on every surrogate of every task, as ordinary run folders that can be resumed.

A run's folder is named after a hash of all that decides its records, so a run with other settings gets another folder,
and one that is finished is neither loaded nor asked again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mohs.curation.config import AttackOn, Config, Task
from mohs.curation.item import digest
from mohs.errors import BadInput
from mohs.models.device import first_device
from mohs.records import Record
from mohs.records.store import MANIFEST, NotStarted
from mohs.runs.run import Run
from mohs.text.dataset import Dataset
from mohs.text.kinds import KINDS

if TYPE_CHECKING:
    from mohs.attacks.verb import AttackVerb
    from mohs.runs.settings import Settings

Progress = Callable[[Record | None, int, int], None]
Said = Callable[[str], None]

RUNS = "runs"
_OWN = ("attacks", "budget", "goal", "no_judge", "fair")  # options of `mohs attack` that the suite decides


@dataclass(frozen=True)
class How:
    """How the work is done; nothing here changes what is found."""

    workers: int | str | None = None  # processes for each run, or auto
    at_once: int | None = None
    cache: str | None = None
    trust_code: bool = False
    trust_pickle: bool = False
    progress: Progress | None = None
    said: Said | None = None
    bar: Callable[[str], AbstractContextManager[Progress | None]] | None = None  # a progress of its own for each stage
    runs_at_once: int = 1

    def watched(self, doing: str) -> AbstractContextManager[Progress | None]:
        """The progress of a stage that takes long."""
        return nullcontext(self.progress) if self.bar is None else self.bar(doing)

    def say(self, text: str) -> None:
        """Tell the user."""
        if self.said is not None:
            self.said(text)


@dataclass(frozen=True)
class Cell:
    """One run of the suite."""

    task: Task
    surrogate: str
    attack: AttackOn
    folder: Path
    examples: int
    settings: Mapping[str, Any] = field(repr=False)  # for Settings
    options: Mapping[str, Any] = field(repr=False)  # for the attack

    @property
    def finished(self) -> bool:
        """Whether all attempts are in the folder."""
        if not (self.folder / MANIFEST).is_file():
            return False
        try:
            with Run.open(self.folder) as run:
                return len(run) >= run.planned
        except NotStarted:  # a build was killed between the manifest and the journal
            return False

    def carry_out(self, how: How, progress: Progress | None) -> None:
        """Run it, or go on with it."""
        from mohs.runs.carry_out import carry_out

        carry_out(*self._command(how), self.folder, progress).close()

    def check(self, how: How) -> None:
        """Load all that the run needs, and do nothing with it."""
        from mohs.runs.job import job_of

        job_of(*self._command(how))

    def _command(self, how: How) -> tuple[Settings, AttackVerb]:
        from mohs.attacks.verb import AttackVerb
        from mohs.runs.settings import Settings

        settings = Settings(
            **self.settings,
            workers=how.workers,
            at_once=how.at_once,
            cache=how.cache,
            trust_code=how.trust_code,
            trust_pickle=how.trust_pickle,
        )
        return settings, AttackVerb(**self.options)


def check(config: Config) -> None:
    """Refuse attacks and options that do not exist, before anything is loaded."""
    from mohs.attacks.catalogue import BATTERIES, find_attack
    from mohs.attacks.goal import UNTARGETED, keeps_label
    from mohs.attacks.labels import keeps_label_of
    from mohs.attacks.verb import AttackVerb
    from mohs.tasks.option import check_numbers, options_of

    known = {f.name for f, told in options_of(AttackVerb) if f.name not in _OWN}
    for one in config.attacks:
        if one.attack in BATTERIES:
            raise BadInput(
                f"{one.attack} is a battery of attacks, which a benchmark counts apart; name its members: "
                f"{', '.join(BATTERIES[one.attack])}."
            )
        _, method = find_attack(_plain(one.attack))
        if keeps_label(str(getattr(method, "goal", UNTARGETED))):
            raise BadInput(f"{one.attack} keeps the prediction, so it fools no surrogate; leave it out.")
        _check_certain(config, one, keeps_label_of(method))
        for name in one.options:
            if name not in known:
                raise BadInput(
                    f"The attack {one.name} has the unknown option {name!r}; known are {', '.join(sorted(known))}."
                )
        verb = AttackVerb(**_options(config, one))
        check_numbers(verb)
        verb.check()


def _check_certain(config: Config, one: AttackOn, kinds: frozenset[str] | None) -> None:
    """Refuse an attack that goes without judges on a task whose label it may change. kinds: where it keeps labels."""
    for task in config.tasks:
        if one.by_definition and task.has(one.name) and task.kind in KINDS and kinds and task.kind not in kinds:
            raise BadInput(
                f"{one.name} may change the label of {task.kind} tasks such as {task.name}; name it under `without` of "
                "the task, or let judges see its texts with `by_definition: false`."
            )


def data_of(config: Config, task: Task) -> Dataset:
    """The labelled texts of a task."""
    return Dataset(
        task.data,
        fields=task.fields,
        label_field=task.label_field,
        id_field=task.id_field,
        labels=task.labels,
        change=task.change,
        n=task.n,
        sample=task.sample,
        least_words=config.limits.least_words,
        most_words=config.limits.most_words,
    )


def cells(config: Config, out: Path) -> Iterator[Cell]:
    """All runs of the suite, in order."""
    for task in config.tasks:
        examples, _, content = data_of(config, task).survey()
        for surrogate, victim in task.surrogates.items():
            settings = _settings(config, task, victim)
            for attack in (one for one in config.of(task) if not one.on or surrogate in one.on):
                options = _options(config, attack)
                shown = {**settings, "content": content, **options}
                name = f"{attack.name}-{digest(shown)[:8]}"
                yield Cell(
                    task, surrogate, attack, out / RUNS / task.name / surrogate / name, examples, settings, options
                )


def carry_out(config: Config, out: Path, how: How) -> list[Cell]:
    """Carry the suite out. Progress is over all runs together."""
    found = list(cells(config, out))
    left = [cell for cell in found if not cell.finished]
    total = sum(cell.examples for cell in found)
    before = total - sum(cell.examples for cell in left)
    for task, surrogate in dict.fromkeys((cell.task.name, cell.surrogate) for cell in left):
        _check_surrogate([cell for cell in left if (cell.task.name, cell.surrogate) == (task, surrogate)], how)
    _check_models(left, how)
    with how.watched("attacking") as progress:
        if how.runs_at_once == 1:
            for cell in left:
                cell.carry_out(how, _shifted(progress, before, total))
                before += cell.examples
        else:
            from mohs.curation.side_by_side import side_by_side

            for cell in side_by_side(left, how):
                before += cell.examples
                if progress is not None:
                    progress(None, before, total)
    return found


def _shifted(progress: Progress | None, before: int, total: int) -> Progress | None:
    if progress is None:
        return None
    return lambda record, finished, own: progress(record, before + finished, total)


def _settings(config: Config, task: Task, victim: str) -> dict[str, Any]:
    """The options that all commands with a victim and data share."""
    return {
        "victim": victim,
        "device": config.device,
        "labels": list(task.labels),
        "data": task.data,
        "fields": list(task.fields),
        "label_field": task.label_field,
        "id_field": task.id_field,
        "n": task.n,
        "sample": task.sample,
        "least_words": config.limits.least_words,
        "most_words": config.limits.most_words,
        "change": list(task.change),
        "seed": config.seed,
    }


def _options(config: Config, one: AttackOn) -> dict[str, Any]:
    return {"attacks": [one.attack], "budget": config.limits.budget, "no_judge": True, **one.options}


def _check_surrogate(own: Sequence[Cell], how: How) -> None:
    """Refuse a surrogate before anything is attacked.

    One that names the same classes in another order would seem to be fooled by every text. One without gradients
    cannot be attacked by white-box attacks.
    """
    from mohs.attacks.catalogue import find_attack
    from mohs.attacks.method import needs
    from mohs.models.gradients import has_gradients
    from mohs.runs.settings import VictimSettings
    from mohs.runs.subject import victim_of

    cell = own[0]
    victim = victim_of(
        VictimSettings(
            victim=cell.settings["victim"],
            device=first_device(cell.settings["device"]),
            trust_code=how.trust_code,
            trust_pickle=how.trust_pickle,
        )
    )
    names, wanted = [str(name) for name in victim.labels], list(cell.task.labels)
    if sorted(names) == sorted(wanted) and names != wanted:
        raise BadInput(
            f"The surrogate {cell.surrogate} of {cell.task.name} orders its classes {', '.join(names)}, and the task "
            f"{', '.join(wanted)}; give the labels in the surrogates' order."
        )
    white = [one.attack.name for one in own if "gradients" in needs(find_attack(_plain(one.attack.attack))[1])]
    if white and not has_gradients(victim):
        raise BadInput(
            f"{white[0]} needs gradients, which the surrogate {cell.surrogate} of {cell.task.name} does not give; name "
            "the surrogates that it attacks under `on` of the attack. The others are asked about its texts."
        )


def _check_models(left: Sequence[Cell], how: How) -> None:
    """Refuse an attack that asks a model which cannot be loaded, before another one is carried out for hours."""
    from mohs.attacks.catalogue import find_attack
    from mohs.attacks.method import needs

    for cell in {cell.attack.name: cell for cell in reversed(left)}.values():  # the first run of each
        if cell.attack.options or set(needs(find_attack(_plain(cell.attack.attack))[1])) - {"gradients"}:
            cell.check(how)


def _plain(attack: str) -> str:
    return attack.removesuffix("+fair")
