"""Studies made of a table alone, with answers and without."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mohs.errors import BadInput
from mohs.studies.design import Design, read_design
from mohs.studies.exporting import export, rows
from mohs.studies.forms import Given
from mohs.studies.importing import imported, study_of
from mohs.studies.item import Judgement, Kind, Role, State
from mohs.studies.study import Study
from tests.studies.files import judged, table
from tests.studies.toys import controls, design, items


@pytest.mark.parametrize("format", ["csv", "jsonl"])
def test_a_study_of_an_export_is_the_study_again(tmp_path: Path, format: str) -> None:
    of = [*items(4, note="=1+1"), *controls(design())]
    with Study.create(tmp_path / "first", design(), of) as first:
        first.add([Judgement(item.key, "ada", 1 + n % 3, n % 2, n == 3) for n, item in enumerate(of)], Kind.PERSON)
        (path,) = export(first, tmp_path / f"all.{format}")
        study, _ = study_of(tmp_path / "second", path, design())
        with study:
            assert study.design == first.design
            first_rows, second_rows = ({row["item"]: row for row in rows(one)} for one in (first, study))
            assert first_rows.keys() == second_rows.keys()
            for key, row in first_rows.items():
                kept = {name: value for name, value in row.items() if value is not None}
                assert second_rows[key] | kept | {"state": str(State.FINISHED)} == second_rows[key]


CELLS = ("=CMD|' /C calc'!A0", "+1", "-1", "@x", "'=1", "''=1", "'", "\t=1", "\r=2", "tail'", "=\u00e9")


def test_formulas_are_defused_in_the_file_and_come_back(tmp_path: Path) -> None:
    given = [["text_1", "text_2", "judge", "rating", "statement"]]
    given += [[text, "other", text.strip() or "x", "1", "plain"] for text in CELLS]
    (tmp_path / "theirs.jsonl").write_text(
        "".join(json.dumps(dict(zip(given[0], row, strict=True))) + "\n" for row in given[1:]), "utf-8"
    )
    first, _ = study_of(tmp_path / "first", tmp_path / "theirs.jsonl", design())
    with first:
        assert {item.texts[0] for item in first.items() if item.role is Role.MAIN} == set(CELLS)
        (path,) = export(first, tmp_path / "ours.csv")
        cells = [cell for row in csv.reader(io.StringIO(path.read_bytes().decode(), newline="")) for cell in row]
        assert [cell for cell in cells if cell[:1] in ("=", "+", "-", "@", "\t", "\r")] == []
        assert "'=CMD|' /C calc'!A0" in cells
        second, _ = study_of(tmp_path / "second", path, design())
        with second:
            keys = {item.key: item.texts for item in first.items() if item.role is Role.MAIN}
            assert {item.key: item.texts for item in second.items() if item.role is Role.MAIN} == keys
            assert judged(second) == judged(first)


def test_cells_may_be_huge_and_not_boundless(tmp_path: Path) -> None:
    text = "x" * 700_000
    path = table(tmp_path / "t.csv", "text_1 text_2 answer statement", [text, "small", "1", "plain"])
    study, found = study_of(tmp_path / "s", path, design())
    with study:
        assert found.new == 1
        (again,) = export(study, tmp_path / "again.csv")
        assert imported(study, again).there == 1
        table(path, "text_1 text_2 answer statement", [text + text, "small", "1", "plain"])
        with pytest.raises(BadInput, match=r"row 1: the column 'text_1' has more than 1,000,000 characters; shorten"):
            imported(study, path)


def test_a_table_alone_makes_a_study_to_be_judged(tmp_path: Path) -> None:
    lines = [["a film", "a movie", "bae"], ["a dog", "a cat", "bae"], ["a film", "a movie", "bae"], ["x", "y", ""]]
    path = table(tmp_path / "pairs.csv", "original perturbed group", *lines)
    study, found = study_of(tmp_path / "s", path, read_design("meaning"), seed=3)
    with study:
        main = [item for item in study.items() if item.role is Role.MAIN]
        assert sorted(item.texts for item in main) == [("a dog", "a cat"), ("a film", "a movie"), ("x", "y")]
        assert {item.group for item in main} == {"bae", "pairs"}
        assert sum(item.role is Role.CONTROL for item in study.items()) == len(read_design("meaning").controls)
        assert (found.form, found.new, study.judgements()) == ("a table of items", 0, [])
        assert (study.seed, study.source["table"], study.source["runs"]) == (3, "pairs.csv", [])
        film = next(item for item in main if item.texts[0] == "a film")
        assert (film.facts["original"], film.facts["final"]) == (["a film"], ["a movie"])


LABELS: Design = replace(read_design("labels"), judges=4)


def test_a_table_of_labelled_texts_makes_a_label_study(tmp_path: Path) -> None:
    lines = [
        ["fine", "good", "main"],
        ["awful", "bad", "main"],
        ["great", "good", "training"],
        ["ok", "good", "accuracy"],
    ]
    path = table(tmp_path / "t.csv", "text gold role", *lines)
    study, _ = study_of(tmp_path / "s", path, LABELS, labels=["bad", "good"])
    with study:
        found = {item.texts[0]: (str(item.role), item.expected) for item in study.items()}
        assert found == {
            "fine": ("main", (1,)),
            "awful": ("main", (0,)),
            "great": ("training", (1,)),
            "ok": ("accuracy", (1,)),
        }
        assert study.design.training is not None
        assert study.design.accuracy == 1
    with pytest.raises(BadInput, match="name the classes with --labels A,B"):
        study_of(tmp_path / "other", path, LABELS)
    path = table(path, "text gold", ["fine", "good"])
    study, one = study_of(tmp_path / "third", path, LABELS, labels=["bad", "good"])
    with study:
        assert study.design.training is None
        assert "begin without one" in " ".join(one.notes)


def test_rows_say_which_of_several_questions_they_answer(tmp_path: Path) -> None:
    of = read_design("second-order")
    lines = [["t", "naturalness", "Neutral", "w"], ["t", "sentiment", "Very positive", "w"]]
    path = table(tmp_path / "t.csv", "text question answer judge", *lines)
    study, _ = study_of(tmp_path / "s", path, of)
    with study:
        assert sorted((item.question, item.texts) for item in study.items()) == [
            ("naturalness", ("t",)),
            ("sentiment", ("t",)),
        ]
        assert sorted(one.value for one in study.judgements()) == [3, 5]
    table(path, "text answer judge", ["t", "Neutral", "w"])
    with pytest.raises(BadInput, match="does not say which question"):
        study_of(tmp_path / "other", path, of)
    study, found = study_of(tmp_path / "other", path, of, Given(question="naturalness"))
    with study:
        assert found.new == 1


def test_a_table_that_is_refused_leaves_no_study(tmp_path: Path) -> None:
    with Study.create(tmp_path / "s", design(), items(1)) as study:
        study.add([Judgement("attack/0", "ada", 1)], Kind.PERSON)
        (path,) = export(study, tmp_path / "all.jsonl")
    row = json.loads(path.read_text("utf-8"))
    for wrong in ({"annotator": "  "}, {"annotator": "a\u200b" * 41}, {"value": 9}, {"statement": "none"}):
        path.write_text(json.dumps(row | wrong), "utf-8")
        with pytest.raises(BadInput):
            study_of(tmp_path / "new", path, design())
        assert not (tmp_path / "new").exists()
    path.write_text(json.dumps(row) + "\n" + json.dumps(row | {"item": "b", "kind": "model"}), "utf-8")
    with pytest.raises(BadInput, match="of the kind person, not model"):
        study_of(tmp_path / "new", path, design())
    assert not (tmp_path / "new").exists()


def test_one_answer_scale_is_not_read_as_another(tmp_path: Path) -> None:
    """5 means Strongly Agree in one file and Strongly Disagree in another, so words count before numbers."""
    lines = [["a", "b", "Strongly Agree", "5", "plain"]]
    path = table(tmp_path / "t.csv", "text_1 text_2 answer value statement", *lines)
    study, found = study_of(tmp_path / "s", path, read_design("meaning"))
    with study:
        assert [one.value for one in study.judgements()] == [1]
        assert [note for note in found.notes if "other numbers beside the words" in note]
    table(path, "text_1 text_2 answer statement", ["a", "b", "5", "plain"])
    study, found = study_of(tmp_path / "other", path, read_design("meaning"))
    with study:
        assert [one.value for one in study.judgements()] == [5]
        assert "numbers are read as 1 (Strongly Agree), 2 (Agree)" in found.notes[-1]


def test_a_start_that_was_cut_off_before_the_answers_were_kept_is_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = table(tmp_path / "t.csv", "text_1 text_2 answer statement", ["a", "b", "1", "plain"])
    keep = Study.add_parts

    def cut_off(self: Study, *parts: Any, **more: Any) -> int:
        if self.place == str(tmp_path / "s"):
            raise KeyboardInterrupt
        return keep(self, *parts, **more)

    with monkeypatch.context() as patched:
        patched.setattr(Study, "add_parts", cut_off)
        with pytest.raises(KeyboardInterrupt):
            study_of(tmp_path / "s", path, design())
    with Study.open(tmp_path / "s") as half:
        assert half.judgements() == []
    with pytest.raises(BadInput, match="already holds a study"):
        study_of(tmp_path / "s", path, design(), seed=1)
    study, found = study_of(tmp_path / "s", path, design())
    with study:
        assert found.new == 1 == len(study.judgements())
    with pytest.raises(BadInput, match="already holds a study"):
        study_of(tmp_path / "s", path, design())
