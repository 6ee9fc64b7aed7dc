"""Reads a benchmark's configuration, and says in one sentence what is wrong with it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date
from pathlib import Path
from typing import Any

import yaml

from mohs.curation import config as c
from mohs.errors import BadInput
from mohs.records.limited_yaml import read_yaml
from mohs.studies.reading import Fault, Reader

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")  # also the name of a folder
_MOST = 10_000_000
_ROWS = ("idx", "task", "label", "method", "class", "family", "original_id", "share_changed", "similarity")
_TAKEN = (*_ROWS, "agreement", "judges", "judged")  # keys of a row that no text may have


def read_config(path: str | Path) -> c.Config:
    """The configuration in a YAML file. Files in it are looked for from the current folder, as in all options."""
    path = Path(path).expanduser()
    if not path.is_file():
        raise BadInput(f"There is no file {path}; write one with `mohs benchmark new {path}`.")
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} cannot be read ({getattr(error, 'strerror', None) or error}).") from error
    return config_of(text, str(path))


def config_of(text: str, place: str) -> c.Config:
    """The configuration in a YAML text. place: where it comes from, for messages."""
    try:
        found = read_yaml(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise BadInput(f"{place} is not YAML ({' '.join(str(error).split())[:200]}).") from error
    return config_from(found, place)


def config_from(values: Any, place: str) -> c.Config:
    """The configuration in plain values, as YAML gives them."""
    if isinstance(values, dict) and isinstance(day := values.get("published"), date):
        values = {**values, "published": day.isoformat()}  # YAML reads a day as a date
    try:
        return _config(Reader(values, ""))
    except Fault as fault:
        raise BadInput(f"The benchmark {place}: {fault}.") from fault


def _config(read: Reader) -> c.Config:
    name = read.text("name")
    attacks = tuple(_attack(one) for one in read.parts("attacks", "attack"))
    crafted = tuple(_crafted(one) for one in read.parts("crafted"))
    _once("attacks and sets are", [one.name for one in attacks] + sorted({one.name for one in crafted}))
    _once("the sets of a task are", [f"{one.name} of {one.task}" for one in crafted])
    tasks = tuple(_task(task, one) for task, one in _named(read, "tasks"))
    found = c.Config(
        name=_named_well("name", name),
        about=read.text("about", ""),
        licence=read.text("licence", ""),
        seed=read.whole("seed", 0, _MOST, 0),
        tasks=tasks,
        attacks=attacks,
        crafted=crafted,
        filters=_filters(read.part("filters")),
        judging=_judging(read.part("judging")),
        limits=_limits(read.part("limits")),
        split=read.number("split", 0.0, 0.9, 0.1),
        average=read.choice("average", ("attack", "family"), "attack"),
        hide_test=read.flag("hide_test", False),
        version=read.text("version", "1.0.0"),
        url=read.text("url", ""),
        creators=_texts(read, "creators"),
        published=_date(read),
        citation=read.text("citation", ""),
        device=read.text("device", "auto"),
    )
    read.end()
    _fitting(found)
    return found


def _task(name: str, read: Reader) -> c.Task:
    kind = read.choice("kind", tuple(c.KINDS))
    surrogates = {key: str(value) for key, value in _mapping(read, "surrogates").items()}
    if not surrogates:
        raise Fault(f"tasks.{name} has no surrogates; give victims by name, as in `surrogates: {{first: hf:PATH}}`")
    for key in surrogates:
        _named_well(f"tasks.{name}.surrogates", key)
    names = _texts(read, "names") or c.KINDS[kind]
    fields = _texts(read, "fields")
    if fields and names and len(fields) != len(names):
        raise Fault(f"tasks.{name} has {len(fields)} fields, and the kind {kind} has {len(names)} ({', '.join(names)})")
    for one in (n for n in names if n in _TAKEN or n.startswith("original_")):
        raise Fault(f"tasks.{name}.names has {one!r}, which rows of a benchmark use otherwise; choose another name")
    metrics = _texts(read, "metrics") or (("accuracy", "f1") if kind == "paraphrase" else ("accuracy",))
    for metric in metrics:
        if metric not in c.METRICS:
            raise Fault(f"tasks.{name}.metrics has {metric!r}; there are {', '.join(c.METRICS)}")
    found = c.Task(
        name=_named_well("tasks", name),
        kind=kind,
        data=read.text("data"),
        fields=fields,
        names=names,
        label_field=read.text("label_field", "label"),
        id_field=read.text("id_field", "id"),
        labels=_texts(read, "labels"),
        surrogates=surrogates,
        n=read.maybe_whole("n"),
        sample=read.maybe_whole("sample"),
        change=_texts(read, "change"),
        metrics=metrics,
        group=read.text("group", "") or name,
        licence=read.text("licence", ""),
        only=_texts(read, "only"),
        without=_texts(read, "without"),
    )
    read.end()
    if len(found.labels) < 2:
        raise Fault(f"tasks.{name}.labels names {len(found.labels)} classes; give all in the surrogates' order")
    if "f1" in found.metrics and len(found.labels) != 2:
        raise Fault(f"tasks.{name}.metrics has f1, which is for two classes, and there are {len(found.labels)}")
    return found


def _attack(read: Reader) -> c.AttackOn:
    attack = read.text("attack")
    name = read.text("name", re.sub(r"[^A-Za-z0-9._-]+", "-", attack).strip("-."))
    of_class = read.choice("class", ("word", "sentence"))
    family = read.choice("family", c.FAMILIES[of_class])
    options = _mapping(read, "options")
    found = c.AttackOn(
        _named_well("attacks", name), attack, of_class, family, options,
        read.flag("by_definition", family == c.DISTRACTION), _texts(read, "on"),
    )  # fmt: skip
    read.end()
    return found


def _crafted(read: Reader) -> c.Crafted:
    found = c.Crafted(
        name=_named_well("crafted", read.text("name")),
        task=read.text("task"),
        file=read.text("file", ""),
        family=read.text("family", "") or read.text("name"),
        fields=_texts(read, "fields"),
        label_field=read.text("label_field", "label"),
        id_field=read.text("id_field", "id"),
        format=read.choice("format", c.FORMATS, c.ROWS),
        options=_mapping(read, "options"),
        called={key: str(value) for key, value in _mapping(read, "called").items()},
        licence=read.text("licence", ""),
    )
    read.end()
    if not found.file and found.format not in c.BUNDLED:
        raise Fault(f"crafted.{found.name} has no file, which the format {found.format} needs; name it under file")
    for name in c.NOT_FOR[found.format]:
        if read.given(name):
            raise Fault(f"crafted.{found.name} has {name}, which the format {found.format} does not read; leave it out")
    return found


def _filters(read: Reader | None) -> c.Filters:
    if read is None:
        return c.Filters()
    found = c.Filters(
        read.number("word_change", 0.0, 1.0, 0.15),
        read.choice("similarity", c.SIMILARITIES, "encoder"),
        read.text("encoder", "pocket"),
        read.text("token_encoder", "pocket"),
    )
    read.end()
    return found


def _judging(read: Reader | None) -> c.Judging:
    if read is None:
        return c.Judging()
    found = c.Judging(
        by=read.choice("by", c.JUDGING),
        judges=read.whole("judges", 1, 1000, 5),
        agreeing=read.whole("agreeing", 1, 1000, 4),
        place=read.text("place", ""),
        files={key: str(value) for key, value in _mapping(read, "files").items()},
        training={key: str(value) for key, value in _mapping(read, "training").items()},
        pool=read.whole("pool", 1, 10_000, 20),
        skill=read.number("skill", 0.0, 1.0, 0.95),
    )
    read.end()
    if found.agreeing > found.judges:
        raise Fault(f"judging.agreeing is {found.agreeing}, and a text has {found.judges} judges; ask for fewer")
    if found.by == "simulated" and found.pool < found.judges:
        raise Fault(f"judging.pool is {found.pool}, and a text needs {found.judges} judges; make it larger")
    return found


def _limits(read: Reader | None) -> c.Limits:
    if read is None:
        return c.Limits()
    found = c.Limits(*(read.maybe_whole(name) for name in ("budget", "least_words", "most_words", "most_judged")))
    read.end()
    for name, value in vars(found).items():
        if value is not None and value < 1:
            raise Fault(f"limits.{name} is {value}; it must be at least 1")
    return found


def _fitting(found: c.Config) -> None:
    """Refuse names of things that are not there."""
    if not found.tasks:
        raise Fault("it has no tasks; give at least one under `tasks`")
    if not found.attacks and not found.crafted:
        raise Fault("it has neither attacks nor crafted sets; give a list under `attacks`")
    tasks = [task.name for task in found.tasks]
    methods = [one.name for one in found.methods]
    surrogates = list(dict.fromkeys(name for task in found.tasks for name in task.surrogates))
    for task in found.tasks:
        for one in (*task.only, *task.without):
            if one not in methods:
                raise Fault(f"tasks.{task.name} names the attack {one!r}; there are {', '.join(methods)}")
        for attack in found.of(task):
            if attack.on and not set(attack.on) & set(task.surrogates):
                raise Fault(
                    f"attacks.{attack.name}.on names none of the surrogates of {task.name}, which are "
                    f"{', '.join(task.surrogates)}; name one, or the attack under `without` of the task"
                )
        if not found.of(task) and not found.sets(task):
            raise Fault(f"tasks.{task.name} has no attack left; change its `only` or `without`")
    for attack in found.attacks:
        for one in (one for one in attack.on if one not in surrogates):
            raise Fault(f"attacks.{attack.name}.on names the surrogate {one!r}; there are {', '.join(surrogates)}")
    for name, what in [
        *((one.task, "crafted") for one in found.crafted),
        *((task, "judging.files") for task in found.judging.files),
        *((task, "judging.training") for task in found.judging.training),
    ]:
        if name not in tasks:
            raise Fault(f"{what} names the task {name!r}; there are {', '.join(tasks)}")
    for crafted in found.crafted:
        labels = found.task(crafted.task).labels
        for label in crafted.called.values():
            if label not in labels:
                raise Fault(
                    f"crafted.{crafted.name}.called names the class {label!r} of {crafted.task}, which has "
                    f"{', '.join(labels)}; give one of these"
                )
    if found.judging.by == "judgements" and (
        missing := [t.name for t in found.tasks if t.name not in found.judging.files]
    ):
        raise Fault(f"judging.files has no file for {missing[0]}; give one for each task")


def _date(read: Reader) -> str:
    """A day such as 2026-01-31; empty if there is none."""
    found = read.text("published", "")
    if found and not re.fullmatch(r"\d{4}-\d\d-\d\d", found):
        raise Fault(f"published is {found!r}; write a day such as 2026-01-31")
    return found


def _named(read: Reader, name: str) -> Iterable[tuple[str, Reader]]:
    """The parts of a mapping by name."""
    inner = read.part(name)
    given = read.given(name)
    for key in given if inner is not None else ():
        one = inner.part(str(key)) if inner is not None else None
        if one is None:
            raise Fault(f"{name}.{key} is empty; give its settings")
        yield str(key), one


def _mapping(read: Reader, name: str) -> dict[str, Any]:
    """A mapping of plain values; empty if there is none."""
    if read.part(name) is None:
        return {}
    return {str(key): value for key, value in read.given(name).items()}


def _texts(read: Reader, name: str) -> tuple[str, ...]:
    """A list of strings; one string stands for itself; empty if there is none."""
    given = read.given(name)
    if given is None:
        read.part(name)
        return ()
    found = (read.text(name),) if isinstance(given, str) else tuple(read.texts(name))
    _once(f"the parts of {name} are", found)
    return found


def _once(what: str, names: Iterable[str]) -> None:
    known: set[str] = set()
    for name in names:
        if name in known:
            raise Fault(f"{what} named once each, and {name!r} is there twice; give one of them another name")
        known.add(name)


def _named_well(where: str, name: str) -> str:
    if not _NAME.fullmatch(name):
        raise Fault(f"{where} has the name {name!r}; use letters, digits, dots, dashes and underscores")
    return name
