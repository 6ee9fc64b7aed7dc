"""What people say about the texts: studies that the build makes and waits for, and judgements from files."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

from mohs.curation.config import Config, Task
from mohs.curation.item import Item, Vote, benign_of
from mohs.curation.suite import data_of
from mohs.errors import BadInput, MohsError
from mohs.studies.connecting import FILE, is_address
from mohs.studies.design import Design, read_design
from mohs.studies.drawing import shown
from mohs.studies.importing import imported
from mohs.studies.item import Item as Shown
from mohs.studies.item import Role
from mohs.studies.pool import gathered
from mohs.studies.study import Study
from mohs.text import Example
from mohs.text.addresses import without_credentials
from mohs.text.dataset import Dataset

STUDIES = "studies"
_TRAINING_POOL = 5  # training items to draw from, for each that an annotator gets

Votes = dict[str, tuple[Vote, ...]]


class Waiting(MohsError):
    """A build that goes on when people have judged."""


def asked_votes(config: Config, items: Sequence[Item], names: Mapping[str, Sequence[str]], out: Path) -> Votes:
    """The judgements of studies, one for each task; makes those that are not there yet.

    names: what the texts of each task are called. Raises Waiting as long as a study is not complete.
    """
    votes: Votes = {}
    waiting = []
    for task in config.tasks:
        own = [item for item in items if item.task == task.name]
        if not own:
            continue
        place = place_of(config, task, out)
        with _made(config, task, own, names[task.name], place) as study:
            _same_items(study, own)
            progress = study.progress()
            if progress.complete < progress.items:
                waiting.append(
                    f"{study.place} ({progress.judgements:,} of {progress.wanted:,} judgements; {_short(study)}go on "
                    f"with `mohs study invite {study.place} --n {config.judging.judges}` and "
                    f"`mohs study serve {study.place}`)"
                )
            votes |= _votes(study)
    if waiting:
        raise Waiting(f"The build waits for people to judge {' and '.join(waiting)}; then build again.")
    return votes


def read_votes(config: Config, items: Sequence[Item], names: Mapping[str, Sequence[str]]) -> Votes:
    """The judgements in the files that the configuration names, whatever `mohs study import` reads."""
    votes: Votes = {}
    for task in config.tasks:
        own = [item for item in items if item.task == task.name]
        if not own:
            continue
        with tempfile.TemporaryDirectory() as folder:
            shown_items = _main(own, names[task.name], design_of(config, task))
            with Study.create(Path(folder) / "study", design_of(config, task), shown_items) as study:
                imported(study, config.judging.files[task.name], main_only=True)
                votes |= _votes(study)
    return votes


def check_training(config: Config) -> None:
    """Refuse texts to train people with that cannot be read, before anything is attacked."""
    for task in config.tasks if config.judging.by == "study" else ():
        if (file := config.judging.training.get(task.name)) is not None:
            wanted = next(iter(data_of(config, task))).names
            for example in _training_data(config, task):
                if len(example.names) != len(wanted):
                    raise BadInput(
                        f"{file} has {len(example.names)} texts an example, and the task {task.name} has "
                        f"{len(wanted)} ({', '.join(wanted)}); name another file under judging.training."
                    )


def _training_data(config: Config, task: Task) -> Dataset:
    """The labelled texts to train people with: those that the configuration names, or those of the task."""
    data = data_of(config, task)
    if task.name in config.judging.training:
        return replace(data, source=config.judging.training[task.name], n=None, sample=None)
    return data


def _short(study: Study) -> str:
    """Says if people are trained with fewer texts than the design has, and what to do about it."""
    training = study.design.training
    there = sum(one.role is Role.TRAINING for one in study.items())
    if training is None or there >= training.items:
        return ""
    return (
        f"only {there} of {training.items} texts are left to train people: if that is too few, delete the study and "
        "name other labelled texts under judging.training; or "
    )


def place_of(config: Config, task: Task, out: Path) -> str:
    """Where the study of a task is: a folder of the build, or a schema of a PostgreSQL database."""
    place = config.judging.place
    if not place:
        return str(out / STUDIES / task.name)
    if not is_address(place):
        return str(Path(place).expanduser() / task.name)
    name = re.sub(r"[^a-z0-9_]", "_", f"b_{config.name}_{task.name}".lower())[:41]  # of a schema
    return f"{place}{'&' if '?' in place else '?'}study={name}"


def design_of(config: Config, task: Task) -> Design:
    """The label design of AdvGLUE, with the task's classes."""
    design = replace(read_design("labels"), judges=config.judging.judges).with_labels(task.labels)
    assert design.valid is not None, "the bundled design has a rule"
    return replace(design, valid=replace(design.valid, least_agreeing=config.judging.agreeing))


