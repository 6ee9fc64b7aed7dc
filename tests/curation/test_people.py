"""Builds that wait for people, and judgements from files."""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from mohs.curation import people
from mohs.curation.build import build
from mohs.curation.config import Config
from mohs.curation.folder import open_benchmark
from mohs.curation.item import Item, benign_of
from mohs.curation.people import Waiting, asked_votes, place_of, read_votes
from mohs.errors import BadInput
from mohs.studies.connecting import FILE
from mohs.studies.exporting import export
from mohs.studies.item import Judgement, Kind, Role
from mohs.studies.study import Study
from tests.curation.toys import config, content, item, reviews, write_rows

NAMES: Mapping[str, Any] = {"reviews": ["sentence"]}
SOURCES = ("r0", "r1", "r2")


def items() -> list[Item]:
    texts = {row["id"]: row["text"] for row in reviews()}
    return [
        item("textfooler", source, label=int(source == "r0"), benign=benign_of([texts[source]])) for source in SOURCES
    ]


def answer(study: Study, labels: Mapping[str, list[int]], kind: Kind = Kind.IMPORTED) -> None:
    """Fill a study: the labels of the main items by key."""
    rows = [
        Judgement(key, f"{kind}-{number}", label) for key, own in labels.items() for number, label in enumerate(own)
    ]
    study.add(rows, kind)


def test_a_build_waits_and_goes_on(tmp_path: Path) -> None:
    attacks = [{"attack": "random", "class": "word", "family": "embedding"}]
    more = [{"id": f"t{n}", "text": f"Practice text {n}.", "label": n % 2} for n in range(40)]
    judging = {"by": "study", "training": {"reviews": write_rows(tmp_path / "more.jsonl", more)}}
    own = config(tmp_path, judging=judging, attacks=attacks, filters={"word_change": 0.3})
    out = tmp_path / "out"
    with pytest.raises(Waiting, match=rf"mohs study serve {out}/studies/reviews`"):
        build(own, out)
    with Study.open(out / "studies" / "reviews") as study:
        assert study.design.judges == 5
        assert [one.label for one in study.design.questions[0].answers] == ["negative", "positive"]
        shown = [one for one in study.items() if one.role is Role.MAIN]
        practice = [one for one in study.items() if one.role in (Role.TRAINING, Role.ACCURACY)]
        assert len(practice) == 36  # four are examples in the instructions
        assert all(one.texts[0].startswith("Practice text") for one in practice)
        judged = {one.key: [one.expected[0]] * 4 + [1 - one.expected[0]] for one in shown}
        spoilt = min(judged)
        judged[spoilt] = [0, 1, 0, 1, 0]
        half = dict(sorted(judged.items())[: len(judged) // 2])
        answer(study, half)
    with pytest.raises(Waiting, match=rf"{5 * len(half)} of {5 * len(judged)} judgements"):
        build(own, out)
    with Study.open(out / "studies" / "reviews") as study:
        answer(study, judged)
        answer(study, {min(judged): [0, 0, 0, 0, 0]}, Kind.SIMULATED)  # does not count
    done = build(own, out)
    assert [(one.item.id, one.reason) for one in done.stages.dropped("judge")] == [(spoilt, "no consensus")]
    rows = [row for part in ("dev", "test") for row in open_benchmark(out).rows("reviews", part)]
    judged_rows = [row for row in rows if row["method"] == "random"]
    assert {(row["judged"], row["agreement"], row["judges"]) for row in judged_rows} == {("people", 0.8, 5)}
    before = content(out)
    assert not any(build(own, out).done.values())
    assert content(out) == before


def test_a_study_trains_with_texts_that_nobody_judges(tmp_path: Path) -> None:
    own = config(tmp_path, judging={"by": "study"})
    with pytest.raises(Waiting):
        asked_votes(own, items(), NAMES, tmp_path / "out")
    with Study.open(tmp_path / "out" / "studies" / "reviews") as study:
        found = study.items()
        examples = study.source["examples"]
    originals = {one.texts[0].split()[-1] for one in found if one.role is not Role.MAIN}
    shown = {text.split()[-1] for example in examples for text in example["texts"]}
    assert originals
    assert not originals & {"0", "1", "2"}  # those whose texts are judged
    assert not shown & (originals | {"0", "1", "2"})
    assert {one.expected for one in found if one.role is Role.TRAINING} <= {(0,), (1,)}


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"text": "Fine.", "label": 7}], "row 1: label 7 is not a class"),
        (
            [{"premise": "It rains.", "hypothesis": "It is wet.", "label": 1}],
            r"2 texts an example, and .* has 1 \(text",
        ),
        (None, "There is no file"),
    ],
)
def test_texts_to_train_with_are_read_before_anything_is_attacked(rows: Any, message: str, tmp_path: Path) -> None:
    file = str(tmp_path / "more.jsonl") if rows is None else write_rows(tmp_path / "more.jsonl", rows)
    own = config(tmp_path, judging={"by": "study", "training": {"reviews": file}})
    with pytest.raises(BadInput, match=message):
        build(own, tmp_path / "out")
    assert not list((tmp_path / "out").rglob("journal.sqlite"))


def test_the_sentence_of_a_waiting_build_says_if_training_texts_are_short(tmp_path: Path) -> None:
    own = config(tmp_path, judging={"by": "study"})
    with pytest.raises(Waiting, match=r"only 5 of 20 texts are left to train people: if that is too few, delete"):
        asked_votes(own, items(), NAMES, tmp_path / "out")
    more = [{"text": f"Practice text {n}.", "label": n % 2} for n in range(40)]
    file = write_rows(tmp_path / "more.jsonl", more)
    own = config(tmp_path, judging={"by": "study", "training": {"reviews": file}})
    with pytest.raises(Waiting, match=r"judgements; go on with"):
        asked_votes(own, items(), NAMES, tmp_path / "again")


