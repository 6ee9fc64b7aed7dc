"""Small studies, and where they can be kept."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mohs.studies.design import Design, design_of
from mohs.studies.item import Item, Role
from mohs.studies.study import Study

POSTGRES = os.environ.get("MOHS_POSTGRES", "")

DESIGN = """
name: toy
title: Is it the same?
items: pairs
judges: 2
batch: 3
shuffled: true
minutes: 1
questions:
  - name: same
    statements:
      - The change keeps the meaning.
      - {text: The change changes the meaning., negated: true}
    answers: [Yes indeed, Perhaps, Not at all]
    agree: low
valid: {question: same, statistic: mean, at_most: 1.5}
controls:
  - {texts: [a, a], expected: [1]}
  - {texts: [a, z], expected: [3]}
"""


def design(**more: Any) -> Design:
    return replace(design_of(DESIGN, "toy"), **more)


def items(n: int, group: str = "attack", **facts: Any) -> list[Item]:
    return [
        Item(f"{group}/{i}", "same", (f"one {i}", f"other {i}"), group, facts={"source": f"s{i}", **facts})
        for i in range(n)
    ]


def controls(of: Design) -> list[Item]:
    return [
        Item(f"control {n}", of.questions[0].name, one.texts, "", Role.CONTROL, one.expected)
        for n, one in enumerate(of.controls)
    ]


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


Make = Callable[..., Study]


@pytest.fixture(params=["sqlite", "postgres"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Make]:
    """Makes studies in a folder, or on the PostgreSQL server that MOHS_POSTGRES names."""
    made: list[Study] = []
    names = (f"t{os.getpid()}_{re.sub(r'[^a-z0-9]', '', request.node.name.lower())[:20]}_{n}" for n in range(10))
    if request.param == "postgres" and not POSTGRES:
        pytest.skip("set MOHS_POSTGRES to the address of a PostgreSQL database to run this")

    def create(of: Design | None = None, of_items: list[Item] | None = None, **more: Any) -> Study:
        name = next(names)
        place = str(tmp_path / name) if request.param == "sqlite" else f"{POSTGRES}?study={name}"
        if request.param == "postgres":
            _drop(name)
        of = of or design()
        study = Study.create(place, of, items(7) if of_items is None else of_items, **more)
        made.append(study)
        return study

    yield create
    for study in made:
        study.close()
        if request.param == "postgres":
            _drop(study.place.partition("?study=")[2])


def _drop(name: str) -> None:
    import psycopg

    with psycopg.connect(POSTGRES, autocommit=True) as connection:
        connection.execute(f"DROP SCHEMA IF EXISTS mohs_{name} CASCADE")
