"""Several processes with several threads each hand out the items of one study, and starts of it are cut off."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from mohs.errors import BadInput
from mohs.studies import study as study_module
from mohs.studies.database import FILE, Cursor, is_address
from mohs.studies.desk import Desk, Phase
from mohs.studies.study import Study
from tests.studies.annotating import address
from tests.studies.racing import Told, kept
from tests.studies.test_desk import answer_all, person
from tests.studies.toys import POSTGRES, Clock, Make, _drop, controls, design, items

ROOT = Path(__file__).parents[2]
JUDGES, ITEMS = 3, 20


def raced(study: Study, names: list[str], processes: int) -> Told:
    """What the tabs of these people were told, one tab of each in each process."""
    command = [sys.executable, "-m", "tests.studies.racing", address(study)]
    running = [
        subprocess.Popen([*command, str(seed), *names], cwd=ROOT, stdout=subprocess.PIPE, text=True)
        for seed in range(processes)
    ]
    told: Told = []
    for process in running:
        out, _ = process.communicate()
        assert process.returncode == 0
        told += [(name, item, value, taken) for name, item, value, taken in json.loads(out)]
    return told


def taken(study: Study) -> list[tuple[int, int, int]]:
    """Of each main item: the room that is left, and how many hold or have answered it."""
    return [
        (int(row[0]), int(row[1]), int(row[2]))
        for row in study.database.read(
            lambda c: c.all(
                "SELECT i.room, coalesce(sum(CASE WHEN j.answer IS NULL AND j.item IS NOT NULL THEN 1 ELSE 0 END), 0), "
                "count(j.answer) FROM items i LEFT JOIN judgements j ON j.item = i.number WHERE i.role = 'main' "
                "GROUP BY i.number, i.room"
            )
        )
    ]


def test_processes_and_threads_never_judge_more_than_designed(make: Make) -> None:
    """Batches expire all the while, so items go from hand to hand, and answers come late or twice."""
    study = make(design(judges=JUDGES, batch=3), [*items(ITEMS), *controls(design())])
    names = [one.name for one in study.invite(n=5)]
    told = raced(study, names, processes=3)
    numbers: dict[str, int] = dict(study.database.read(lambda c: c.all("SELECT key, number FROM items")))
    stored = {(one.annotator, numbers[one.item]): one.value for one in study.judgements()}
    assert kept(told) == stored, "what was acknowledged is there, once, and nothing else"
    for room, held, answered in taken(study):
        assert room + held + answered == JUDGES
    assert not {state for *_, state in told} - {"kept", "repeated", "gone", "refused"}

    late = Desk(study, lambda: 1e9)  # whatever was abandoned has come back by now
    for number in range(JUDGES):
        answer_all(late, person(study, f"late-{number}"))
    assert {answered for _, _, answered in taken(study)} == {JUDGES}
    counts = Counter((one.item, one.annotator) for one in study.judgements())
    assert set(counts.values()) == {1}


@pytest.mark.skipif(not POSTGRES, reason="set MOHS_POSTGRES to the address of a PostgreSQL database to run this")
def test_a_batch_is_left_to_who_looks_at_it_at_the_last_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    """One transaction finds a batch expired; before it takes it back, its annotator looks at it in another one."""
    name, clock = f"moment_{os.getpid()}", Clock()
    _drop(name)
    with Study.create(f"{POSTGRES}?study={name}", design(judges=1, batch=3), items(3)) as study:
        desk, ada, bob = Desk(study, clock), person(study), person(study, "bob")
        desk.agree(ada)
        looked: list[Phase] = []
        found = Cursor.all

        def then_ada_looks(self: Cursor, statement: str, *values: object) -> list[tuple[object, ...]]:
            rows = found(self, statement, *values)
            if "answer IS NULL AND expires <" in statement and rows and not looked:
                looked.append(desk.at(ada).phase)
            return rows

        monkeypatch.setattr(Cursor, "all", then_ada_looks)
        clock.now += 61
        assert desk.agree(bob).phase is Phase.WAIT
        assert looked == [Phase.TASK]
        assert answer_all(desk, ada) == 3
    _drop(name)


CUT = """
import os, signal, sys
from mohs.studies.database import Cursor
left = int(sys.argv[2])
def counted(name):
    call = getattr(Cursor, name)
    def counting(self, *values):
        global left
        found = call(self, *values)
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return found
    setattr(Cursor, name, counting)
for name in ("do", "many", "all", "one"):
    counted(name)
from tests.studies.toys import design, items
from mohs.studies.study import Study
Study.create(sys.argv[1], design(), items(3), seed=5).close()
"""


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield str(tmp_path / "s")
        return
    if not POSTGRES:
        pytest.skip("set MOHS_POSTGRES to the address of a PostgreSQL database to run this")
    name = f"cut_off_{os.getpid()}"
    _drop(name)
    yield f"{POSTGRES}?study={name}"
    _drop(name)


def killed(place: str, after: int) -> None:
    """Begin to make a study, and kill the process after so many statements."""
    ended = subprocess.run([sys.executable, "-c", CUT, place, str(after)], cwd=ROOT, check=False)
    assert ended.returncode == -signal.SIGKILL


def statements(place: str) -> int:
    """How many statements make a study: a look whether one is there, tables, indexes, facts and items."""
    return len(study_module._TABLES) + 3 + is_address(place)  # PostgreSQL has a lock besides


@pytest.mark.parametrize("share", [0.0, 0.3, 0.7, 1.0])
def test_a_start_that_was_killed_is_simply_repeated(place: str, share: float) -> None:
    """Killed after the first look, between tables, or when everything is written and not yet kept."""
    killed(place, max(1, int(share * statements(place))))
    with pytest.raises(BadInput, match="holds no study"):
        Study.open(place)
    with Study.create(place, design(), items(3), seed=5) as study:
        assert sorted(study.items(), key=lambda one: one.key) == items(3)
        assert study.design == design()
        study.invite(n=1)


def test_a_study_that_is_whole_stays_whatever_happened_to_the_start(place: str) -> None:
    killed(place, statements(place) + 1)
    with pytest.raises(BadInput, match="already holds a study"):
        Study.create(place, design(), items(3), seed=5)
    with Study.open(place) as study:
        assert sorted(study.items(), key=lambda one: one.key) == items(3)


def test_half_a_folder_is_gone_on_with(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").mkdir()
    (tmp_path / "file" / FILE).touch()
    for name in ("empty", "file"):
        with pytest.raises(BadInput, match="holds no study"):
            Study.open(tmp_path / name)
        with Study.create(tmp_path / name, design(), items(2)) as study:
            assert len(study.items()) == 2
