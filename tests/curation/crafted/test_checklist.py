"""CheckList's templates: the bundled ones and a user's own."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from mohs.curation.config import KINDS
from mohs.curation.crafted.checklist import BUNDLED, checklist, suite_of
from mohs.curation.crafted.example import CraftedExample, Order
from mohs.errors import BadInput
from mohs.studies.reading import Fault

LABELS = {
    "sentiment": {"positive", "negative"},
    "paraphrase": {"duplicate", "different"},
    "qnli": {"entailment", "not_entailment"},
}
OWN = """
licence: CC0-1.0
slots:
  city: [Rome, Oslo]
tests:
  - {name: short, label: positive, texts: ["{city} is nice."]}
  - {name: long, capability: negation, label: negative, texts: ["{city} is not nice.", "Not {city}."]}
"""


def made(kind: str, **more: Any) -> list[CraftedExample]:
    return list(checklist(Order("", kind, **more)))


def own(folder: Path, text: str, **more: Any) -> list[CraftedExample]:
    path = folder / "own.yaml"
    path.write_text(text)
    return list(checklist(Order(str(path), "sentiment", **more)))


@pytest.mark.parametrize("kind", BUNDLED)
def test_bundled_templates(kind: str) -> None:
    """Whole texts of the kind's shape, both labels in both capabilities, each text once, and of one label."""
    found = made(kind, options={"each": 1_000_000})
    labels = {(one.method.split(": ")[1], one.label) for one in found}
    assert labels == {(what, label) for what in ("temporal", "negation") for label in LABELS[kind]}
    assert len({one.id for one in found}) == len(found)
    assert len({one.fields for one in found}) == len(found)
    for one in found:
        assert len(one.fields) == len(KINDS[kind])
        assert len(set(one.fields)) == len(one.fields)
        assert one.licence == "Apache-2.0"
        for text in one.fields:
            assert re.fullmatch(r"[A-Z][A-Za-z0-9 ,;:.'?-]*[.?]", text), text
            assert not re.search(r"  | [.,?]|\b(\w+) \1\b|\ba ([aeio]|hon)|\ban [^aeiouh]", text), text


@pytest.mark.parametrize("kind", BUNDLED)
def test_every_bundled_template_has_enough_ways(kind: str) -> None:
    counts = Counter(one.id.rpartition(".")[0] for one in made(kind, options={"each": 10}))
    assert len(counts) == sum(len(test.templates) for test in suite_of("", kind).tests)
    assert set(counts.values()) == {10}


def test_sentiment_is_the_opinion_that_is_held() -> None:
    """In every text an opinion word is left that says the label, or its contrary is negated."""
    slots = suite_of("", "sentiment").slots
    good, bad = {*slots["good"], *slots["like"], *slots["fair"]}, {*slots["bad"], *slots["hate"]}
    for one in made("sentiment", options={"each": 200}):
        (text,) = one.fields
        words = re.findall(r"\w+", text)
        if one.method.startswith("checklist: temporal"):
            now = re.split(r", although|, even though", text)[0] if re.search("although|though", text) else text
            last = [word for word in re.findall(r"\w+", now) if word in good | bad][-1]
            assert (last in good) == (one.label == "positive"), text
        elif one.label == "positive":
            assert good.intersection(words), text
            assert bad.intersection(words), text
            assert re.search(r"\b(not|nothing|No)\b", text), text
        else:
            assert not bad.intersection(words), text
            assert re.search(r"\b(not|Nothing)\b", text), text


ORDER = re.compile(r"Who became an? (\w+) (first|last), (\w+) or (\w+)\?")
TOLD = re.compile(r"(\w+) became an? (\w+) (before|after) (\w+) did\.")


def test_first_and_last_follow_from_before_and_after() -> None:
    """An answer is there if and only if the sentence is about the same job and the same two people."""
    found = [one for one in made("qnli", options={"tests": ["first-and-last"]}) if one.fields[0].startswith("Who")]
    assert len(found) == 300
    for one in found:
        asked, told = ORDER.fullmatch(one.fields[0]), TOLD.fullmatch(one.fields[1])
        assert asked is not None
        assert told is not None
        assert {asked[3], asked[4]} == {told[1], told[4]}
        assert (asked[1] == told[2]) == (one.label == "entailment"), one


def test_an_order_of_two_questions() -> None:
    found = [one for one in made("paraphrase", options={"capabilities": ["temporal"]}) if "Should I" in one.fields[0]]
    for one in found:
        first, second = one.fields
        earlier = re.match(r"Should I (\w+) my \w+ before (\w+)ing it\?", first)
        assert earlier is not None
        if one.label == "duplicate":
            then = re.match(r"Should I first (\w+) my \w+ and then (\w+) it\?", second)
            assert then is not None
            assert (then[1], then[2][:4]) == (earlier[1], earlier[2][:4])
        else:
            assert second == first.replace("before", "after")
    assert {one.label for one in found} == {"duplicate", "different"}


