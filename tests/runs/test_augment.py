"""`mohs augment`: more texts from a space or a run, in one file that is whole or not there."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import mohs
from mohs.errors import BadInput, MohsError
from mohs.runs import augment as made_by
from mohs.runs.augment import augment
from mohs.space import word_source
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
    method = mohs.RandomWords(source=word_source(f"thesaurus:{_words(tmp_path)}"), constraints=())
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
        (
            {"out": "more.txt"},
            "more.txt has no known ending; use .jsonl, .ndjson, .csv, .tsv, .parquet, all but the last also",
        ),
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


def rows_in(tmp_path: Path, rows: list[dict[str, Any]]) -> str:
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return str(path)


@pytest.mark.parametrize("name", ["m.jsonl", "m.csv.gz", "m.tsv", "m.parquet"])
def test_other_columns_labels_and_pairs_are_kept(tmp_path: Path, thesaurus: str, name: str) -> None:
    data = rows_in(
        tmp_path,
        [
            {"uid": "a", "premise": "a good film", "hypothesis": "the film is good", "label": "yes", "year": 1999},
            {"uid": "b", "premise": "so", "hypothesis": "a good one", "label": "no", "year": 2001},
        ],
    )
    named: dict[str, Any] = {"id_field": "uid", "labels": ("no", "yes")}
    augment(data, tmp_path / name, source=thesaurus, copies=2, edits=1, **named)
    found = list(Dataset(str(tmp_path / name), **named).with_rows())
    assert [example.label for example, _ in found] == [1, 1, 1, 0, 0, 0]
    assert [row["label"] for _, row in found] == ["yes"] * 3 + ["no"] * 3
    assert [str(row["year"]) for _, row in found] == ["1999"] * 3 + ["2001"] * 3
    assert {example.text.fields[0] for example, _ in found} == {"a good film", "so"}  # premises stay
    assert all(example.text.fields[1] != "the film is good" for example, _ in found[1:3])


def test_the_order_of_rows_changes_nothing(tmp_path: Path) -> None:
    rows = [{"id": f"r{n}", "text": text, "label": 1} for n, text in enumerate(["a good film", "a bad day", "so fine"])]
    augment(rows_in(tmp_path, rows), tmp_path / "one.jsonl", copies=3)
    one = rows_of(tmp_path / "one.jsonl")
    augment(rows_in(tmp_path, rows[::-1]), tmp_path / "other.jsonl", copies=3)
    other = rows_of(tmp_path / "other.jsonl")
    assert one != other
    assert sorted(one, key=repr) == sorted(other, key=repr)


def test_augmenting_twice_keeps_ids_unique(tmp_path: Path, data: Path, thesaurus: str) -> None:
    augment(str(data), tmp_path / "one.jsonl", source=thesaurus, copies=2)
    augment(str(tmp_path / "one.jsonl"), tmp_path / "two.jsonl", source=thesaurus, copies=2)
    rows = rows_of(tmp_path / "two.jsonl")
    assert len(rows) == 27
    assert len({row["id"] for row in rows}) == 27
    assert rows[0]["origin"] == "original"
    assert [row["from"] for row in rows if row["id"] == "r0+1"] == ["r0"]  # a copy stays a copy of its original
    assert {"r0+1.2", "r0+1+1"} <= {row["id"] for row in rows}


def test_the_note_says_how_it_was_made(tmp_path: Path, data: Path, thesaurus: str) -> None:
    done = augment(str(data), tmp_path / "m.jsonl", source=thesaurus, copies=2, seed=3, n=2)
    note = json.loads(done.about.read_text("utf-8"))
    assert done.about == tmp_path / "m.jsonl.about.json"
    assert note["made by"] == f"mohs augment {mohs.__version__}"
    assert note["options"] == {"data": str(data), "source": thesaurus, "copies": 2, "seed": 3, "n": 2}
    assert note["figures"] == {"rows": 6, "originals": 2, "new": 4, "without": 0}
    assert note["sources"]["data"] == Dataset(str(data), n=2).survey()[2]
    assert note["sha256"] == hashlib.sha256((tmp_path / "m.jsonl").read_bytes()).hexdigest()
    first = done.about.read_bytes()
    augment(str(data), tmp_path / "m.jsonl", source=thesaurus, copies=2, seed=3, n=2)
    assert done.about.read_bytes() == first


def test_data_are_read_as_a_stream(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 300 rows no more are in memory at once than a few chunks have, however many copies are made."""
    monkeypatch.setattr(made_by, "_CHUNK", 20)
    file = tmp_path / "many.csv"
    file.write_text("text,label\n" + "a good film,1\n" * 300, "utf-8")
    alive: list[int] = [0, 0]

    class Counted(Text):
        __slots__ = ("__weakref__",)

        def __init__(self, *fields: str) -> None:
            super().__init__(*fields)
            alive[0] += 1
            alive[1] = max(alive)

        def __del__(self) -> None:
            alive[0] -= 1

    monkeypatch.setattr("mohs.text.dataset.Text", Counted)
    done = augment(str(file), tmp_path / "m.jsonl", copies=3)
    assert done.rows == 1200
    assert 20 <= alive[1] <= 200


