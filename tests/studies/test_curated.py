"""Curation by labels (paper 002): what is kept, agreement before and after against statsmodels, and human accuracy."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from statsmodels.stats.inter_rater import fleiss_kappa as published

from mohs.studies.analysis import Analysis, analyse_study
from mohs.studies.design import read_design
from mohs.studies.item import Item, Judgement, Kind, Role
from mohs.studies.study import Study

DESIGN = read_design("labels").with_labels(("bad", "good", "mixed"))
PANELS = {  # by item: the original label, and five answers
    "unanimous": (1, [1, 1, 1, 1, 1]),
    "four": (0, [0, 0, 0, 0, 2]),
    "three": (1, [1, 1, 1, 0, 0]),  # no consensus
    "other": (0, [1, 1, 1, 1, 0]),  # consensus on another label
    "few": (1, [1, 1]),  # fewer judges than must agree: no verdict
}
UNCHANGED = {"u": (2, [2, 2, 2, 2, 0]), "v": (0, [0, 0, 1])}


@pytest.fixture
def found(tmp_path: Path) -> Analysis:
    items = [
        Item(key, "label", (key,), "attack", role, (label,))
        for role, panels in ((Role.MAIN, PANELS), (Role.ACCURACY, UNCHANGED))
        for key, (label, _) in panels.items()
    ]
    with Study.create(tmp_path / "study", DESIGN, items) as study:
        answers = [
            Judgement(key, f"j{n}", value)
            for key, (_, values) in {**PANELS, **UNCHANGED}.items()
            for n, value in enumerate(values)
        ]
        study.add(answers, Kind.IMPORTED)
        return analyse_study(study, measures=False)


def test_what_is_kept_and_why_not(found: Analysis) -> None:
    one = found.whole.curated
    assert one is not None
    assert (one.kept.hits, one.no_consensus.hits, one.other_label.hits, one.kept.total) == (2, 1, 1, 4)
    assert one.filter_rate == 0.5
    assert found.whole.verdicts == {"unanimous": True, "four": True, "three": False, "other": False, "few": None}
    assert (found.whole.valid.valid, found.whole.valid.items, found.whole.valid.undecided) == (2, 4, 1)
    assert any("no verdict" in note for note in found.notes)
    assert json.loads(json.dumps(one.to_json()))["filter_rate"] == 0.5


def test_kappa_before_and_after_curation_is_statsmodels(tmp_path: Path) -> None:
    """Items with five judges each; the tables that statsmodels gets are counted here."""
    random = np.random.default_rng(3)
    answers = {f"i{n}": random.choice([0, 1, 2], 5, p=np.roll([0.8, 0.1, 0.1], n % 3)).tolist() for n in range(40)}
    items = [Item(key, "label", (key,), "attack", Role.MAIN, (int(key[1:]) % 3,)) for key in answers]
    with Study.create(tmp_path / "study", DESIGN, items) as study:
        rows = [Judgement(key, f"j{n}", value) for key, given in answers.items() for n, value in enumerate(given)]
        study.add(rows, Kind.IMPORTED)
        (question,) = analyse_study(study, measures=False).whole.questions

    def table(keys: list[str]) -> np.ndarray:
        return np.array([[answers[key].count(label) for label in range(3)] for key in keys])

    kept = [key for key, given in answers.items() if given.count(int(key[1:]) % 3) >= 4]
    assert 10 < len(kept) < 40
    assert question.kappa.value == pytest.approx(published(table(list(answers))))
    assert question.kappa_curated is not None
    assert question.kappa_curated.value == pytest.approx(published(table(kept)))
    assert (question.kappa_curated.value or 0) > (question.kappa.value or 0)
    assert question.alpha.of.endswith("nominal)")


def test_human_accuracy_by_hand(found: Analysis) -> None:
    """Of one judge against the majority: with the own vote 5/5, 4/5, 3/5, 4/5 and 2/2 of the items."""
    accuracy = found.whole.questions[0].accuracy
    assert accuracy.with_own.value == pytest.approx((1 + 0.8 + 0.6 + 0.8 + 1) / 5)
    # of three against two: one of the three leaves two against two (a half), one of the two leaves three against one
    assert accuracy.without_own.value == pytest.approx((1 + 0.8 + 0.3 + 0.8 + 1) / 5)
    assert accuracy.known is not None
    assert accuracy.known.value == pytest.approx((1 + 0.8 + 0.6 + 0.2 + 1) / 5)
    assert found.whole.curated is not None
    assert found.whole.curated.accuracy.with_own.value == pytest.approx((1 + 0.8) / 2)


def test_accuracy_on_unchanged_texts_stands_apart(found: Analysis) -> None:
    assert found.trained is not None
    assert found.trained.unchanged.value == pytest.approx((4 / 5 + 2 / 3) / 2)
    assert found.trained.passed.total == 0
    assert found.whole.questions[0].items == 5  # main items alone
    assert found.counted.people == sum(len(values) for _, values in {**PANELS, **UNCHANGED}.values())


def test_another_number_of_judges_who_agree(tmp_path: Path) -> None:
    items = [Item(key, "label", (key,), "attack", Role.MAIN, (label,)) for key, (label, _) in PANELS.items()]
    with Study.create(tmp_path / "study", DESIGN, items) as study:
        answers = [Judgement(k, f"j{n}", v) for k, (_, values) in PANELS.items() for n, v in enumerate(values)]
        study.add(answers, Kind.IMPORTED)
        three, five = (analyse_study(study, threshold=n, measures=False).whole.verdicts for n in (3, 5))
    assert three == {"unanimous": True, "four": True, "three": True, "other": False, "few": None}
    assert five == {"unanimous": True, "four": False, "three": False, "other": False, "few": None}
