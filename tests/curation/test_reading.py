"""Configurations: what is read, and what is refused in which words."""

from __future__ import annotations

import datetime
import re
from dataclasses import fields
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
import yaml

from mohs.curation import config as c
from mohs.curation import suite
from mohs.curation.build import build
from mohs.curation.config import Limits
from mohs.curation.reading import config_from, config_of, read_config
from mohs.curation.sets import read_set
from mohs.errors import BadInput
from tests.curation.toys import config, values, write_rows


def changed(tmp_path: Path, path: str, value: Any) -> dict[str, Any]:
    """The toy configuration with another value at a.b.c; `None` takes the key out."""
    found = values(tmp_path)
    *places, last = path.split(".")
    part: Any = found
    for place in places:
        part = part[int(place)] if isinstance(part, list) else part.setdefault(place, {})
    key: Any = int(last) if isinstance(part, list) else last
    if value is None:
        del part[key]
    else:
        part[key] = value
    return found


def test_what_is_read(tmp_path: Path) -> None:
    found = config(tmp_path, published=datetime.date(2026, 1, 31), limits={"budget": 100})
    (task,) = found.tasks
    assert task.names == ("sentence",)
    assert task.metrics == ("accuracy",)
    assert task.group == "reviews"
    assert list(task.surrogates) == ["first", "second", "third"]
    assert [(one.name, one.of_class, one.by_definition) for one in found.attacks] == [
        ("textfooler", "word", False),
        ("pruthi", "word", False),
        ("random", "sentence", False),
        ("distraction", "sentence", True),
    ]
    assert found.published == "2026-01-31"
    assert found.limits == Limits(budget=100)
    assert [one.name for one in found.sets(task)] == ["ours"]


def test_the_example_is_a_configuration_that_names_every_setting() -> None:
    text = (files("mohs.curation") / "example.yaml").read_text("utf-8")
    suite.check(config_of(text, "example"))
    parts = (c.Config, c.Task, c.AttackOn, c.Crafted, c.Filters, c.Judging, c.Limits)
    names = {"of_class": "class"}
    settings = {names.get(f.name, f.name) for part in parts for f in fields(part)}
    assert [name for name in sorted(settings) if not re.search(rf"\b{name}: ?", text)] == []


def test_the_surrogates_of_an_attack_as_they_stand_in_a_file(tmp_path: Path) -> None:
    given = yaml.safe_dump(values(tmp_path))
    place = given.index("- attack: textfooler") + 2
    found = config_of(f"{given[:place]}on: [second]\n  {given[place:]}", "toy.yaml")
    assert found.attacks[0].on == ("second",)


