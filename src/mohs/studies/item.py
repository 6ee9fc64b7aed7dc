"""What is judged, and what was said: items, people and their judgements, as plain values."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Role(StrEnum):
    """Why an item is in a study."""

    MAIN = "main"  # what the study is about
    CONTROL = "control"  # with a known answer, to find annotators who do not read
    TRAINING = "training"  # with feedback, before the main items
    ACCURACY = "accuracy"  # unchanged and with a known label, to measure people


COUNTED = (Role.MAIN, Role.ACCURACY)  # roles with a limited number of judgements for each item


class Kind(StrEnum):
    """Who judges. Kinds are never mixed in a figure, but people on a page and people in a file are both people."""

    PERSON = "person"
    IMPORTED = "imported"
    MODEL = "model"
    SIMULATED = "simulated"


PEOPLE = (Kind.PERSON, Kind.IMPORTED)


class State(StrEnum):
    """How far an annotator is."""

    INVITED = "invited"  # has not agreed to take part yet
    TRAINING = "training"
    WORKING = "working"
    FAILED = "failed"  # did not qualify
    FINISHED = "finished"
    WITHDRAWN = "withdrawn"
    ASIDE = "set aside"  # by the organiser: these judgements do not count, and their items went to others


ENDED = (State.FAILED, State.FINISHED, State.WITHDRAWN, State.ASIDE)


@dataclass(frozen=True)
class Item:
    """One thing to judge: one or two texts and a question about them.

    expected: the answers that are right, where that is known (for the plain statement); of a main item of a label study
    it is the original label, which annotators do not see.
    facts: where it comes from: run, attack, example, position, old, new, changes, version ...
    """

    key: str  # unique in the study
    question: str
    texts: tuple[str, ...]
    group: str = ""  # an attack; a batch may be from one group
    role: Role = Role.MAIN
    expected: tuple[int, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def source(self) -> str:
        """What items about the same text have in common: nobody gets two of them in a batch if it can be helped."""
        return str(self.facts.get("source", self.key))

    def content(self) -> str:
        """What the database keeps besides key, question, group and role."""
        return json.dumps({"texts": self.texts, "expected": self.expected, "facts": dict(self.facts)})

    @classmethod
    def of(cls, key: str, question: str, group: str, role: str, content: str) -> Item:
        """From a row of the database."""
        found = json.loads(content)
        return cls(
            key, question, tuple(found["texts"]), group, Role(role), tuple(found["expected"]), found.get("facts", {})
        )


@dataclass(frozen=True)
class Annotator:
    """Somebody who judges. The name is a number or what the organiser chose; no personal data is needed."""

    number: int
    name: str
    kind: Kind
    state: State
    statement: int  # the number of the statement that they read, for questions with several
    named: bool = True  # False for imported judgements of which nobody knows whose they are


@dataclass(frozen=True)
class Judgement:
    """One answer about one item, as it was given: `value` refers to the statement shown."""

    item: str  # the item's key
    annotator: str
    value: int
    statement: int = 0
    swapped: bool = False  # whether the second text stood first
    seconds: float | None = None
    at: float | None = None  # seconds since 1970
    batch: int = 0
