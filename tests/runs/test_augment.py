"""`mohs augment`: more texts from a space or a run, in one file that is whole or not there."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import mohs
from mohs.errors import BadInput, MohsError
from mohs.runs.augment import augment
from mohs.space import parse_source
from mohs.text import Example, Text
from mohs.text.dataset import Dataset
from tests.toys import WordCount


@pytest.fixture
def thesaurus(tmp_path: Path) -> str:
    path = tmp_path / "words.tsv"
    path.write_text("good\tfine\ngood\tgreat\nfilm\tmovie\n", "utf-8")
    return f"thesaurus:{path}"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "data.jsonl"
    rows = [{"id": f"r{n}", "text": "a good film", "label": n % 2} for n in range(3)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_every_copy_is_drawn_uniformly_from_the_space(tmp_path: Path, data: Path, thesaurus: str) -> None:
    out = tmp_path / "more.jsonl"
    done = augment(str(data), out, source=thesaurus, edits=2, copies=1000, seed=4)
    rows = rows_of(out)
    new = [row for row in rows if row["origin"] != "original"]
    assert (done.rows, done.originals, done.new, done.without) == (3003, 3, 3000, 0)
    assert [row["text"] for row in rows if row["origin"] == "original"] == ["a good film"] * 3
    seen = Counter(row["text"] for row in new)
    space = {"fine film", "great film", "good movie", "fine movie", "great movie"}
    assert {text.removeprefix("a ") for text in seen} == space
    assert all(abs(count - 600) < 4 * (3000 * 0.2 * 0.8) ** 0.5 for count in seen.values())
    assert {(row["from"], row["label"], row["origin"]) for row in new} == {
        (f"r{n}", n % 2, thesaurus) for n in range(3)
    }
    assert len({row["id"] for row in rows}) == len(rows)
    assert [example.label for example in Dataset(str(out))] == [row["label"] for row in rows]


def test_at_most_so_many_words_change(tmp_path: Path, data: Path, thesaurus: str) -> None:
    for options in ({"edits": 1}, {"rate": 0.5}):
        augment(str(data), tmp_path / "one.jsonl", source=thesaurus, only_new=True, copies=50, **options)
        texts = {row["text"] for row in rows_of(tmp_path / "one.jsonl")}
        assert texts == {"a fine film", "a great film", "a good movie"}


def test_the_seed_decides(tmp_path: Path, data: Path) -> None:
    def made(name: str, **options: Any) -> bytes:
        augment(str(data), tmp_path / name, copies=5, **options)
        return (tmp_path / name).read_bytes()

    assert made("a.jsonl") == made("b.jsonl") != made("c.jsonl", seed=1)


def test_a_row_does_not_depend_on_the_others(tmp_path: Path) -> None:
    augment("pocket", tmp_path / "few.jsonl", n=3)
    augment("pocket", tmp_path / "many.jsonl", n=30)
    assert rows_of(tmp_path / "many.jsonl")[:6] == rows_of(tmp_path / "few.jsonl")


def test_csv_keeps_names_of_columns_and_classes(tmp_path: Path, thesaurus: str) -> None:
    (tmp_path / "d.csv").write_text('review,stars\n"a good, ""nice"" film",bad\na film,good\n', "utf-8")
    named: dict[str, Any] = {"fields": ("review",), "label_field": "stars", "labels": ("bad", "good")}
    augment(str(tmp_path / "d.csv"), tmp_path / "m.csv", source=thesaurus, **named)
    with (tmp_path / "m.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["stars"] for row in rows] == ["bad", "bad", "good", "good"]
    assert rows[3] == {"id": "1+1", "review": "a movie", "stars": "good", "origin": thesaurus, "from": "1"}
    assert len(list(Dataset(str(tmp_path / "m.csv"), **named))) == 4


def test_copies_obey_constraints_on_texts(tmp_path: Path, data: Path, thesaurus: str) -> None:
    done = augment(
        str(data), tmp_path / "m.jsonl", source=thesaurus, edits=2, copies=40, constraints=["words-changed<=1"]
    )
    assert done.new
    for row in rows_of(tmp_path / "m.jsonl"):
        assert len(Text("a good film").edits(Text(row["text"]))) <= 1
    none = augment(str(data), tmp_path / "m.jsonl", source=thesaurus, copies=2, constraints=["words-changed<=0"])
    assert (none.new, none.without) == (0, 6)


def test_the_adversarial_texts_of_a_run(tmp_path: Path) -> None:
    victim = WordCount({"good": 2.0, "fine": -1.0, "film": 0.0, "great": 3.0})
    examples = [Example.of("a good film", 1, id="x"), Example.of("a great film", 1, id="y")]
    method = mohs.RandomWords(source=parse_source(f"thesaurus:{_words(tmp_path)}"), constraints=())
    run = mohs.attack(victim, examples, method, out=tmp_path / "run")
    hits = [record for record in run.records() if record.outcome == "success"]
    assert [record.example_id for record in hits] == ["x"]
    run.close()
    done = augment(None, tmp_path / "m.jsonl", run=tmp_path / "run")
    assert (done.originals, done.new) == (2, 1)
    last = rows_of(tmp_path / "m.jsonl")[-1]
    assert (last["text"], last["label"], last["from"]) == ("a fine film", 1, "x")
    assert last["origin"] == hits[0].attack
    assert augment(None, tmp_path / "m.jsonl", run=tmp_path / "run", only_new=True).rows == 1
    assert augment("pocket", tmp_path / "m.jsonl", run=tmp_path / "run", n=5).rows == 6


def _words(tmp_path: Path) -> Path:
    (tmp_path / "w.tsv").write_text("good\tfine\n", "utf-8")
    return tmp_path / "w.tsv"


def test_nothing_half_written_is_left(tmp_path: Path, data: Path) -> None:
    out = tmp_path / "more.jsonl"
    out.write_text("old\n", "utf-8")

    def stop(record: Any, finished: int, total: int) -> None:
        if finished:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        augment(str(data), out, progress=stop)
    assert out.read_text("utf-8") == "old\n"
    (tmp_path / "more.jsonl.part").write_text("left by a kill", "utf-8")
    augment(str(data), out)
    assert len(rows_of(out)) == 6
    assert not (tmp_path / "more.jsonl.part").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "No file to write is named"),
        ({"out": "more.txt"}, "more.txt ends neither in .jsonl nor in .csv"),
        ({"out": "m.csv", "edits": 1, "rate": 0.1}, "--edits and --rate both say how much changes"),
        ({"out": "m.csv", "rate": 1.5}, "--rate is 1.5; it must be a share"),
        ({"out": "m.csv", "edits": 0}, "edits is 0; it must be at least 1"),
        ({"out": "m.csv", "run": "x", "copies": 2}, "--copies is about drawing from a space"),
        ({"out": "m.csv", "source": "magic"}, "magic"),
        ({"out": "m.csv", "run": "nowhere"}, "nowhere"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    places = {name: tmp_path / options[name] for name in ("out", "run") if name in options}
    with pytest.raises(MohsError) as error:
        augment("pocket", n=3, **options | places)
    assert message in str(error.value)
    assert not list(tmp_path.iterdir())


def test_the_data_itself_is_not_replaced(data: Path) -> None:
    with pytest.raises(BadInput, match="is the data itself"):
        augment(str(data), data)


def test_a_column_of_the_data_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "d.jsonl").write_text('{"origin": "a good film", "label": 1}\n', "utf-8")
    with pytest.raises(BadInput, match="'origin', which says where a row comes from"):
        augment(str(tmp_path / "d.jsonl"), tmp_path / "m.jsonl", fields=("origin",))
