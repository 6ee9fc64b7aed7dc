"""Examples that people made, or that templates of people made: read as items of a task."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pkgutil import resolve_name
from typing import Any, NamedTuple

from mohs.curation.config import ROWS, Config, Crafted, Task
from mohs.curation.crafted.classes import class_of
from mohs.curation.crafted.example import CraftedExample, Order
from mohs.curation.item import Item
from mohs.curation.judged import BY_DEFINITION
from mohs.errors import BadInput
from mohs.studies.reading import Fault
from mohs.text.dataset import Dataset


class ReadSet(NamedTuple):
    """What was read of a set. other: examples whose class the task does not have."""

    items: list[Item]
    licence: str
    other: int


def read_set(config: Config, one: Crafted, names: Sequence[str]) -> ReadSet:
    """The examples of a set. names: what its task's texts are called; empty if that is not known yet."""
    task = config.task(one.task)
    found: dict[str, Item] = {}
    classes: set[str] = set()
    licences: dict[str, None] = {one.licence: None} if one.licence else {}
    other = 0
    for example, label in _examples(config, one, task):
        classes.add(example.label)
        if names and len(example.fields) != len(names):
            raise BadInput(
                f"{one.file or one.name} has {len(example.fields)} texts an example, and the task {task.name} has "
                f"{len(names)} ({', '.join(names)}); name the columns under fields."
            )
        if label is None:
            other += 1
            continue
        if not one.licence and example.licence:
            licences[example.licence] = None
        item_id = f"{task.name}/{one.name}/{example.id}/0"
        if item_id in found:
            raise BadInput(f"{one.file} has the id {example.id} twice; make ids unique.")
        found[item_id] = Item(
            item_id, task.name, one.name, label, example.fields, judged=BY_DEFINITION, rule=example.method
        )
    for name in one.called:
        if name not in classes:
            raise BadInput(
                f"crafted.{one.name}.called names the class {name!r} of the set, which has "
                f"{', '.join(sorted(classes))}; give one of these."
            )
    if not found:
        why = f"no example of a class of {task.name} ({', '.join(task.labels)})" if other else "no examples"
        raise BadInput(f"{one.file or one.name} has {why}; change it, or leave the set {one.name} out.")
    return ReadSet(list(found.values()), ", ".join(licences), other)


def content_of(read: ReadSet) -> list[Any]:
    """What decides a set's items, for the key of a stage."""
    return [[[item.id, item.text, item.label] for item in read.items], read.licence, read.other]


def _examples(config: Config, one: Crafted, task: Task) -> Iterator[tuple[CraftedExample, int | None]]:
    """The examples, each with the number of its class; None if the task has no such class."""
    if one.format == ROWS:
        data = Dataset(
            one.file, fields=one.fields, label_field=one.label_field, id_field=one.id_field, labels=task.labels
        )
        for example in data:
            if example.label >= len(task.labels):
                raise BadInput(
                    f"{one.file}: the example {example.id} has the label {example.label}, and {task.name} has "
                    f"{len(task.labels)} classes; fix the row or name another label_field."
                )
            yield CraftedExample(example.id, example.text.fields, "", one.name), example.label
        return
    reader = resolve_name(f"mohs.curation.crafted.{one.format}:{one.format}")
    order = Order(one.file, task.kind, config.seed, one.fields, one.options, one.licence)
    try:
        for made in reader(order):
            yield made, class_of(made.label, task.labels, one.called)
    except Fault as fault:
        raise BadInput(f"The set {one.name}: {fault}.") from fault
