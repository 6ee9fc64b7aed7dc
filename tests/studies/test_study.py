from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from mohs.errors import BadInput, MohsError
from mohs.studies.database import FILE
from mohs.studies.item import Judgement, Kind, Role, State
from mohs.studies.study import Study, hash_of
from tests.studies.toys import Make, controls, design, items


def test_a_study_is_read_back(make: Make) -> None:
    study = make(seed=3, runs=["a"], note="ü")
    again = Study.open(study.place) if not study.place.startswith("postgres") else study
    assert again.design == design()
    assert sorted(again.items(), key=lambda one: one.key) == items(7)
    assert (again.seed, again.source) == (3, {"runs": ["a"], "note": "ü"})
    assert again.progress().wanted == 14


def test_the_seed_decides_the_order(make: Make) -> None:
    first, second, other = make(seed=1), make(seed=1), make(seed=2)
    keys = [[one.key for one in study.items()] for study in (first, second, other)]
    assert keys[0] == keys[1] != keys[2]


def test_only_the_hash_of_a_link_is_kept(make: Make, tmp_path: Path) -> None:
    study = make()
    (one, other) = study.invite(["ada"], 1)
    assert [one.name, other.name] == ["ada", "annotator-2"]
    found = study.annotator(one.token)
    assert found is not None
    assert (found.name, found.kind, found.state) == ("ada", Kind.PERSON, State.INVITED)
    assert study.annotator(one.token + "x") is None
    assert study.annotator("\ud800") is None
    stored = study.database.read(lambda c: c.all("SELECT token FROM annotators"))
    assert {row[0] for row in stored} == {hash_of(one.token), hash_of(other.token)}


@pytest.mark.skipif(os.name == "nt", reason="needs the permissions of POSIX")
def test_the_file_with_the_key_is_its_owners_alone(tmp_path: Path) -> None:
    with Study.create(tmp_path / "study", design(), items(1)) as study:
        study.invite(n=1)
        found = {path.name: oct(path.stat().st_mode & 0o777) for path in (tmp_path / "study").iterdir()}
    assert FILE in found
    assert set(found.values()) == {"0o600"}


def test_chance_decides_the_statement_and_each_is_read_equally_often(make: Make) -> None:
    study = make()
    study.invite(n=60)
    read = [one.statement for one in study.annotators()]
    pairs = set(zip(read[::2], read[1::2], strict=True))
    assert pairs == {(0, 1), (1, 0)}  # by chance alone, 30 pairs are in the same order once in 500 million studies


def test_a_lost_link_is_replaced(make: Make) -> None:
    study = make()
    (old,) = study.invite(["ada"])
    new = study.link_again("ada")
    assert study.annotator(old.token) is None
    assert study.annotator(new.token) is not None
    with pytest.raises(BadInput, match="Nobody called 'bob'"):
        study.link_again("bob")
    with pytest.raises(BadInput, match="'ada' already"):
        study.invite(["ada"])


def test_judgements_made_elsewhere_count_once(make: Make) -> None:
    study = make()
    rows = [Judgement(f"attack/{n}", "w1", 1, seconds=2.5, at=5.0) for n in range(3)]
    assert study.add(rows, Kind.IMPORTED) == 3
    assert study.add(rows, Kind.IMPORTED) == 0
    assert sorted(study.judgements(), key=lambda one: one.item) == rows
    assert study.progress().judgements == 3
    more = [Judgement("attack/0", f"w{n}", 1) for n in range(2, 6)]
    assert study.add(more, Kind.IMPORTED) == 4, "an import is not limited by the design"
    assert study.progress().complete == 1


def test_models_and_simulated_judges_take_nobodys_place(make: Make) -> None:
    study = make()
    study.add([Judgement("attack/0", "model:x", 1)], Kind.MODEL)
    study.add([Judgement("attack/0", "simulated-1", 1)], Kind.SIMULATED)
    assert study.progress().judgements == 0
    assert {row[0] for row in study.database.read(lambda c: c.all("SELECT room FROM items"))} == {2}
    with pytest.raises(BadInput, match="of the kind model, not simulated"):
        study.add([Judgement("attack/1", "model:x", 1)], Kind.SIMULATED)


