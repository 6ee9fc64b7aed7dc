"""Items go to a platform as its files want them, and what people answer there comes back with its meaning."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import fromstring

import pytest

from mohs.errors import BadInput
from mohs.studies.design import read_design
from mohs.studies.exporting import export, rows
from mohs.studies.forms import Given
from mohs.studies.importing import imported
from mohs.studies.item import Item
from mohs.studies.study import Study
from tests.studies.files import judged, table
from tests.studies.test_exporting import NASTY
from tests.studies.toys import Make, design, items

WORKER = "A2SECRETWORKER"
Row = dict[str, Any]


class Form(HTMLParser):
    """What a browser would post: the values of each field."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.fields: dict[str, list[str]] = {}
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if tag == "input":
            self.fields.setdefault(str(found["name"]), []).append(str(found["value"]))


def read(path: Path) -> list[Row]:
    return list(csv.DictReader(io.StringIO(path.read_text("utf-8"), newline="")))


def opinion(text: str) -> int:
    """What everybody thinks of the item with this original: an answer to the plain statement."""
    return 1 + len(text) % 5


def study_of(place: Path) -> Study:
    of = [Item(f"k{n}", "meaning", (text, "-other"), "g") for n, text in enumerate(NASTY)]
    return Study.create(place, read_design("meaning"), of)


def said(study: Study, statement: str, value: int) -> str:
    """The words with which somebody who thinks so answers a statement."""
    question = study.design.questions[0]
    number = [one.text for one in question.statements].index(statement)
    return question.label(question.said(value, number))


def plain(row: Row, field: str, chosen: str, choices: Iterable[str]) -> Row:
    return row | {f"Answer.{field}": chosen}


def labelled(row: Row, field: str, chosen: str, choices: Iterable[str]) -> Row:
    return row | {f"Answer.{field}.label": chosen}


def each_choice(row: Row, field: str, chosen: str, choices: Iterable[str]) -> Row:
    return row | {f"Answer.{field}.{choice}": str(choice == chosen).lower() for choice in choices}


def in_json(row: Row, field: str, chosen: str, choices: Iterable[str]) -> Row:
    return row | {"Answer.taskAnswers": json.dumps([{field: {choice: choice == chosen for choice in choices}}])}


Written = Callable[[Row, str, str, Iterable[str]], Row]


@pytest.mark.parametrize("written", [plain, labelled, each_choice, in_json])
def test_what_workers_post_is_what_they_think(tmp_path: Path, written: Written) -> None:
    """The page's own field and values, in each of the forms in which the site gives them, for every HIT."""
    with study_of(tmp_path / "s") as study:
        hits, page = export(study, tmp_path / "batch", "mturk")
        ((field, choices),) = Form(page.read_text("utf-8")).fields.items()
        by_code = {study.code(f"item {item.key}"): item for item in study.items()}
        lines = []
        for number, hit in enumerate(read(hits)):
            row = {"WorkerId": f"{WORKER}{number % 3}", "AssignmentStatus": "Approved", "WorkTimeInSeconds": "12"}
            row |= {"SubmitTime": "Thu Oct 09 07:30:20 PDT 2025", "Title": "Compare two texts"}
            row |= {f"Input.{name}": value for name, value in hit.items()}
            chosen = said(study, hit["statement"], opinion(by_code[hit["key"]].texts[0]))
            lines.append(written(row, field, chosen, choices))
        results = table(tmp_path / "r.csv", list(lines[0]), *(list(line.values()) for line in lines))
        found = imported(study, results)
        assert (found.form, found.new, found.left_out) == ("results of Mechanical Turk", 2 * len(NASTY), [])
        for one in rows(study):
            assert one["plain_value"] == opinion(one["text_1"])
            assert one["annotator"].startswith("mturk-")
            assert (one["seconds"], one["time"]) == (12.0, "2025-10-09T14:30:20+00:00")
        assert {its.swapped for its in study.judgements()} == {True, False}
        assert {its.statement for its in study.judgements()} == {0, 1}
        assert found.judges == 3
        assert imported(study, results).there == found.new
    for path in (tmp_path / "s").iterdir():
        assert WORKER.encode() not in path.read_bytes()


def test_rejected_and_second_answers_do_not_count(make: Make, tmp_path: Path) -> None:
    study = make(None, items(2))
    (hits, _) = export(study, tmp_path / "batch", "mturk")
    hit = next(one for one in read(hits) if one["statement"] == "The change keeps the meaning.")
    names = ["WorkerId", "AssignmentStatus", "Input.key", "Input.statement", "Input.swapped", "Answer.answer"]
    shown = [hit["key"], hit["statement"], hit["swapped"]]
    lines = [["w1", "Rejected", *shown, "Not at all"], ["w2", "Approved", *shown, "Perhaps"]]
    lines += [["w2", "Submitted", *shown, "Not at all"], ["w2", "Submitted", *shown, "Perhaps"]]
    found = imported(study, table(tmp_path / "r.csv", names, *lines))
    assert (found.new, found.repeated) == (1, 1)
    assert [one.reason for one in found.left_out] == [
        "rejected on Mechanical Turk",
        "somebody's second answer about an item",
    ]
    assert list(judged(study).values()) == [2]


def test_results_with_several_answers_are_not_guessed(make: Make, tmp_path: Path) -> None:
    study = make(None, items(1))
    names = ["WorkerId", "Input.text1", "Input.text2", "Input.statement", "Answer.one.label", "Answer.two.label"]
    path = table(tmp_path / "r.csv", names, ["w", "one 0", "other 0", "plain", "Perhaps", "Not at all"])
    with pytest.raises(BadInput, match=r"several answers \(one, two\); name the column of one"):
        imported(study, path)
    imported(study, path, Given(columns={"answer": "Answer.two.label"}))
    assert list(judged(study).values()) == [3]


