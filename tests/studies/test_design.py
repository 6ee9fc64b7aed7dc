from __future__ import annotations

import copy
import re
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from mohs.errors import BadInput
from mohs.studies.design import (
    Answer,
    Control,
    Design,
    Question,
    Statement,
    Training,
    Valid,
    bundled_names,
    design_of,
    read_design,
)
from mohs.studies.item import Item
from mohs.studies.study import Study
from tests.studies.toys import DESIGN, design

NAMES = ("fragments", "labels", "meaning", "real-or-altered", "second-order", "words")


def test_the_designs_of_the_papers_are_bundled() -> None:
    assert bundled_names() == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_bundled_design_is_read_back_from_its_own_yaml(name: str) -> None:
    found = read_design(name)
    assert found.name == name
    assert found.consent
    assert found.instructions
    assert found.paper
    assert design_of(found.to_yaml(), "again") == found


def test_scales_and_rules_are_those_of_the_papers() -> None:
    """Sources: paper 003, 3.2, 4.2 and A.2; paper 004, 6.1 and A.1; paper 000, A.2; paper 002, 3.3."""
    meaning, words, fragments = map(read_design, ("meaning", "words", "fragments"))
    (asked,) = meaning.questions
    assert [asked.label(n) for n in (1, 2, 3, 4, 5)] == [
        "Strongly Agree",
        "Agree",
        "Not sure",
        "Disagree",
        "Strongly Disagree",
    ]
    assert asked.agree == "low"
    assert [s.negated for s in asked.statements] == [False, True]
    assert meaning.shuffled
    assert meaning.highlight == "characters"
    assert str(meaning.valid) == "mean <= 2"
    for one, judges in ((words, 10), (fragments, 5)):
        assert one.questions[0].values == (1, 2, 3, 4, 5, 6, 7)
        assert one.questions[0].label(7) == "Strongly Agree"
        assert one.questions[0].agree == "high"
        assert one.judges == judges
        assert one.n == 100
        assert str(one.valid) == "mean >= 5"
    pairs = {control.texts: control.expected for control in words.controls}
    assert pairs == {
        ("good", "bad"): (1, 2),
        ("help", "hindrance"): (1, 2),
        ("sofa", "couch"): (6, 7),
        ("seldom", "rarely"): (6, 7),
    }
    assert (fragments.window, fragments.batch, fragments.least_seconds) == (11, 5, 60)
    labels = read_design("labels")
    assert labels.training is not None
    assert (labels.training.items, labels.training.least, labels.batch, labels.judges) == (20, 0.85, 10, 5)
    assert (labels.examples, labels.accuracy, labels.same_group) == (2, 100, True)
    assert labels.valid is not None
    assert labels.valid.least_agreeing == 4
    real = read_design("real-or-altered")
    assert (real.judges, str(real.valid)) == (10, "share < 0.5")
    second = read_design("second-order")
    assert (second.judges, second.n, [q.statistic for q in second.questions]) == (3, 100, ["median", "median"])
    feeling = second.question("sentiment")
    assert [feeling.group(n) for n in (1, 2, 3, 4, 5)] == ["negative", "negative", "neutral", "positive", "positive"]


def test_an_answer_to_a_negated_statement_is_mirrored() -> None:
    (asked,) = design().questions
    assert [asked.said(value, 0) for value in (1, 2, 3)] == [1, 2, 3]
    assert [asked.said(value, 1) for value in (1, 2, 3)] == [3, 2, 1]


def test_classes_of_a_run_become_the_answers() -> None:
    found = read_design("labels").with_labels(("bad", "good"))
    assert [(a.value, a.label) for a in found.questions[0].answers] == [(0, "bad"), (1, "good")]
    with pytest.raises(BadInput, match="does not name its classes"):
        read_design("labels").with_labels(())


FAULTS: list[tuple[dict[str, Any], str]] = [
    ({"judges": 0}, "judges is 0; it must be a whole number from 1 to 1,000"),
    ({"judges": True}, "judges is True; it must be a whole number"),
    ({"judges": None}, "judges is missing"),
    ({"items": "sentences"}, "items is 'sentences'; it must be one of pairs, words, fragments"),
    ({"questions": []}, "it has no questions"),
    ({"questions": "what?"}, "questions is 'what\\?'; it must be a list"),
    ({"questions": [{"name": "a", "statements": ["b"], "answers": ["c"]}]}, "at least two answers"),
    ({"questions": [{"name": "a", "statements": ["b"], "answers": ["c", "c"]}]}, "two answers have the label 'c'"),
    ({"questions": [{"name": "a", "statements": [], "answers": ["c", "d"]}]}, "the question a has no statements"),
    (
        {"questions": [{"name": "a", "statements": ["b", {"text": "no b", "negated": True}], "answers": ["c", "d"]}]},
        "must say whether high or low values agree",
    ),
    ({"valid": {"question": "same", "statistic": "mean"}}, "needs exactly one of at_most, at_least and below"),
    ({"valid": {"question": "other", "statistic": "mean", "below": 1}}, "valid.question is 'other'"),
    ({"valid": {"statistic": "consensus"}}, "consensus needs least_agreeing"),
    ({"valid": {"statistic": "share", "below": 0.5}}, "needs `answer` if its statistic is share"),
    ({"controls": [{"texts": ["a"], "expected": [1]}]}, "a control has 1 texts, and items of this design have 2"),
    ({"controls": [{"texts": ["a", "b"], "expected": [9]}]}, "a control expects \\[9\\]"),
    ({"training": {"items": 5}}, "training needs items with known labels"),
    ({"minutes": "ten"}, "minutes is 'ten'; it must be a number"),
    ({"colour": "red"}, "colour is unknown; known are about,"),
    ({"title": "  "}, "title is '  '; it must be a text that is not empty"),
]