ANLI = {"name": "anli", "task": "reviews", "file": "anli.csv", "format": "anli"}


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("name", None, "name is missing"),
        ("name", "a/b", "name has the name 'a/b'; use letters, digits, dots, dashes and underscores"),
        ("tasks", {}, "it has no tasks; give at least one under `tasks`"),
        ("tasks.reviews.kind", "topic", "tasks.reviews.kind is 'topic'; it must be one of sentiment, nli, paraphrase"),
        ("tasks.reviews.surrogates", {}, "tasks.reviews has no surrogates; give victims by name"),
        ("tasks.reviews.labels", ["one"], "tasks.reviews.labels names 1 classes; give all in the surrogates' order"),
        ("tasks.reviews.labels", [False, True], "tasks.reviews.labels is [False, True]; it must be a list of texts"),
        ("tasks.reviews.fields", ["a", "b"], "tasks.reviews has 2 fields, and the kind sentiment has 1 (sentence)"),
        ("tasks.reviews.names", ["label"], "tasks.reviews.names has 'label', which rows of a benchmark use otherwise"),
        ("tasks.reviews.metrics", ["recall"], "tasks.reviews.metrics has 'recall'; there are accuracy, f1"),
        ("tasks.reviews.only", ["bae"], "tasks.reviews names the attack 'bae'; there are textfooler, pruthi, random"),
        ("tasks.reviews.colour", 1, "tasks.reviews.colour is unknown; known are "),
        ("attacks.0.class", "human", "attacks[1].class is 'human'; it must be one of word, sentence"),
        ("attacks.0.family", "anli", "attacks[1].family is 'anli'; it must be one of embedding, typo, context"),
        ("attacks.1", {"attack": "textfooler", "class": "word", "family": "typo"}, "'textfooler' is there twice"),
        ("attacks.0.on", ["fourth"], "attacks.textfooler.on names none of the surrogates of reviews, which are first"),
        ("attacks.0.on", ["first", "fourth"], "attacks.textfooler.on names the surrogate 'fourth'; there are first, s"),
        ("judging.training", {"rte": "a.jsonl"}, "judging.training names the task 'rte'; there are reviews"),
        ("crafted.0.task", "rte", "crafted names the task 'rte'; there are reviews"),
        ("crafted.0.format", "xml", "crafted[1].format is 'xml'; it must be one of rows, anli, advsquad, addsent"),
        ("crafted.0.options", {"each": 3}, "crafted.ours has options, which the format rows does not read; leave it o"),
        ("crafted.0.called", {"a": "b"}, "crafted.ours has called, which the format rows does not read; leave it out"),
        ("crafted.0", {**ANLI, "id_field": "n"}, "crafted.anli has id_field, which the format anli does not read"),
        ("crafted.0", {**ANLI, "format": "addsent", "fields": ["a"]}, "crafted.anli has fields, which the format adds"),
        (
            "crafted.0",
            {**ANLI, "called": {"neutral": "fine"}},
            "names the class 'fine' of reviews, which has negative,",
        ),
        ("crafted.0.file", None, "crafted.ours has no file, which the format rows needs; name it under file"),
        ("filters.word_change", 15, "filters.word_change is 15; it must be a number from 0 to 1"),
        ("filters.similarity", "use", "filters.similarity is 'use'; it must be one of encoder, bertscore"),
        ("judging.by", "me", "judging.by is 'me'; it must be one of none, simulated, study, judgements"),
        ("judging.agreeing", 6, "judging.agreeing is 6, and a text has 5 judges; ask for fewer"),
        ("judging.pool", 3, "judging.pool is 3, and a text needs 5 judges; make it larger"),
        ("judging", {"by": "judgements"}, "judging.files has no file for reviews; give one for each task"),
        ("limits", {"budget": 0}, "limits.budget is 0; it must be at least 1"),
        ("published", "soon", "published is 'soon'; write a day such as 2026-01-31"),
        ("split", 1.5, "split is 1.5; it must be a number from 0 to 0.9"),
    ],
)
def test_what_is_refused(path: str, value: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput) as refused:
        config_from(changed(tmp_path, path, value), "toy.yaml")
    said = str(refused.value)
    assert said.startswith("The benchmark toy.yaml: ")
    assert message in said
    assert said.endswith(".")
    assert "\n" not in said


@pytest.mark.parametrize(
    ("attack", "message"),
    [
        ({"attack": "nothing"}, "Unknown attack 'nothing'"),
        ({"attack": "standard"}, "standard is a battery of attacks, which a benchmark counts apart; name its members"),
        ({"attack": "input-reduction"}, "input-reduction keeps the prediction, so it fools no surrogate; leave it out"),
        ({"attack": "bae", "options": {"colour": 1}}, "The attack bae has the unknown option 'colour'; known are "),
        ({"attack": "bae", "options": {"goal": "below:0.5"}}, "The attack bae has the unknown option 'goal'"),
    ],
)
def test_attacks_that_no_benchmark_can_have(attack: dict[str, Any], message: str, tmp_path: Path) -> None:
    own = config(tmp_path, attacks=[{**attack, "class": "word", "family": "typo"}])
    with pytest.raises(BadInput) as refused:
        suite.check(own)
    assert message in str(refused.value)


