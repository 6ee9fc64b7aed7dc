"""Sets that people made, as items of a task."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import pytest

from mohs.curation.apportioned import apportioned
from mohs.curation.build import build
from mohs.curation.config import FORMATS, ROWS, Config
from mohs.curation.folder import open_benchmark
from mohs.curation.item import Item
from mohs.curation.merged import NOT_DRAWN
from mohs.curation.reading import config_from
from mohs.curation.sets import content_of, read_set
from mohs.curation.stage import StageFolder
from mohs.errors import BadInput
from tests.curation.toys import config, values, write_rows


def inference(folder: Path, labels: list[str], **crafted: Any) -> Config:
    """A task of inference with one set."""
    found = values(folder)
    task = {**found["tasks"]["reviews"], "kind": "nli", "labels": labels}
    return config_from({**found, "tasks": {"pairs": task}, "crafted": [{"task": "pairs", **crafted}]}, "toy")


ANLI = """context,statement,gold_label,uid
It rains.,It is wet.,e,1
It rains.,It is Monday.,n,2
It rains.,It is dry.,c,3
It rains.,It is dry.,c,4
"""


@pytest.mark.parametrize(
    ("labels", "numbers", "other"),
    [
        (["entailment", "neutral", "contradiction"], [0, 1, 2, 2], 0),
        (["contradiction", "entailment", "neutral"], [1, 2, 0, 0], 0),
        (["entailment", "not_entailment"], [0, 1, 1, 1], 0),
        (["contradiction", "entailment"], [1, 0, 0], 1),
    ],
)
def test_classes_are_found_by_their_names(labels: list[str], numbers: list[int], other: int, tmp_path: Path) -> None:
    (tmp_path / "anli.csv").write_text(ANLI)
    own = inference(tmp_path, labels, name="anli", file=str(tmp_path / "anli.csv"), format="anli")
    found = read_set(own, own.crafted[0], ["premise", "hypothesis"])
    assert [item.label for item in found.items] == numbers
    assert found.items[0].text == ("It rains.", "It is wet.")
    assert found.licence == "CC-BY-NC-4.0"
    assert found.other == other


def test_classes_can_be_named(tmp_path: Path) -> None:
    (tmp_path / "anli.csv").write_text(ANLI)
    more = {"name": "anli", "file": str(tmp_path / "anli.csv"), "format": "anli", "licence": "mine"}
    own = inference(tmp_path, ["follows", "else"], called={"entailment": "follows", "neutral": "else"}, **more)
    found = read_set(own, own.crafted[0], ["premise", "hypothesis"])
    assert ([item.label for item in found.items], found.other, found.licence) == ([0, 1], 2, "mine")
    own = inference(tmp_path, ["other", "else"], **more)
    with pytest.raises(BadInput, match=r"has no example of a class of pairs \(other, else\)"):
        read_set(own, own.crafted[0], ["premise", "hypothesis"])


def test_bundled_templates_need_no_file(tmp_path: Path) -> None:
    one = {"name": "checklist", "task": "reviews", "format": "checklist", "family": "checklist", "options": {"each": 3}}
    own = config(tmp_path, crafted=[one])
    found = read_set(own, own.crafted[0], ["sentence"])
    assert set(Counter(item.label for item in found.items)) == {0, 1}
    assert content_of(read_set(own, own.crafted[0], [])) == content_of(found)
    other = config(tmp_path, crafted=[one], seed=1)
    assert content_of(read_set(other, other.crafted[0], [])) != content_of(found)
    wrong = config(tmp_path, crafted=[{**one, "options": {"colour": 1}}])
    with pytest.raises(BadInput, match=r"The set checklist: .*colour is unknown"):
        read_set(wrong, wrong.crafted[0], [])


def test_a_benchmark_of_templates_alone(tmp_path: Path) -> None:
    """Without an attack there is no average, so all examples stay."""
    one = {"name": "checklist", "task": "reviews", "format": "checklist", "family": "checklist", "options": {"each": 2}}
    own = config(tmp_path, crafted=[one], attacks=[])
    build(own, tmp_path / "out")
    found = open_benchmark(tmp_path / "out")
    assert sum(found.tasks["reviews"]["counts"].values()) == len(read_set(own, own.crafted[0], ["sentence"]).items)
    about = (tmp_path / "out" / "README.md").read_text()
    assert "| checklist | bundled checklist | human | checklist | Apache-2.0 |" in about
    (method,) = found.about["methods"]
    assert (method["class"], method["attack"]) == ("human", "bundled checklist")


def test_items_say_where_they_come_from(tmp_path: Path) -> None:
    one = {"name": "checklist", "task": "reviews", "format": "checklist", "family": "checklist"}
    own = config(tmp_path, crafted=[one])
    first = read_set(own, own.crafted[0], ["sentence"]).items[0]
    assert (first.id, first.rule) == ("reviews/checklist/1.1.1/0", "checklist: temporal: used-to")
    assert Item.from_row(first.to_row()) == first


def test_ids_are_unique(tmp_path: Path) -> None:
    rows = [{"id": "a", "text": text, "label": 0} for text in ("A.", "B.")]
    one = {"name": "ours", "task": "reviews", "file": write_rows(tmp_path / "own.jsonl", rows)}
    own = config(tmp_path, crafted=[one])
    with pytest.raises(BadInput, match=r"own\.jsonl has the id a twice; make ids unique\.$"):
        read_set(own, own.crafted[0], ["sentence"])


def test_what_a_set_calls_its_classes_must_be_there(tmp_path: Path) -> None:
    (tmp_path / "anli.csv").write_text(ANLI)
    more = {"name": "anli", "file": str(tmp_path / "anli.csv"), "format": "anli"}
    own = inference(tmp_path, ["follows", "else"], called={"entailment": "follows", "netural": "else"}, **more)
    with pytest.raises(BadInput) as refused:
        read_set(own, own.crafted[0], [])
    assert str(refused.value) == (
        "crafted.anli.called names the class 'netural' of the set, which has contradiction, entailment, neutral; give "
        "one of these."
    )


def test_a_set_is_sampled_like_the_curated_texts_and_divided_at_random(tmp_path: Path) -> None:
    """As many texts as an attack has on average, with their shares of labels; 90 to 10 of these, whatever the seed."""
    one = {"name": "checklist", "task": "reviews", "format": "checklist", "family": "checklist"}
    own = config(tmp_path, crafted=[one], average="family", split=0.1)
    build(own, tmp_path / "out")
    stages = StageFolder(tmp_path / "out" / "stages")
    facts = stages.facts("merge")["reviews"]
    drawn = [item for item in stages.items("split") if item.method == "checklist"]
    assert len(drawn) == facts["each_set"] > 0
    assert Counter(item.label for item in drawn) == apportioned(len(drawn), dict(enumerate(facts["labels"])))
    assert sum(item.part == "dev" for item in drawn) == max(1, int(0.1 * len(drawn) + 0.5))
    assert {item.judged for item in drawn} == {"by definition"}
    left = [one for one in stages.dropped("merge") if one.item.method == "checklist"]
    assert {one.reason for one in left} == {NOT_DRAWN}
    assert len(left) + len(drawn) == len(read_set(own, own.crafted[0], []).items)


def test_a_set_of_one_label_gets_the_share_of_that_label(tmp_path: Path) -> None:
    rows = [{"text": f"Number {n} is not good at all.", "label": 0} for n in range(40)]
    one = {"name": "ours", "task": "reviews", "file": write_rows(tmp_path / "own.jsonl", rows)}
    own = config(tmp_path, crafted=[one])
    built = build(own, tmp_path / "out")
    facts = built.stages.facts("merge")["reviews"]
    wanted = apportioned(facts["each_set"], dict(enumerate(facts["labels"])))
    drawn = [item for item in built.stages.items("merge") if item.method == "ours"]
    assert 0 < len(drawn) == wanted[0] < facts["each_set"]
    found = open_benchmark(tmp_path / "out").about
    assert (
        f"ours gives {len(drawn)} of {facts['each_set']} texts to reviews: it has none of the class positive."
        in found["notes"]
    )
    hidden = build(replace(own, hide_test=True), tmp_path / "out")
    assert hidden.done["write"]
    assert "it has none of one class." in " ".join(open_benchmark(tmp_path / "out").about["notes"])
    about = (tmp_path / "out" / "README.md").read_text()
    assert "own.jsonl | human | ours | not stated |" in about


@pytest.mark.parametrize("name", [name for name in FORMATS if name != ROWS])
def test_every_format_has_a_reader(name: str) -> None:
    assert callable(resolve_name(f"mohs.curation.crafted.{name}:{name}"))
