from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from xml.etree.ElementTree import fromstring

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mohs.errors import BadInput, MohsError
from mohs.studies import exporting
from mohs.studies.design import Design, read_design
from mohs.studies.importing import imported, study_of
from mohs.studies.item import Item, Judgement, Kind, Role, State
from mohs.studies.platforms import code_of, notes_on
from mohs.studies.study import Part, Study
from tests.studies.toys import Make, controls, design, items

NASTY = (
    "=1+1",
    "'=1+1",
    "-2 stars",
    '"quoted", <b onmouseover=x>&amp;',
    "two\nlines\r\nand\ttabs",
    "${text1_html} $statement",
    "half \ud800 a pair",
    "zero \0 byte",
    "\u202eright to left\u202c",
    "smile \U0001f600",
    " spaces ",
)
texts = st.one_of(st.sampled_from(NASTY), st.text(st.characters(), max_size=30))
keys = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=20)
facts = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | texts, lambda part: st.lists(part, max_size=2), max_leaves=4
)


@st.composite
def studies(draw: Any) -> tuple[list[Item], list[Part], list[str]]:
    names = draw(st.lists(keys, min_size=1, max_size=4, unique=True))
    of = [
        Item(
            name,
            "same",
            (draw(texts), draw(texts)),
            draw(st.sampled_from(["", "attack", "=a\tb"])),
            Role.MAIN if number == 0 else draw(st.sampled_from(list(Role))),
            draw(st.sampled_from([(), (1,), (1, 3)])),
            draw(st.dictionaries(st.sampled_from(["note", "n", "=x"]), facts, max_size=3)),
        )
        for number, name in enumerate(names)
    ]
    parts = []
    for number, kind in enumerate(Kind):
        own = [
            Judgement(
                name,
                draw(st.sampled_from([f"judge {number}", f"=judge {number}", f"'{number}"])),
                draw(st.integers(1, 3)),
                draw(st.integers(0, 1)),
                draw(st.booleans()),
                draw(st.none() | st.floats(0, 1e6)),
                draw(st.none() | st.floats(0, 3e9)),
                draw(st.integers(0, 50)),
            )
            for name in names
        ]
        parts.append(Part(own, kind, draw(st.booleans())))
    return of, parts, draw(st.lists(st.sampled_from([one.annotator for one in parts[0].judgements]), max_size=1))


def told(study: Study) -> Any:
    """What a study holds of judgements and those who made them, without numbers."""
    people = {one.name: (one.kind, one.named, one.state is State.ASIDE) for one in study.annotators()}
    return {(one.item, one.annotator): one for one in study.judgements()}, people


@pytest.mark.parametrize("format", exporting.TABLES)
@given(studies())
def test_an_export_imported_into_a_copy_gives_equal_judgements(
    format: str, made: tuple[list[Item], list[Part], list[str]]
) -> None:
    of, parts, aside = made
    with TemporaryDirectory() as folder:
        place = Path(folder)
        with Study.create(place / "first", design(), of) as first, Study.create(place / "copy", design(), of) as copy:
            first.add_parts(parts)
            for name in aside:
                first.set_aside(name)
            (path,) = exporting.export(first, place / f"all.{format}")
            found = imported(copy, path)
            assert found.new == sum(len(part.judgements) for part in parts)
            assert told(copy) == told(first)
            assert copy.progress().judgements == first.progress().judgements
            assert copy.progress().complete == first.progress().complete
            again = imported(copy, path)
            assert (again.new, again.there) == (0, found.new)
            assert told(copy) == told(first)


@given(st.dictionaries(st.sampled_from(["a", "b", "=c"]), facts, max_size=3))
def test_a_study_made_of_an_export_has_the_items_that_were_judged(own: dict[str, Any]) -> None:
    of = [Item("k", "same", ("a", "b"), "g", Role.MAIN, (2,), own), Item("c", "same", ("a", "z"), "", Role.CONTROL)]
    with TemporaryDirectory() as folder:
        place = Path(folder)
        with Study.create(place / "first", design(), of) as first:
            first.add([Judgement("k", "ada", 1), Judgement("c", "ada", 1)], Kind.PERSON)
            (path,) = exporting.export(first, place / "all.jsonl")
            study, _ = study_of(place / "second", path, design())
        with study:
            found = {item.key: item for item in study.items()}
            kept = {name: value for name, value in own.items() if value not in (None, "")}
            assert {key: (one.texts, one.expected, one.role) for key, one in found.items()} == {
                "k": (("a", "b"), (2,), Role.MAIN),
                "c": (("a", "z"), (), Role.CONTROL),
            }
            assert {name: found["k"].facts[name] for name in kept} == kept
            assert [one.annotator for one in study.judgements()] == ["ada", "ada"]