def test_a_distraction_is_not_for_paraphrases(tmp_path: Path) -> None:
    found = values(tmp_path)
    task = {**found["tasks"]["reviews"], "kind": "paraphrase", "labels": ["different", "duplicate"]}
    found |= {"tasks": {"qqp": task}, "crafted": []}
    with pytest.raises(
        BadInput, match=r"distraction may change the label of paraphrase tasks such as qqp; name it under"
    ):
        suite.check(config_from(found, "toy"))
    found["tasks"]["qqp"]["without"] = ["distraction"]
    suite.check(config_from(found, "toy"))
    del found["tasks"]["qqp"]["without"]
    found["attacks"][3]["by_definition"] = False
    suite.check(config_from(found, "toy"))


@pytest.mark.parametrize(
    ("last", "message"),
    [
        ({"attack": "paraphrase", "class": "sentence", "family": "syntactic"}, "This needs a paraphraser, and none is"),
        (
            {"attack": "bert-attack", "class": "word", "family": "context", "options": {"masked_lm": "hf:/nowhere"}},
            "There is no folder /nowhere",
        ),
    ],
)
def test_a_model_that_is_not_there_is_refused_before_anything_is_attacked(
    last: dict[str, Any], message: str, tmp_path: Path
) -> None:
    found = values(tmp_path)
    found["attacks"].append(last)
    with pytest.raises(BadInput, match=message):
        build(config_from(found, "toy"), tmp_path / "out")
    assert not (tmp_path / "out" / "runs").exists()


def test_a_surrogate_with_turned_classes_is_refused(tmp_path: Path) -> None:
    found = values(tmp_path)
    found["tasks"]["reviews"] |= {"surrogates": {"bundled": "pocket"}, "labels": ["positive", "negative"]}
    with pytest.raises(BadInput, match="The surrogate bundled of reviews orders its classes negative, positive"):
        suite.carry_out(config_from(found, "toy"), tmp_path / "out", suite.How())


def test_files_that_are_no_configuration(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"There is no file .*none\.yaml; write one with `mohs benchmark new"):
        read_config(tmp_path / "none.yaml")
    (tmp_path / "bad.yaml").write_text("a: [")
    with pytest.raises(BadInput, match=r"bad\.yaml is not YAML"):
        read_config(tmp_path / "bad.yaml")
    (tmp_path / "list.yaml").write_text("- a\n")
    with pytest.raises(BadInput, match="it must have `name: value` lines"):
        read_config(tmp_path / "list.yaml")
    (tmp_path / "good.yaml").write_text(yaml.safe_dump(values(tmp_path)))
    assert read_config(tmp_path / "good.yaml") == config(tmp_path)


def test_sets_are_checked_before_anything_is_attacked(tmp_path: Path) -> None:
    own = config(tmp_path)
    (one,) = own.crafted
    assert len(read_set(own, one, ["sentence"]).items) == 30
    twice = write_rows(tmp_path / "twice.jsonl", [{"text": text, "label": 0} for text in ("A.", "B.", "A.")])
    own = config(tmp_path, crafted=[{"name": "twice", "task": "reviews", "file": twice}])
    assert [one.text for one in read_set(own, own.crafted[0], ["sentence"]).items] == [("A.",), ("B.",), ("A.",)]
    pairs = write_rows(tmp_path / "pairs.jsonl", [{"premise": "A.", "hypothesis": "B.", "label": 0}])
    wrong = config(tmp_path, crafted=[{"name": "pairs", "task": "reviews", "file": pairs}])
    with pytest.raises(BadInput, match=r"has 2 texts an example, and the task reviews has 1 \(sentence\)"):
        read_set(wrong, wrong.crafted[0], ["sentence"])
    high = write_rows(tmp_path / "high.jsonl", [{"text": "A.", "label": 2}])
    wrong = config(tmp_path, crafted=[{"name": "high", "task": "reviews", "file": high}])
    with pytest.raises(BadInput, match="label 2 is not a class"):
        read_set(wrong, wrong.crafted[0], ["sentence"])
