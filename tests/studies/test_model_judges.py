"""A model beside people: how often it agrees, by hand, and that people come first."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from mohs.studies.analysis import analyse_study
from mohs.studies.design import Design, read_design
from mohs.studies.item import Item, Judgement, Kind
from mohs.studies.model_judges import ModelJudge
from mohs.studies.study import Study


def beside(
    place: Path, design: Design, people: list[list[int]], model: list[int | None], right: int = -1
) -> ModelJudge:
    """A model's answers beside those of people, item by item; right: the expected answer, if there is one.

    A consensus needs all of the judges, since bundled designs may ask for more than there are here.
    """
    name, judges, valid = design.questions[0].name, max(map(len, people)), design.valid
    if valid is not None and valid.least_agreeing is not None:
        design = replace(design, valid=replace(valid, least_agreeing=judges))
    texts = ("a",) if design.items in ("labels", "texts") else ("a", "b")
    expected = (right,) if right >= 0 else ()
    items = [Item(f"i{n}", name, texts, "attack", expected=expected) for n in range(len(people))]
    with Study.create(place, replace(design, controls=(), judges=judges), items) as study:
        study.add(
            [Judgement(f"i{n}", f"j{j}", v) for n, row in enumerate(people) for j, v in enumerate(row)], Kind.IMPORTED
        )
        study.add([Judgement(f"i{n}", "gpt", v) for n, v in enumerate(model) if v is not None], Kind.MODEL)
        (found,) = analyse_study(study, measures=False, least_judges=1).models
    return found


def test_on_a_scale_by_hand(tmp_path: Path) -> None:
    people = [[6, 7], [5, 5], [1, 2], [3], [4, 6]]
    model: list[int | None] = [6, 3, 2, 3, None]
    found = beside(tmp_path / "study", read_design("fragments"), people, model)
    assert (found.model, found.answered) == ("gpt", 4)
    assert (found.agreeing.hits, found.agreeing.total) == (2, 3)  # 3 is two points from 5; one item has a single judge
    assert found.difference == pytest.approx(((6 - 6.5) + (3 - 5) + (2 - 1.5)) / 3)
    assert found.people.value == 6 / 8  # 4 and 6 are two points apart
    assert found.same_verdict is not None
    # valid by people: 6.5, 5 (and 5, that the model did not judge); not valid: 1.5, 3; the model says 6, 3, 2, 3
    assert (found.same_verdict.hits, found.same_verdict.total) == (3, 4)
    assert found.correlation is not None
    assert found.correlation.value == pytest.approx(1.0)
    assert json.loads(json.dumps(found.to_json()))["model"] == "gpt"


def test_on_labels_by_hand(tmp_path: Path) -> None:
    design = read_design("labels").with_labels(("bad", "good"))
    people = [[1, 1, 0], [1, 1, 1], [0, 1], [0, 0, 0]]
    found = beside(tmp_path / "study", design, people, [1, 0, 1, 0], right=1)
    assert (found.agreeing.hits, found.agreeing.total) == (2, 3)  # a tie has no majority
    assert found.correlation is None
    assert found.difference is None
    assert found.same_verdict is not None
    # valid by people: the second, as all three agree; by the model: the first and the third
    assert (found.same_verdict.hits, found.same_verdict.total) == (1, 4)
    # one against the majority of the others; where these tie there is none: 1, 1 of [1, 1, 0] have 1 and 0 beside them
    assert found.people.value == 6 / 9


def test_a_model_that_answers_as_people_do_agrees_fully(tmp_path: Path) -> None:
    people = [[7, 7], [1, 1], [4, 4], [2, 2], [6, 6], [3, 3]]
    found = beside(tmp_path / "study", read_design("fragments"), people, [row[0] for row in people])
    assert found.agreeing.value == 1.0
    assert found.beyond_chance.value == pytest.approx(1.0)
    assert found.difference == 0
    assert found.same_verdict is not None
    assert found.same_verdict.value == 1.0