def test_rows_say_what_was_answered_and_what_it_means(make: Make) -> None:
    study = make(None, [*items(1, note=[1, "x"]), *controls(design())])
    study.add([Judgement("attack/0", "ada", 1, statement=1, swapped=True, seconds=2.5, at=60.0)], Kind.PERSON)
    study.set_aside("ada")
    assert next(exporting.rows(study)) == {
        "item": "attack/0",
        "question": "same",
        "group": "attack",
        "role": "main",
        "annotator": "ada",
        "kind": "person",
        "state": "set aside",
        "named": True,
        "statement": "The change changes the meaning.",
        "value": 1,
        "label": "Yes indeed",
        "plain_value": 3,
        "swapped": True,
        "seconds": 2.5,
        "at": 60.0,
        "time": "1970-01-01T00:01:00+00:00",
        "batch": 0,
        "expected": [],
        "text_1": "one 0",
        "text_2": "other 0",
        "fact_source": "s0",
        "fact_note": [1, "x"],
    }


def test_no_cell_of_a_csv_file_is_a_formula(tmp_path: Path) -> None:
    of = [Item(f"={n}", "same", (text, "-x"), "+g", facts={"f": "@f"}) for n, text in enumerate(NASTY)]
    with Study.create(tmp_path / "s", design(), of) as study:
        study.add([Judgement(item.key, "=ada", 1) for item in of], Kind.PERSON)
        table = "".join(exporting.csv_text(study))
    cells = [cell for row in csv.reader(io.StringIO(table, newline="")) for cell in row]
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]
    assert len(list(csv.DictReader(io.StringIO(table, newline="")))) == len(NASTY)