def test_a_study_whose_making_was_cut_off_is_made(tmp_path: Path) -> None:
    own = config(tmp_path, judging={"by": "study"})
    place = tmp_path / "out" / "studies" / "reviews"
    place.mkdir(parents=True)
    (place / FILE).write_bytes(b"")  # a process that was killed leaves it like this
    with pytest.raises(Waiting, match="0 of 15 judgements"):
        asked_votes(own, items(), NAMES, tmp_path / "out")
    (place / FILE).write_bytes(b"something else, which nobody may write over")
    with pytest.raises(BadInput, match="file is not a database"):
        asked_votes(own, items(), NAMES, tmp_path / "out")


def test_a_study_of_other_texts_is_refused(tmp_path: Path) -> None:
    own = config(tmp_path, judging={"by": "study"})
    with pytest.raises(Waiting):
        asked_votes(own, items(), NAMES, tmp_path / "out")
    with pytest.raises(BadInput, match="asks about other texts than this build has"):
        asked_votes(own, items()[1:], NAMES, tmp_path / "out")


def test_without_a_text_to_train_with_there_is_no_study(tmp_path: Path) -> None:
    own = config(tmp_path, judging={"by": "study"})
    every = [
        item("textfooler", row["id"], original=(row["text"],), benign=benign_of([row["text"]])) for row in reviews()
    ]
    with pytest.raises(BadInput, match="none is left to train people; raise n of reviews"):
        asked_votes(own, every, NAMES, tmp_path / "out")


def judgements(path: Path, column: str = "item") -> str:
    """Two texts are judged well; of the third two say something else. Judges have names."""
    rows = [
        {column: one.id, "annotator": f"Ada {number}", "answer": ("negative", "positive")[label]}
        for one in items()
        for number, label in enumerate([one.label] * 5 if one.source != "r2" else [0, 0, 0, 1, 1])
    ]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [column, "annotator", "answer"])
        writer.writeheader()
        writer.writerows(rows)
    return str(path)


def imported(folder: Path) -> Config:
    file = judgements(folder / "judgements.csv")
    return config(folder, judging={"by": "judgements", "files": {"reviews": file}})


def test_judgements_from_a_file(tmp_path: Path) -> None:
    own = imported(tmp_path)
    found = read_votes(own, items(), NAMES)
    labels = {one.source: [label for _, label in found[one.id]] for one in items()}
    assert labels == {"r0": [1] * 5, "r1": [0] * 5, "r2": [0, 0, 0, 1, 1]}
    judges = {judge for own_votes in found.values() for judge, _ in own_votes}
    assert judges == {f"judge-{n}" for n in range(1, 6)}  # no name leaves the file
    assert read_votes(own, items(), NAMES) == found


def test_the_export_of_another_builds_study_is_read(tmp_path: Path) -> None:
    """Its rows about training texts, which differ from build to build, are left out."""
    with pytest.raises(Waiting):
        asked_votes(config(tmp_path, judging={"by": "study"}), items(), NAMES, tmp_path / "out")
    with Study.open(tmp_path / "out" / "studies" / "reviews") as study:
        practice = {one.key: [one.expected[0]] for one in study.items() if one.role is Role.TRAINING}
        answer(study, {one.id: [one.label] * 4 + [1 - one.label] for one in items()} | practice)
        export(study, tmp_path / "judgements.csv")
    assert "training 1" in (tmp_path / "judgements.csv").read_text()
    judging = {"by": "judgements", "files": {"reviews": str(tmp_path / "judgements.csv")}}
    found = read_votes(config(tmp_path, judging=judging), items(), NAMES)
    assert {key: [label for _, label in votes] for key, votes in found.items()} == {
        one.id: [one.label] * 4 + [1 - one.label] for one in items()
    }


def test_judgements_of_other_texts_are_refused(tmp_path: Path) -> None:
    own = imported(tmp_path)
    with pytest.raises(BadInput, match=r"judgements\.csv"):
        read_votes(own, items()[1:], NAMES)


def test_two_tasks_have_a_study_each(tmp_path: Path) -> None:
    one = config(tmp_path, judging={"by": "study", "place": str(tmp_path / "elsewhere")})
    assert place_of(one, one.tasks[0], tmp_path / "out") == str(tmp_path / "elsewhere" / "reviews")
    address = "postgresql://me@localhost/studies"
    other = config(tmp_path, name="My-toy", judging={"by": "study", "place": address})
    assert place_of(other, other.tasks[0], tmp_path / "out") == f"{address}?study=b_my_toy_reviews"


@pytest.mark.skipif(not os.environ.get("MOHS_POSTGRES"), reason="set MOHS_POSTGRES to a database to run this")
def test_a_study_on_postgresql(tmp_path: Path) -> None:
    import psycopg

    address = os.environ["MOHS_POSTGRES"]
    own = config(tmp_path, name=f"toy{os.getpid()}", judging={"by": "study", "place": address})
    place = people.place_of(own, own.tasks[0], tmp_path)
    try:
        for _ in range(2):  # made, and opened
            with pytest.raises(Waiting, match="0 of 15 judgements"):
                asked_votes(own, items(), NAMES, tmp_path)
        with Study.open(place) as study:
            answer(study, {one.id: [one.label] * 5 for one in items()})
        found = asked_votes(own, items(), NAMES, tmp_path)
        assert {key: [label for _, label in own_votes] for key, own_votes in found.items()} == {
            one.id: [one.label] * 5 for one in items()
        }
    finally:
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute(f"DROP SCHEMA IF EXISTS mohs_b_{own.name}_reviews CASCADE")