def _made(config: Config, task: Task, items: Sequence[Item], names: Sequence[str], place: str) -> Study:
    """The study of a task, which is made if there is none, or if its making was cut off."""
    refused: BadInput | None = None
    if is_address(place) or (Path(place) / FILE).is_file():
        try:
            return Study.open(place)
        except BadInput as error:
            refused = error
    design = design_of(config, task)
    unchanged, examples = _unchanged(config, task, items, names, design)
    source: dict[str, Any] = {
        "runs": [],
        "victims": [without_credentials(victim) for victim in task.surrogates.values()],
        "data": [without_credentials(task.data)],
        "groups": {},
        "labels": list(task.labels),
        "examples": examples,
    }
    try:
        return Study.create(place, design, [*_main(items, names, design), *unchanged], seed=config.seed, **source)
    except BadInput as error:
        raise refused or error from None


def _main(items: Sequence[Item], names: Sequence[str], design: Design) -> list[Shown]:
    question = design.questions[0]
    return [
        Shown(
            item.id,
            question.name,
            (shown(names, item.text),),
            item.method,
            expected=(question.values[item.label],),
            facts={"attack": item.method, "example": item.source, "source": item.benign, "label": item.label},
        )
        for item in items
    ]


def _unchanged(
    config: Config, task: Task, items: Sequence[Item], names: Sequence[str], design: Design
) -> tuple[list[Shown], list[dict[str, Any]]]:
    """Benign texts of which nothing is judged, for the instructions, the training and people's accuracy."""
    used = {item.benign for item in items}
    data = _training_data(config, task)
    pool: list[Example] = [one for one in data if benign_of(one.text.fields) not in used]
    Random(f"{config.seed}/{task.name}/unchanged").shuffle(pool)
    examples: list[dict[str, Any]] = []
    for number, label in enumerate(task.labels):
        own = [one for one in pool if one.label == number][: design.examples]
        examples.append({"label": label, "texts": [shown(names, one.text.fields) for one in own]})
        taken = {one.id for one in own}
        pool = [one for one in pool if one.id not in taken]
    wanted = design.training.items * _TRAINING_POOL if design.training else 0
    if design.training and len(pool) < wanted + design.accuracy:  # few texts: people are trained first
        wanted = max(design.training.items, len(pool) - design.accuracy)
    if design.training and not pool:
        raise BadInput(
            f"All texts of {data.source} are judged, so none is left to train people; raise n of {task.name}, or name "
            "other labelled texts under judging.training."
        )
    question = design.questions[0]
    parts = ((Role.TRAINING, pool[:wanted]), (Role.ACCURACY, pool[wanted : wanted + design.accuracy]))
    found = [
        Shown(
            f"{role} {number}",
            question.name,
            (shown(names, one.text.fields),),
            str(role),
            role,
            (question.values[one.label],),
            {"label": one.label},
        )
        for role, part in parts
        for number, one in enumerate(part, 1)
    ]
    return found, examples


def _same_items(study: Study, items: Sequence[Item]) -> None:
    """Refuse a study of other texts: the configuration was changed since it was made."""
    there = {one.key: one.texts for one in study.items() if one.role is Role.MAIN}
    if there.keys() != {item.id for item in items} or any(
        not one.endswith(item.text[-1]) for item in items for one in there[item.id]
    ):
        raise BadInput(
            f"The study {study.place} asks about other texts than this build has; name another place under judging, "
            "or build in a new folder."
        )


def _votes(study: Study) -> Votes:
    """What counts of a study's judgements. Judges get numbers, so that no name leaves the study."""
    pool = gathered(study).pool
    values = study.design.questions[0].values
    numbers: dict[str, str] = {}
    votes: dict[str, list[Vote]] = {}
    judgements = sorted(pool.of(pool.main()), key=lambda one: (one.item, one.annotator))
    for one in judgements if pool.whose == "people" else ():
        judge = numbers.setdefault(one.annotator, f"judge-{len(numbers) + 1}")
        votes.setdefault(one.item, []).append((judge, values.index(pool.said(one))))
    return {item: tuple(given) for item, given in votes.items()}