def test_a_kill_leaves_no_half_file_and_the_same_command_repeats(tmp_path: Path, data: Path) -> None:
    code = """
import os, signal, sys, mohs
def stop(record, done, total):
    if done: os.kill(os.getpid(), signal.SIGKILL)
mohs.augment(sys.argv[1], sys.argv[2], progress=stop)
"""
    out = tmp_path / "more.jsonl"
    ended = subprocess.run([sys.executable, "-c", code, str(data), str(out)], env=os.environ, check=False)
    assert ended.returncode == -signal.SIGKILL
    assert not out.exists()
    augment(str(data), out)
    augment(str(data), tmp_path / "whole.jsonl")
    assert out.read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    assert not (tmp_path / "more.jsonl.part").exists()


def test_copies_that_people_would_accept(tmp_path: Path, data: Path) -> None:
    class Strict:
        """A checker that finds an error in every text but the original, so no copy passes."""

        name, fingerprint, in_flight = "strict", "strict-1", 1

        def plan(self, items: list[str]) -> list[list[str]]:
            return [items]

        def launch(self, batch: list[str]) -> list[str]:
            return batch

        def collect(self, ticket: list[str]) -> list[tuple[str, ...]]:
            return [() if text == "a good film" else ("odd",) for text in ticket]

    taken = augment(str(data), tmp_path / "m.jsonl", fair=True, grammar=Strict())
    assert (taken.originals, taken.new, taken.without) == (3, 0, 3)
    assert "grammar" in json.loads(taken.about.read_text("utf-8"))["sources"]


def test_a_run_over_other_data_is_noticed(tmp_path: Path) -> None:
    victim = WordCount({"good": 2.0, "fine": -1.0})
    method = mohs.RandomWords(source=word_source(f"thesaurus:{_words(tmp_path)}"), constraints=())
    rows = [Example.of("a good film", 1, id="0"), Example.of("good stuff", 1, id="1")]
    mohs.attack(victim, rows, method, out=tmp_path / "run").close()
    data = rows_in(tmp_path, [{"text": "a good film", "label": "p"}, {"text": "what", "label": "n"}])
    named: dict[str, Any] = {"labels": ("n", "p"), "run": tmp_path / "run"}
    done = augment(data, tmp_path / "m.jsonl", **named)
    assert (done.originals, done.new) == (2, 2)
    assert done.notes == (
        "1 of the texts that the run fooled are not in the data: it attacked other data, perhaps those for testing.",
    )
    assert [row["label"] for row in rows_of(tmp_path / "m.jsonl")] == ["p", "n", "p", "p"]  # as the data write it


@pytest.mark.parametrize(("option", "name"), [("source", "the source"), ("stopwords", "the list of stopwords")])
def test_no_file_that_is_read_is_replaced(tmp_path: Path, data: Path, option: str, name: str) -> None:
    words = tmp_path / "words.tsv"
    words.write_text("good\tfine\n", "utf-8")
    given: dict[str, Any] = {option: f"thesaurus:{words}" if option == "source" else str(words)}
    with pytest.raises(BadInput, match=f"words.tsv is {name} itself; name another file"):
        augment(str(data), words, **given)
    assert words.read_text("utf-8") == "good\tfine\n"


def test_an_option_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="augment has no option 'copy'"):
        augment("pocket", tmp_path / "m.jsonl", copy=2)
