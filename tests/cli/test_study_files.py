"""`mohs study import` and `mohs study export` as a user types them."""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path

from tests.cli.conftest import Mohs

TABLE = """original,perturbed,judge,rating,read
a film,a movie,w1,Agree,plain
a film,a movie,w2,Strongly Agree,plain
a dog,a cat,w1,Agree,negated
a dog,a cat,w2,Nonsense,plain
"""


def test_from_a_table_to_a_study_and_back(tmp_path: Path, mohs: Mohs) -> None:
    (tmp_path / "ratings.csv").write_text(TABLE)
    words = ("study", "import", "s", "ratings.csv", "--new", "meaning", "--column", "statement=read")
    refused = mohs(*words)
    assert refused.returncode == 2
    assert "row 4: the answer 'Nonsense' is none of Strongly Agree, Agree" in refused.stderr
    assert not (tmp_path / "s").exists()

    made = mohs(*words, "--skip-bad", "--judges", 2)
    assert made.returncode == 0, made.stderr
    assert "s: 2 items of meaning" in made.stdout
    assert "A table of judgements, 4 rows: 3 judgements by 2 judges imported." in made.stdout
    assert "1 left out: the answer 'Nonsense'" in made.stderr

    again = mohs("study", "import", "s", "ratings.csv", "--column", "statement=read", "--skip-bad", "--json")
    told = json.loads(again.stdout)
    assert (told["new"], told["there"], [one["where"] for one in told["left_out"]]) == (0, 3, ["row 4"])

    written = mohs("study", "export", "s", "--out", "all.csv")
    assert written.stdout == "all.csv written\n"
    with (tmp_path / "all.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["text_2"], row["annotator"], row["plain_value"]) for row in rows if row["text_1"] == "a dog"] == [
        ("a cat", "w1", "4")
    ], "who agrees that the meaning changed disagrees that it stayed"
    printed = mohs("study", "export", "s")
    assert [json.loads(line)["annotator"] for line in printed.stdout.splitlines()] == [row["annotator"] for row in rows]

    (tmp_path / "all.csv.gz").write_bytes(gzip.compress((tmp_path / "all.csv").read_bytes()))
    copied = mohs("study", "import", "copy", "all.csv.gz", "--new", "meaning")
    assert "An export of mohs, 3 rows: 3 judgements by 2 judges imported." in copied.stdout


def test_platforms_get_two_files(tmp_path: Path, mohs: Mohs) -> None:
    (tmp_path / "pairs.csv").write_text("original,perturbed\na film,a movie\n")
    assert mohs("study", "import", "s", "pairs.csv", "--new", "fragments").returncode == 0
    nowhere = mohs("study", "export", "s", "--format", "mturk")
    assert nowhere.stderr == "mohs: --format mturk writes files; say where with --out, as in --out batch.\n"
    turk = mohs("study", "export", "s", "--format", "mturk", "--out", "batch")
    assert turk.stdout == "batch.csv written\nbatch.html written\n"
    assert "ask for 5 judges a row" in turk.stderr
    studio = json.loads(mohs("study", "export", "s", "--format", "label-studio", "--out", "tasks", "--json").stdout)
    assert studio["files"] == ["tasks.json", "tasks.xml"]


def test_mistakes_are_one_sentence(tmp_path: Path, mohs: Mohs) -> None:
    (tmp_path / "t.csv").write_text(TABLE)
    for words, said in (
        (("import", "s", "t.csv"), "s holds no study; make one with `mohs study new s`."),
        (("import", "s", "t.csv", "--new", "none-such"), "none-such"),
        (("import", "s", "missing.csv", "--new", "meaning"), "There is no file missing.csv"),
        (("import", "s", "t.csv", "--kind", "person"), "Unknown kind 'person'; use imported, model, simulated."),
        (("import", "s", "t.csv", "--column", "answer"), "--column 'answer' is not NAME=NAME"),
        (("import", "s", "t.csv", "--judges", 3), "are for a new study; give its design with --new."),
        (("import", "s", "t.csv", "--new", "meaning", "--dry-run"), "cannot be tried with --dry-run"),
        (("import", "s", "t.pdf", "--new", "meaning"), "has no known ending; use .csv"),
        (("export", "s"), "s holds no study"),
        (("export", "s", "--format", "xml"), "'xml' is no format of a study; use csv, jsonl, mturk, label-studio."),
        (("export", "s", "--out", "t.xlsx"), "is no format; use .csv or .jsonl"),
    ):
        ended = mohs("study", *words)
        assert ended.returncode == 2, words
        assert said in ended.stderr
        assert ended.stderr.startswith("mohs: ")
        assert len(ended.stderr.splitlines()) == 1
    assert not (tmp_path / "s").exists()
