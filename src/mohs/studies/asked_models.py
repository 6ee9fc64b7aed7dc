"""What a study keeps of the models that judge it, besides their answers: how they were asked, and odd replies."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from mohs.errors import BadInput
from mohs.models.chat import ChatModel
from mohs.studies.database import Cursor
from mohs.studies.heard import valid
from mohs.studies.item import Kind
from mohs.studies.prompts import FORM
from mohs.studies.study import Study

_ASKED, _UNREAD = "model/", "unread/"  # names of rows in the study's table


@dataclass(frozen=True)
class Asked:
    """How a model was asked: what must be the same to go on."""

    model: str
    temperature: float
    most_tokens: int
    statement: int  # the number of the statement it reads, where a question has several
    form: str = FORM


def unreadable(study: Study, name: str) -> dict[str, str]:
    """The replies of a model that were no answer, by item: how they begin."""
    rows = study.database.read(lambda c: c.all("SELECT name, value FROM study"))
    found = {}
    for key, value in rows:
        if key.startswith(_UNREAD):
            whose, item = json.loads(key.removeprefix(_UNREAD))
            if whose == name:
                found[str(item)] = str(json.loads(value))
    return found


def asked_models(study: Study) -> dict[str, dict[str, Any]]:
    """How each model was asked: its name at the endpoint, temperature, form of the prompt, addresses."""
    rows = study.database.read(lambda c: c.all("SELECT name, value FROM study ORDER BY name"))
    return {key.removeprefix(_ASKED): json.loads(value) for key, value in rows if key.startswith(_ASKED)}


def _unread(name: str, item: str) -> str:
    """The name of the row with a reply: both parts may hold any sign."""
    return _UNREAD + json.dumps([name, item])


def _put(cursor: Cursor, rows: Sequence[tuple[str, str]]) -> None:
    cursor.many("INSERT INTO study VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value", rows)


def forget_unreadable(study: Study, name: str) -> None:
    """Delete the replies of a model that were no answer, so that it is asked again."""
    rows = [(_unread(name, key),) for key in unreadable(study, name)]
    study.database.write(lambda c: c.many("DELETE FROM study WHERE name = ?", rows))


def model_name(study: Study, name: str) -> str:
    """What a model is called in a study, if nobody else is called that."""
    name = name.strip()
    if not 0 < len(name) <= 80 or not name.isprintable() or valid(name) != name:
        raise BadInput(f"A model cannot be called {name[:90]!r} in a study; give 1 to 80 characters with --name.")
    for one in study.annotators():
        if one.name == name and one.kind is not Kind.MODEL:
            raise BadInput(f"{name!r} is the name of a judge of the kind {one.kind}; choose another one with --name.")
    return name


def registered(study: Study, name: str, model: ChatModel, statement: int | None) -> Asked:
    """Note how a model is asked before the first question, and refuse to go on in another way."""
    most = max(len(question.statements) for question in study.design.questions)
    if statement is not None and not 0 <= statement < most:
        raise BadInput(
            f"The design {study.design.name} has {most} statements, and no number {statement}; count from 0."
        )

    def work(cursor: Cursor) -> Asked:
        rows = cursor.all("SELECT name, value FROM study")
        known = {str(key): json.loads(value) for key, value in rows if key.startswith(_ASKED)}
        before = known.get(_ASKED + name)
        number = statement if statement is not None else before["statement"] if before else len(known) % most
        asked = Asked(model.model, model.temperature, model.most_tokens, number)
        urls = [*before.pop("urls"), model.url] if before else [model.url]
        if before is not None and before != asdict(asked):
            odd = next(key for key, value in asdict(asked).items() if before.get(key) != value)
            raise BadInput(
                f"{name!r} was asked with another {odd.replace('_', ' ')} ({before.get(odd)!r}, now "
                f"{getattr(asked, odd)!r}); give this judge another name with --name."
            )
        _put(cursor, [(_ASKED + name, json.dumps({**asdict(asked), "urls": list(dict.fromkeys(urls))}))])
        return asked

    return study.database.write(work)


def keep_unreadable(study: Study, name: str, replies: Mapping[str, str]) -> None:
    """Store replies that are no answer, by item."""
    if replies:
        rows = [(_unread(name, item), json.dumps(reply)) for item, reply in replies.items()]
        study.database.write(lambda c: _put(c, rows))