def test_two_choices_at_once_are_no_answer(make: Make, tmp_path: Path) -> None:
    study = make(None, items(1))
    names = ["WorkerId", "Input.text1", "Input.text2", "Input.statement", "Answer.a.Perhaps", "Answer.a.Not at all"]
    path = table(tmp_path / "r.csv", names, ["w", "one 0", "other 0", "plain", "true", "true"])
    with pytest.raises(BadInput, match="a has two answers, 'Perhaps' and 'Not at all'"):
        imported(study, path)


def annotated(tasks: list[Row], choose: Callable[[Row], list[str]]) -> list[Row]:
    """Tasks as Label Studio exports them after annotator 7 has judged."""
    return [
        task
        | {
            "annotations": [
                {
                    "id": 100 + task["id"],
                    "completed_by": 7,
                    "was_cancelled": False,
                    "lead_time": 3.5,
                    "created_at": "2025-10-09T14:30:20.000000Z",
                    "result": [
                        {
                            "from_name": "answer",
                            "to_name": "text1",
                            "type": "choices",
                            "value": {"choices": choose(task["data"])},
                        }
                    ],
                }
            ]
        }
        for task in tasks
    ]


def flat_of(tasks: list[Row]) -> list[Row]:
    """The same as JSON-MIN."""
    found = []
    for task in tasks:
        (one,) = task["annotations"]
        own = {"id": task["id"], "answer": one["result"][0]["value"]["choices"][0], "annotator": 7}
        times = {name: one[name] for name in ("created_at", "lead_time")}
        found.append({**task["data"], **own, **times, "annotation_id": one["id"], "updated_at": one["created_at"]})
    return found


@pytest.mark.parametrize("form", ["json", "json-min", "csv"])
def test_what_label_studio_exports_is_what_people_think(tmp_path: Path, form: str) -> None:
    with study_of(tmp_path / "s") as study:
        tasks, view = export(study, tmp_path / "tasks", "label-studio")
        choices = [str(one.get("value")) for one in fromstring(view.read_text("utf-8")).iter("Choice")]
        by_code = {study.code(f"item {item.key}"): item for item in study.items()}

        def choose(data: Row) -> list[str]:
            (chosen,) = [said(study, data["statement"], opinion(by_code[data["item"]].texts[0]))]
            assert chosen in choices
            return [chosen]

        # Both statements of an item go to different people, or the second answer about it would not count.
        told = json.loads(tasks.read_text("utf-8"))
        first = {task["data"]["item"]: task["id"] for task in reversed(told)}
        once = [task for task in told if first[task["data"]["item"]] == task["id"]]
        assert not any("swapped" in task["data"] for task in told), "annotators can see it, and so the original"
        done = annotated(once, choose)
        path = tmp_path / "done.json"
        path.write_text(json.dumps(done if form == "json" else flat_of(done)), "utf-8")
        if form == "csv":
            flat = flat_of(done)
            path = table(tmp_path / "done.csv", list(flat[0]), *(list(one.values()) for one in flat))
        found = imported(study, path)
        assert (found.form, found.new, found.left_out) == ("an export of Label Studio", len(NASTY), [])
        for row in rows(study):
            assert row["plain_value"] == opinion(row["text_1"])
            assert (row["annotator"], row["seconds"]) == ("label-studio-7", 3.5)
            assert row["time"] == "2025-10-09T14:30:20+00:00"
        changed_first = {by_code[task["data"]["item"]].key: task["data"]["text1"] == "-other" for task in once}
        assert {one.item: one.swapped for one in study.judgements()} == changed_first
        assert set(changed_first.values()) == {True, False}


def test_skipped_and_double_choices_of_label_studio(make: Make, tmp_path: Path) -> None:
    study = make(None, items(3))
    tasks, _ = export(study, tmp_path / "tasks", "label-studio")
    told = annotated(json.loads(tasks.read_text("utf-8")), lambda data: ["Perhaps"])
    told[0]["annotations"][0]["was_cancelled"] = True
    told[1]["annotations"][0]["result"] = []
    path = tmp_path / "done.json"
    path.write_text(json.dumps(told), "utf-8")
    found = imported(study, path)
    skipped = [one.reason for one in found.left_out if one.reason == "skipped in Label Studio"]
    assert len(skipped) == 2
    told[2]["annotations"][0]["result"][0]["value"]["choices"] = ["Perhaps", "Not at all"]
    path.write_text(json.dumps(told), "utf-8")
    with pytest.raises(
        BadInput, match=r"task 3, annotation 1: there is not one answer but \['Perhaps', 'Not at all'\]"
    ):
        imported(study, path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[", "is not JSON"),
        ("[1]", "is 1 and no object"),
        ('[{"data": {"item": "x"}, "annotations": []}]', "has tasks without annotations"),
        ('[{"data": {"item": "x"}, "annotations": ["y"]}]', "Task 1, annotation 1 is 'y'"),
        ('[{"data": {"item": "x"}, "annotations": []}, {"item": 1}]', "Task 2 of the file is no task"),
    ],
)
def test_files_of_label_studio_that_are_broken(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "done.json"
    path.write_text(text, "utf-8")
    with Study.create(tmp_path / "s", design(), items(1)) as study, pytest.raises(BadInput) as caught:
        imported(study, path)
    assert said in str(caught.value)
