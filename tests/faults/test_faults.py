"""A few cases of each fault, and that the counting sees what it is to see. `benchmarks/faults.py` tries many."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from tests.cli.damages import JOURNAL
from tests.faults import fuzz
from tests.faults.kills import kills
from tests.faults.nurse import Ended, Nurse
from tests.faults.tally import Tally, added, table
from tests.faults.undisturbed import Attempt, Undisturbed, stage
from tests.faults.writes import places, writes

Stage = tuple[Nurse, list[Undisturbed]]


@pytest.fixture(scope="module")
def radius() -> Iterator[Stage]:
    with stage("radius", rows=6) as found:
        yield found


def test_kills(radius: Stage) -> None:
    (tally,) = kills(radius[1], 3, seed=0)
    assert tally.cases >= 3
    assert tally.notes == []


def test_failing_writes(radius: Stage) -> None:
    kinds = {radius[1][0].writes[at - 1] for at in places(radius[1][0], Random(0), 12)}
    assert {"open", "write", "fsync", "rename", "replace", "sqlite open"} <= kinds  # so SQLite's own are among them
    assert any(kind.startswith("sqlite pwrite") for kind in radius[1][0].writes)
    (tally,) = writes(radius[1], 8, seed=0)
    assert (tally.cases, tally.notes) == (8, [])


def test_a_failing_write_is_told_and_resumed(radius: Stage) -> None:
    nurse, (whole,) = radius
    attempt = Attempt(whole, nurse.scene / "told", Tally("told"))
    at = whole.writes.index("rename") + 1
    ended = attempt.run("no room", sabotage={"folder": str(nurse.scene), "at": at, "action": "ENOSPC"})
    assert ended.status == 2
    assert ended.sentence == (
        f"The run folder {nurse.scene / 'told'} cannot be written (No space left on device); make room or choose "
        "another --out.\n"
    )
    attempt.finish()
    assert attempt.tally.notes == []


def test_certificates_that_cannot_be_written(radius: Stage) -> None:
    nurse, (whole,) = radius
    attempt = Attempt(whole, nurse.scene / "certified", Tally("certified"))
    at = len(whole.writes) - whole.writes[::-1].index("replace")  # the last file to be put in place
    ended = attempt.run("no room", sabotage={"folder": str(nurse.scene), "at": at, "action": "ENOSPC"})
    file = nurse.scene / "certified" / "certificates.jsonl"
    assert ended.sentence == f"{file} cannot be written (No space left on device); the run itself is untouched.\n"
    assert sorted(path.name for path in file.parent.glob("cert*")) == []  # nor half of them
    again = attempt.run("nothing")
    assert (again.status, attempt.tally.notes) == (0, [])
    assert file.read_text("utf-8").endswith("}\n")


def test_what_is_lost_or_changed_is_counted(radius: Stage) -> None:
    nurse, (whole,) = radius
    tally = Tally("test")
    attempt = Attempt(whole, nurse.scene / "counted-on", tally)
    attempt.run("nothing")
    assert tally.faults == 0
    attempt.saved.add("radius r99")
    attempt.compare()
    assert tally.lost == 1
    whole.expected["radius r0"]["queries"] += 1
    attempt.compare_whole()
    whole.expected["radius r0"]["queries"] -= 1
    assert tally.wrong == 1
    with sqlite3.connect(attempt.out / JOURNAL) as db:
        db.execute("DELETE FROM records WHERE number = 0")
    db.close()
    attempt.compare()  # which is refused as damaged
    assert tally.lost == 2
    tally.ended(Ended(None, 1.0, True, False, False, "", "Traceback ...", (), ()), "made up")
    assert (tally.hangs, tally.tracebacks) == (1, 1)
    (total,) = added([tally, Tally("test", cases=3)])
    assert (total.cases, total.lost, total.faults) == (3, 2, 5)
    assert table([total]).splitlines()[1].split() == ["test", "3", "2", "1", "1", "1"]


def test_fuzzed_certificates() -> None:
    tally = fuzz.fuzz_certificates(150, seed=0)
    assert (tally.cases, tally.notes) == (150, [])


def test_a_false_certificate_is_known_as_one(tmp_path: Path) -> None:
    good = fuzz.certificates()
    assert {row["radius"] for row in good} == {1, 2}
    assert all(map(fuzz.true, good))
    row = json.loads(json.dumps(next(row for row in good if row["text"] == ["a b c"])))
    assert not fuzz.true({**row, "radius": 2})


def test_fuzzed_caches() -> None:
    tally = fuzz.fuzz_cache(20, seed=0)
    assert (tally.cases, tally.notes) == (20, [])


def test_fuzzed_folders() -> None:
    for tally in (fuzz.fuzz_manifests(4, seed=0), fuzz.fuzz_records(4, seed=0)):
        assert (tally.cases, tally.notes) == (4, [])