def test_a_study_without_judgements_gives_no_table(make: Make, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no judgements yet"):
        exporting.export(make(), tmp_path / "all.csv")
    assert not (tmp_path / "all.csv").exists()


@pytest.mark.parametrize(
    ("name", "format", "said"),
    [("all.xlsx", None, "'xlsx' is no format"), ("all.csv", "pdf", "'pdf' is no format"), (".", "csv", "is a folder")],
)
def test_formats_that_are_none(tmp_path: Path, name: str, format: str | None, said: str) -> None:
    with Study.create(tmp_path / "s", design(), items(1)) as study, pytest.raises(BadInput, match=said):
        exporting.export(study, tmp_path / name, format)


def test_nothing_is_written_through_a_link_and_an_older_file_stays(tmp_path: Path) -> None:
    with Study.create(tmp_path / "s", design(), items(1)) as study:
        study.add([Judgement("attack/0", "ada", 1)], Kind.PERSON)
        (tmp_path / "all.csv").write_text("old")
        (tmp_path / "all.csv.part").symlink_to(tmp_path / "elsewhere")
        with pytest.raises(BadInput, match="symbolic link"):
            exporting.export(study, tmp_path / "all.csv")
        with pytest.raises(MohsError, match="cannot be written"):
            exporting.export(study, tmp_path / "missing" / "all.csv")
    assert (tmp_path / "all.csv").read_text() == "old"
    assert not (tmp_path / "elsewhere").exists()


def nasty(of: Design, texts: int = 2) -> list[Item]:
    """Items of every question, with keys that tell what was done to them."""
    return [
        Item(f"secret-attack/{number}/{question.name}", question.name, (text, "-other")[:texts], "secret-attack")
        for question in of.questions
        for number, text in enumerate(NASTY)
    ]


def test_tables_for_mechanical_turk_hide_where_items_are_from(tmp_path: Path) -> None:
    of = read_design("meaning")
    with Study.create(tmp_path / "s", of, nasty(of)) as study:
        files = exporting.export(study, tmp_path / "batch", "mturk")
        notes = notes_on(study, study.items())
        codes = {code_of(study, item.key) for item in study.items()}
    assert files == [tmp_path / "batch.csv", tmp_path / "batch.html"]
    assert notes == ["meaning: each item stands there 2 times, once a statement, so ask for 5 judges a row."]
    table = files[0].read_text("utf-8")
    assert "secret" not in table
    assert max(map(ord, table)) < 0x10000, "the site refuses characters of four bytes"
    rows = list(csv.DictReader(io.StringIO(table, newline="")))
    assert {row["key"] for row in rows} == codes
    assert len(rows) == 2 * len(NASTY)
    assert {row["swapped"] for row in rows} == {"true", "false"}
    for row in rows:
        shown = row["text1_html"] + row["text2_html"]
        assert not re.search(r"<(?!/?mark>|br>)|[\n\r$]", shown)
        assert not [cell for cell in row.values() if cell.startswith(("=", "+", "-", "@"))]
    page = files[1].read_text("utf-8")
    named = set(re.findall(r"\$\{(\w+)\}", page))
    assert named == {"text1_html", "text2_html", "statement_html"}
    assert named < set(rows[0])
    assert page.count('type="radio"') == 5


def test_pages_of_platforms_show_examples_and_promise_no_practice(tmp_path: Path) -> None:
    """Training needs feedback, which a platform does not give."""
    of = read_design("labels").with_labels(("bad", "good"))
    rows = [Item("a", "label", ("text",), expected=(0,)), Item("b", "label", ("more",), "", Role.TRAINING, (0,))]
    examples = [{"label": "bad", "texts": ["<b>awful</b> ${x}", "$poor"]}, {"label": "good", "texts": []}]
    with Study.create(tmp_path / "s", of, rows, examples=examples) as study:
        _, page = exporting.export(study, tmp_path / "batch", "mturk")
        _, view = exporting.export(study, tmp_path / "tasks", "label-studio")
    html, xml = page.read_text("utf-8"), view.read_text("utf-8")
    assert "&lt;b&gt;awful&lt;/b&gt; &#36;{x}" in html
    assert "<b>" not in html
    assert "good</h4>" not in html, "there is no example of it"
    told = [one.get("value") for one in fromstring(xml).iter("Header")]
    assert "Example of bad: <b>awful</b> ${x}" in told
    assert "Example of bad: $poor" in told
    assert "practice" not in html + xml


def test_two_texts_for_label_studio_have_names(tmp_path: Path) -> None:
    of = read_design("words")
    with Study.create(tmp_path / "s", of, [Item("a", "meaning", ("old", "new"))]) as study:
        _, view = exporting.export(study, tmp_path / "tasks", "label-studio")
    told = [one.get("value") for one in fromstring(view.read_text("utf-8"))]
    assert told.index("First word") + 1 == told.index("$text1")
    assert told.index("Second word") + 1 == told.index("$text2")


def test_tasks_for_label_studio_hide_where_items_are_from(tmp_path: Path) -> None:
    of = read_design("second-order")
    with Study.create(tmp_path / "s", of, nasty(of, 1)) as study:
        files = exporting.export(study, tmp_path / "tasks.json", "label-studio")
    assert [path.name for path in files] == [
        "tasks-naturalness.json",
        "tasks-naturalness.xml",
        "tasks-sentiment.json",
        "tasks-sentiment.xml",
    ]
    tasks = json.loads(files[2].read_text("utf-8"))
    assert len(tasks) == len(NASTY)
    assert "secret" not in files[2].read_text("utf-8")
    view = fromstring(files[3].read_text("utf-8"))
    fields = {value[1:] for one in view.iter() for value in one.attrib.values() if value.startswith("$")}
    assert fields == {"text1", "statement"}
    assert fields < set(tasks[0]["data"])
    assert [one.get("value") for one in view.iter("Choice")] == [
        "Very negative",
        "Negative",
        "Neutral",
        "Positive",
        "Very positive",
    ]


def test_items_for_training_stay_here(tmp_path: Path) -> None:
    of = [*items(2), Item("t", "same", ("a", "b"), role=Role.TRAINING, expected=(1,))]
    with Study.create(tmp_path / "s", design(), of) as study:
        files = exporting.export(study, tmp_path, "mturk")
        assert "Items for training need feedback and are left out." in notes_on(study, study.items())
    assert files[0] == tmp_path / "mturk.csv"
    rows = list(csv.DictReader(io.StringIO(files[0].read_text("utf-8"), newline="")))
    assert len(rows) == 4, "two items, each with both statements"