@pytest.mark.parametrize(("change", "said"), FAULTS, ids=[said[:40] for _, said in FAULTS])
def test_a_fault_of_a_design_is_named(change: dict[str, Any], said: str) -> None:
    values = copy.deepcopy(yaml.safe_load(DESIGN)) | change
    with pytest.raises(BadInput, match=f"The design my.yaml: .*{said}"):
        design_of(yaml.safe_dump(values), "my.yaml")


def changed(name: str, **more: Any) -> dict[str, Any]:
    """A bundled design with other values."""
    return {**yaml.safe_load(read_design(name).to_yaml()), **more}


def share(answer: int, below: float) -> dict[str, Any]:
    return {"question": "origin", "statistic": "share", "answer": answer, "below": below}


MISFITS: list[tuple[dict[str, Any], str]] = [
    (changed("meaning", valid={"statistic": "mean", "at_most": 9}), "valid.at_most is 9, and an answer lies between 1"),
    (
        changed("meaning", valid={"statistic": "median", "at_least": 0}),
        "valid.at_least is 0, and an answer lies betwee",
    ),
    (changed("real-or-altered", valid=share(3, 0.5)), "valid.answer is 3, and the answers are 1, 2"),
    (changed("real-or-altered", valid=share(2, 50)), "valid.below is 50, and a share lies between 0 and 1"),
    (changed("meaning", valid={"statistic": "consensus", "least_agreeing": 3}), "which `items: pairs` have not"),
    (changed("labels", valid={"statistic": "consensus", "least_agreeing": 6}), "is 6, and each item has 5 judges"),
    (changed("labels", valid={"statistic": "consensus", "least_agreeing": 0}), "is 0, and each item has 5 judges"),
    (changed("labels", valid={"statistic": "mean", "at_least": 1}), "and label has none .its statistic is majori"),
    (changed("meaning", accuracy=50), "accuracy does nothing with `items: pairs`; it is for `items: labels`"),
    (changed("words", examples=2), "examples does nothing with `items: words`"),
    (changed("meaning", window=21), "window does nothing .* it is for `items: words` or `items: fragments`"),
    (changed("real-or-altered", shuffled=True), "shuffled does nothing with `items: texts`"),
    (changed("second-order", highlight="words"), "highlight does nothing with `items: versions`"),
]


@pytest.mark.parametrize(("values", "said"), MISFITS, ids=[said[:30] for _, said in MISFITS])
def test_a_rule_that_no_item_can_keep_and_a_setting_that_does_nothing(
    tmp_path: Path, values: dict[str, Any], said: str
) -> None:
    path = tmp_path / "my.yaml"
    path.write_text(yaml.safe_dump(values))
    with pytest.raises(BadInput, match=f"The design .*my.yaml: .*{said}"):
        read_design(path)


def test_fewer_judges_than_must_agree(tmp_path: Path) -> None:
    """`--judges` changes a design after it was read."""
    few = replace(read_design("labels").with_labels(("a", "b")), judges=3)
    with pytest.raises(BadInput, match="least_agreeing is 4, and each item has 3 judges"):
        Study.create(tmp_path / "study", few, [Item("a", "label", ("text",), expected=(0,))])
    assert not (tmp_path / "study").exists()


@pytest.mark.parametrize("text", ["[1, 2", "- a\n- b", "a: &x [*x]", "", "a: !!python/object:os.system x"])
def test_what_is_no_design_is_refused(text: str) -> None:
    with pytest.raises(BadInput):
        design_of(text, "my.yaml")


def test_a_design_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(DESIGN)
    assert read_design(path) == design()
    with pytest.raises(BadInput, match="neither a file nor one of fragments, labels"):
        read_design(tmp_path / "none.yaml")


GUIDE = Path(__file__).parents[2] / "docs" / "studies.md"


def test_the_guide_names_every_key_and_its_example_is_a_design() -> None:
    own = GUIDE.read_text("utf-8").partition("### Your own")[2].partition("## The pages")[0]
    found = design_of(own.partition("```yaml")[2].partition("```")[0], "docs")
    assert found.questions[0].agree == "high"
    parts = (Design, Question, Statement, Answer, Valid, Control, Training)
    keys = {one.name for part in parts for one in fields(part)} - {"text"}
    told = own.rpartition("```")[2]
    named = {word for code in re.findall(r"`([^`]+)`", told) for word in re.findall(r"\w+", code)}
    assert keys - named == set()
