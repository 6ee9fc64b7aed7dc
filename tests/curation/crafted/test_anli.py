"""ANLI as it is published."""

from __future__ import annotations

import csv
import gzip
import json
from collections import Counter
from pathlib import Path

import pytest

from mohs.curation.crafted.anli import anli
from mohs.curation.crafted.example import CraftedExample, Order
from mohs.errors import BadInput
from mohs.studies.reading import Fault

FOLDER = Path(__file__).parents[4] / "shared" / "assets" / "data" / "anli"


def read(folder: Path, rows: list[dict[str, object]], name: str = "r.jsonl", **more: object) -> list[CraftedExample]:
    (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    return list(anli(Order(str(folder / name), "nli", **more)))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "row",
    [
        {"uid": "u", "context": "It rains.", "hypothesis": "It is dry.", "label": "c"},
        {"uid": "u", "context": "It rains.", "statement": "It is dry.", "gold_label": "c", "adversary_pred": "e"},
        {"uid": "u", "premise": "It rains.", "hypothesis": "It is dry.", "label": 2},
        {"uid": "u", "premise": "It rains.", "hypothesis": "It is dry.", "label": "contradiction"},
    ],
    ids=["round", "annotated", "hub", "names"],
)
def test_the_forms_of_its_files(row: dict[str, object], tmp_path: Path) -> None:
    expected = CraftedExample("u", ("It rains.", "It is dry."), "contradiction", "anli: r.jsonl", "CC-BY-NC-4.0")
    assert read(tmp_path, [row]) == [expected]
    assert read(tmp_path, [row], licence="mine")[0].licence == "mine"


def test_all_numbers_of_the_hub(tmp_path: Path) -> None:
    rows = [{"premise": "P", "hypothesis": str(n), "label": n} for n in range(3)]
    assert [one.label for one in read(tmp_path, rows)] == ["entailment", "neutral", "contradiction"]


def test_a_folder_and_ids_that_come_again(tmp_path: Path) -> None:
    for name in ("a.jsonl", "b.jsonl"):
        read(tmp_path, [{"uid": "u", "context": name, "hypothesis": "h", "label": "e"}], name)
    read(tmp_path, [{"context": "c", "hypothesis": "h", "label": "e"}], "c.jsonl")
    found = list(anli(Order(str(tmp_path), "nli")))
    assert [one.fields[0] for one in found] == ["a.jsonl", "b.jsonl", "c"]
    assert [one.id for one in found] == ["u", "u-b.jsonl-1", "c.jsonl-1"]


def test_own_columns(tmp_path: Path) -> None:
    row: dict[str, object] = {"one": "P", "two": "H", "context": "other", "statement": "other", "label": "n"}
    assert read(tmp_path, [row], fields=("one", "two"))[0].fields == ("P", "H")
    with pytest.raises(Fault, match="fields names 1 columns; ANLI has a premise and a hypothesis"):
        read(tmp_path, [row], fields=("one",))


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"hypothesis": "h", "label": "e"}, "there is no column context or premise; the columns are hypothesis, label"),
        ({"context": "c", "label": "e"}, "there is no column statement or hypothesis; the columns are context, label;"),
        ({"context": "c", "hypothesis": 3, "label": "e"}, "the column 'hypothesis' holds 3, which is not a text"),
        ({"context": "c", "hypothesis": "h"}, "the label is None; ANLI has e, n and c, or 0, 1 and 2."),
        ({"context": "c", "hypothesis": "h", "label": "yes"}, "the label is 'yes'; ANLI has e, n and c"),
    ],
)
def test_wrong_rows(row: dict[str, object], message: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput) as refused:
        read(tmp_path, [row])
    assert str(refused.value).startswith(f"r.jsonl, row 1: {message}")


def test_what_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Fault, match="for tasks of the kind nli, not qnli"):
        list(anli(Order("any", "qnli")))
    with pytest.raises(Fault, match=r"options\.round is unknown"):
        list(anli(Order("any", "nli", options={"round": 1})))
    with pytest.raises(BadInput, match=r"There is no file .*none\.csv"):
        list(anli(Order(str(tmp_path / "none.csv"), "nli")))


@pytest.mark.skipif(not FOLDER.is_dir(), reason="needs ../shared/assets/data/anli")
@pytest.mark.parametrize(("number", "size"), [(1, 1000), (2, 1000), (3, 1198)])
def test_the_published_rounds(number: int, size: int) -> None:
    path = FOLDER / f"ANLI_analysis_r{number}_dev.csv.gz"
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    found = list(anli(Order(str(path), "nli")))
    assert [(*one.fields, one.label[0]) for one in found] == [
        (row["context"], row["statement"], row["gold_label"]) for row in rows
    ]
    assert len({one.id for one in found}) == len({one.fields for one in found}) == size
    assert min(Counter(one.label for one in found).values()) > size / 3 - 5