@pytest.mark.parametrize(
    ("judgement", "said"),
    [
        (Judgement("attack/99", "w", 1), "no item 'attack/99'"),
        (Judgement("attack/0", "w", 4), "the answers are 1, 2, 3"),
        (Judgement("attack/0", "w", 1, statement=2), "the answers are 1, 2, 3"),
    ],
)
def test_a_wrong_judgement_adds_nothing(make: Make, judgement: Judgement, said: str) -> None:
    study = make()
    with pytest.raises(BadInput, match=said):
        study.add([Judgement("attack/1", "w", 1), judgement], Kind.IMPORTED)
    assert study.judgements() == []
    assert study.annotators() == []


def test_who_is_set_aside_does_not_count_and_frees_the_places(make: Make) -> None:
    study = make()
    study.add([Judgement(f"attack/{n}", "w1", 1) for n in range(3)], Kind.IMPORTED)
    assert study.set_aside("w1") == 3
    assert study.set_aside("w1") == 0
    assert study.progress().judgements == 0
    assert {row[0] for row in study.database.read(lambda c: c.all("SELECT room FROM items"))} == {2}
    assert len(study.judgements()) == 3, "the answers are still there"
    with pytest.raises(BadInput, match="no annotator 'nobody'"):
        study.set_aside("nobody")


def test_the_database_itself_refuses_a_judgement_too_many(make: Make) -> None:
    study = make()
    study.database.write(lambda c: c.do("UPDATE items SET room = 0"))
    with pytest.raises(Exception, match=r"(?i)check"):
        study.database.write(lambda c: c.do("UPDATE items SET room = room - 1"))


def test_controls_have_no_limited_room(make: Make) -> None:
    study = make(of_items=[*items(1), *controls(design())])
    room: dict[Any, Any] = dict(study.database.read(lambda c: c.all("SELECT role, room FROM items")))
    assert room == {str(Role.MAIN): 2, str(Role.CONTROL): None}


def test_codes_are_the_studys_own(make: Make) -> None:
    one, other = make(), make()
    assert one.code("a") == one.code("a") != one.code("b")
    assert one.code("a") != other.code("a")


def test_places_that_hold_no_study(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="holds no study; make one with"):
        Study.open(tmp_path)
    (tmp_path / "file").write_text("x")
    with pytest.raises(BadInput, match="is a file"):
        Study.create(tmp_path / "file", design(), items(1))
    with pytest.raises(BadInput, match=r"other files \(file\)"):
        Study.create(tmp_path, design(), items(1))
    Study.create(tmp_path / "s", design(), items(1)).close()
    with pytest.raises(BadInput, match="already holds a study"):
        Study.create(tmp_path / "s", design(), items(1))
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / FILE).write_bytes(b"no database" * 1000)
    with pytest.raises(MohsError, match="not a database"):
        Study.open(tmp_path / "bad")
    (tmp_path / "link").mkdir()
    (tmp_path / "link" / FILE).symlink_to(tmp_path / "s" / FILE)
    with pytest.raises(BadInput, match="symbolic link"):
        Study.open(tmp_path / "link")


def test_a_study_of_another_version_is_refused(tmp_path: Path) -> None:
    Study.create(tmp_path / "s", design(), items(1)).close()
    with sqlite3.connect(tmp_path / "s" / FILE) as raw:
        raw.execute("UPDATE study SET value = 'mohs-study-9' WHERE name = 'format'")
    with pytest.raises(BadInput, match="no study that this version reads"):
        Study.open(tmp_path / "s")


def test_an_address_that_nobody_answers_is_one_sentence_without_the_password() -> None:
    with pytest.raises(BadInput) as caught:
        Study.open("postgresql://me:hush-hush@127.0.0.1:1/x?study=a")
    assert "hush" not in str(caught.value)
    with pytest.raises(BadInput, match="use small letters"):
        Study.open("postgresql://me@127.0.0.1:1/x?study=A;drop")