def test_options_choose() -> None:
    assert {one.method for one in made("qnli", options={"tests": ["not"]})} == {"checklist: negation: not"}
    assert len(made("qnli", options={"tests": ["not"], "each": 2})) == 14
    assert {one.method.split(": ")[1] for one in made("qnli", options={"capabilities": ["temporal"]})} == {"temporal"}
    assert made("qnli", options={"tests": ["not"], "capabilities": ["temporal"]}) == []


def test_the_seed_decides() -> None:
    assert made("sentiment", seed=1) == made("sentiment", seed=1)
    assert made("sentiment", seed=1) != made("sentiment", seed=2)


def test_own_templates(tmp_path: Path) -> None:
    found = own(tmp_path, OWN)
    assert [(one.id, one.fields, one.label, one.method, one.licence) for one in found[:3]] == [
        ("1.1.1", ("Rome is nice.",), "positive", "checklist: other: short", "CC0-1.0"),
        ("1.1.2", ("Oslo is nice.",), "positive", "checklist: other: short", "CC0-1.0"),
        ("2.1.1", ("Rome is not nice.",), "negative", "checklist: negation: long", "CC0-1.0"),
    ]
    assert len(found) == 6
    assert own(tmp_path, OWN, licence="mine")[0].licence == "mine"


def test_the_templates_in_the_documentation(tmp_path: Path) -> None:
    page = (Path(__file__).parents[3] / "docs" / "benchmark.md").read_text("utf-8")
    (text,) = [block for block in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL) if "slots:" in block]
    assert [one.fields for one in own(tmp_path, text)][2:] == [
        ("I called Rome clean, but it is dirty.",),
        ("I called Rome safe, but it is dangerous.",),
        ("I called Oslo clean, but it is dirty.",),
        ("I called Oslo safe, but it is dangerous.",),
        ("Is it Rome?", "Is it Oslo?"),
        ("Is it Oslo?", "Is it Rome?"),
    ]


TEST = "tests: [{name: a, label: b, texts: [%s]}]"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tests: [", "own.yaml is not YAML ("),
        ("- a", "it must have `name: value` lines"),
        ("slots: {a: [b]}", "own.yaml have no tests; give a list with name, label and texts"),
        ("tests: [{label: b, texts: [c]}]", "tests[1].name is missing"),
        ("tests: [{name: a, texts: [c]}]", "tests[1].label is missing"),
        ("tests: [{name: a, label: b}]", "the test a needs texts: a list of templates, or of lists"),
        ("tests: [{name: a, label: b, texts: [3]}]", "the test a needs texts"),
        ("tests: [{name: a, label: b, texts: c, colour: d}]", "the test a needs texts"),
        ("tests: [{name: a, label: b, texts: [c], colour: d}]", "tests[1].colour is unknown"),
        ("colour: d\n" + TEST % "c", "colour is unknown"),
        ("slots: [a]\n" + TEST % "c", "slots must be lists of values by name"),
        ("slots: {a: b}\n" + TEST % "c", "the slot a must be a list of values"),
        ("slots: {a: [no]}\n" + TEST % "c", "the slot a has False; each value is a text in quotation marks"),
        ("slots: {a: [b, b]}\n" + TEST % "c", "the slot a has a value twice"),
        (TEST % "'{x}'", "own.yaml: the template '{x}' has the unknown slot 'x'; there are none"),
    ],
)
def test_templates_that_are_refused(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=re.escape(message)) as refused:
        own(tmp_path, text)
    assert str(refused.value).endswith(".")
    assert "\n" not in str(refused.value)


def test_orders_that_are_refused(tmp_path: Path) -> None:
    with pytest.raises(Fault, match="there are bundled templates for sentiment, paraphrase, qnli, not for nli; name a"):
        made("nli")
    with pytest.raises(BadInput, match=r"There is no file .*none\.yaml; correct its name\."):
        list(checklist(Order(str(tmp_path / "none.yaml"), "sentiment")))
    with pytest.raises(BadInput, match="There is no capability 'robustness' among the templates; there are negation,"):
        made("qnli", options={"capabilities": ["robustness"]})
    with pytest.raises(BadInput, match="There is no test 'nots' among the templates; there are change-of-job, first"):
        made("qnli", options={"tests": ["nots"]})
    with pytest.raises(Fault, match=r"options\.each is 0; it must be a whole number from 1"):
        made("qnli", options={"each": 0})
    with pytest.raises(Fault, match=r"options\.tests is 'not'; it must be a list of texts"):
        made("qnli", options={"tests": "not"})
    with pytest.raises(Fault, match=r"options\.colour is unknown; known are capabilities, each, tests"):
        made("qnli", options={"colour": 1})
