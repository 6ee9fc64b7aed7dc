"""Four versions of an example (paper 000): medians, and when two versions mean the same."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from mohs.studies.analysis import analyse_study
from mohs.studies.design import read_design
from mohs.studies.drawing import VERSIONS
from mohs.studies.item import Item, Judgement, Kind
from mohs.studies.study import Study
from mohs.studies.versions import Versions, pole_of

DESIGN = read_design("second-order")
X, X_P, N, N_P = VERSIONS


def figures(place: Path, answers: Mapping[tuple[str, str, str], list[int]]) -> Versions:
    """The figures of a study with these answers, by question, example and version."""
    items = [
        Item(
            "/".join(key), key[0], (f"text {key[1]} {key[2]}",), "attack", facts={"example": key[1], "version": key[2]}
        )
        for key in answers
    ]
    with Study.create(place, DESIGN, items) as study:
        rows = [Judgement("/".join(key), f"j{n}", v) for key, values in answers.items() for n, v in enumerate(values)]
        study.add(rows, Kind.IMPORTED)
        found = analyse_study(study, measures=False).whole.versions
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("median", "pole"),
    [(1, "negative"), (2, "negative"), (3, None), (4, "positive"), (5, "positive"), (4.5, "positive"), (3.5, None)],
)
def test_the_pole_of_a_median(median: float, pole: str | None) -> None:
    assert pole_of(DESIGN.question("sentiment"), median) == pole


def test_the_same_only_if_both_are_positive_or_both_negative(tmp_path: Path) -> None:
    medians = {  # example: the original without and with p, the neighbour without and with p
        "positive": (5, 4, 4, 4),
        "negative": (1, 2, 2, 1),
        "neutral": (3, 3, 3, 3),  # two neutral texts are not the same
        "turned": (4, 2, 4, 5),
        "lost": (5, 5, 5, 3),
    }
    answers = {
        ("sentiment", example, version): [value, value, 3]
        for example, values in medians.items()
        for version, value in zip((X, X_P, N, N_P), values, strict=True)
    }
    (same,) = figures(tmp_path / "study", answers).same
    assert (same.after_synonym[X].hits, same.after_synonym[X].total) == (3, 5)  # positive, negative, lost
    assert (same.after_synonym[N].hits, same.after_synonym[N].total) == (3, 5)  # positive, negative, turned
    assert same.difference.value == 0
    assert same.difference.examples == 5


def test_naturalness_is_the_mean_of_medians(tmp_path: Path) -> None:
    answers = {
        ("naturalness", "a", X): [5, 5, 1],  # median 5
        ("naturalness", "a", X_P): [4, 4, 4],
        ("naturalness", "a", N): [2, 3, 5],  # 3
        ("naturalness", "a", N_P): [1, 1, 2],  # 1
        ("naturalness", "b", X): [3, 3, 3],
        ("naturalness", "b", X_P): [3, 3, 4],  # 3
        ("naturalness", "b", N): [4, 4, 1],  # 4
        ("naturalness", "b", N_P): [2, 2, 2],
    }
    found = figures(tmp_path / "study", answers)
    (natural,) = found.natural
    assert {version: one.value for version, one in natural.versions.items()} == {X: 4.0, X_P: 3.5, N: 3.5, N_P: 1.5}
    assert natural.neighbour.value == pytest.approx(((3 - 5) + (4 - 3)) / 2)
    assert natural.synonym[X].value == pytest.approx(((4 - 5) + (3 - 3)) / 2)
    assert natural.synonym[N].value == pytest.approx(((1 - 3) + (2 - 4)) / 2)
    assert natural.neighbour.low is None  # two examples
    assert json.loads(json.dumps(found.to_json()))["scales"][0]["question"] == "naturalness"
