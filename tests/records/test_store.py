from __future__ import annotations

import errno
import fcntl
import os
import re
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from mohs.errors import BadInput, MohsError
from mohs.records import Outcome, Record, RunStore
from mohs.records.limited_yaml import read_yaml
from mohs.records.store import JOURNAL, LOCK, MANIFEST, read_manifest

steady = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
SETUP: dict[str, Any] = {"command": "attack", "tasks": ["b", "a"], "config": {"attacks": ["b", "a"]}}
IDENTITY: dict[str, Any] = {"seed": 0, "attacks": ["b", "a"]}


def record(example: str, attack: str = "a", **changes: Any) -> Record:
    return Record(attack, example, Outcome.FAILED, 0, ("text",), ("a b",), 0, 2, **changes)


def start(folder: Path | None, **changes: Any) -> RunStore:
    return RunStore.open(folder, SETUP, {**IDENTITY, **changes})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "run"


@pytest.fixture
def store(folder: Path) -> Iterator[RunStore]:
    made = start(folder)
    yield made
    made.close()


def refused(error: type[MohsError], call: Any, *arguments: Any) -> str:
    """The sentence a call is refused with."""
    with pytest.raises(error) as caught:
        call(*arguments)
    assert len(str(caught.value).splitlines()) == 1
    return str(caught.value)


def test_records_are_kept(folder: Path) -> None:
    store = start(folder)
    assert len(store) == 0
    assert list(store.records()) == []
    first = record("1", queries=3, measures={"similarity": 0.5}, error="é\n")
    store.add(0, first)
    store.add(1, record("2"))
    store.close()
    again = start(folder)
    assert list(again.records()) == [first, record("2")]
    assert again.done() == {("a", "1"), ("a", "2")}
    assert len(again) == 2
    again.close()
    assert sorted(p.name for p in folder.iterdir()) == [JOURNAL, LOCK, MANIFEST]


def test_records_come_by_attack_and_then_in_the_order_of_the_data(store: RunStore) -> None:
    for number, name, attack in [
        (10, "x", "a"),
        (2, "y", "a"),
        (2, "z", "b"),
        (1, "x", "b"),
        (0, "w", "0"),
        (9, "v", "a"),
    ]:
        store.add(number, record(name, attack))
    found = [(r.attack, r.example_id) for r in store.records()]
    assert found == [("b", "x"), ("b", "z"), ("a", "y"), ("a", "v"), ("a", "x"), ("0", "w")]


def test_the_same_example_again_takes_the_place_of_the_first(store: RunStore) -> None:
    store.add(0, record("1"))
    store.add(0, record("1", queries=9))
    assert list(store.records()) == [record("1", queries=9)]


def test_effort_adds_up(folder: Path) -> None:
    store = start(folder)
    assert store.effort() == {}
    store.spend(seconds=1.5, forwards=2)
    store.close()
    again = start(folder)
    again.spend(seconds=0.5)
    assert again.effort() == {"forwards": 2.0, "seconds": 2.0}
    again.close()


def test_without_a_folder_records_stay_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    store = start(None)
    store.add(0, record("1"))
    assert list(store.records()) == [record("1")]
    assert store.folder is None
    assert len(start(None)) == 0
    store.close()
    assert list(tmp_path.iterdir()) == []


def test_odd_names_of_folders(tmp_path: Path) -> None:
    for name in ("with space", "100%25", "what?#", "é", os.fsdecode(b"\xff")):
        store = start(tmp_path / name)
        store.add(0, record("1"))
        store.close()
        assert (tmp_path / name / JOURNAL).is_file()
        reader = RunStore.read(tmp_path / name)
        assert len(reader) == 1
        reader.close()


def test_every_finished_example_is_saved_at_once(store: RunStore, folder: Path) -> None:
    for number in range(3):
        store.add(number, record(str(number)))
        assert not store._db.in_transaction
        reader = RunStore.read(folder)
        assert len(reader) == number + 1
        reader.close()


def test_many_records_are_saved_together_or_not_at_all(store: RunStore, folder: Path) -> None:
    def lines(last: int, fault: bool = False) -> Iterator[tuple[str, str, int, str]]:
        for number in range(last):
            yield "a", str(number), number, record(str(number)).to_json()
        if fault:
            raise KeyboardInterrupt

    store.add_lines(lines(3))
    with pytest.raises(KeyboardInterrupt):
        store.add_lines(lines(9, fault=True))
    reader = RunStore.read(folder)  # which compares the records with their tally
    assert len(reader) == 3
    assert sorted(reader.lines()) == list(lines(3))
    reader.close()


def test_what_was_finished_outlives_a_kill(folder: Path) -> None:
    program = """
import os, signal, sys
from pathlib import Path
from mohs.records import Outcome, Record, RunStore
store = RunStore.open(Path(sys.argv[1]), {"config": {}}, {"seed": 0})
for number in range(3):
    store.add(number, Record("a", str(number), Outcome.FAILED, 0, ("text",), ("a b",), 0, 2))
os.kill(os.getpid(), signal.SIGKILL)
"""
    ended = subprocess.run([sys.executable, "-c", program, str(folder)], check=False)
    assert ended.returncode == -signal.SIGKILL
    again = RunStore.open(folder, {"config": {}}, {"seed": 0})
    assert [r.example_id for r in again.records()] == ["0", "1", "2"]
    again.add(3, record("3"))
    assert len(again) == 4
    again.close()


def test_a_changed_configuration_is_refused_with_the_difference(folder: Path) -> None:
    start(folder).close()
    with pytest.raises(BadInput) as caught:
        start(folder, seed=1, attacks=["b"], goal="targeted:1")
    assert str(caught.value).splitlines() == [
        f"{folder} holds a run with other settings, or of another victim or data:",
        "  seed: 0 in the folder, 1 asked for",
        "  attacks: ['b', 'a'] in the folder, ['b'] asked for",
        "  goal: None in the folder, 'targeted:1' asked for",
        "Use the same settings to resume it, or choose another --out.",
    ]
    start(folder).close()  # the refusal let the lock go and changed nothing
    with pytest.raises(BadInput, match="seed: 0 in the folder, None asked for"):
        RunStore.open(folder, SETUP, {"attacks": ["b", "a"]})


def test_a_manifest_that_was_changed_is_named(folder: Path) -> None:
    start(folder).close()
    text = (folder / MANIFEST).read_text()
    (folder / MANIFEST).write_text(text.replace("seed: 0", "seed: 1"))
    with pytest.raises(BadInput) as caught:
        start(folder)
    assert "  seed: 1 in the folder, 0 asked for\n" in str(caught.value)
    assert str(caught.value).endswith(f" {folder / MANIFEST} is not what the run wrote; a copy may help.")


def test_going_on_keeps_the_first_manifest(folder: Path) -> None:
    RunStore.open(folder, {**SETUP, "facts": {"python": "1"}}, IDENTITY).close()
    before = (folder / MANIFEST).read_bytes()
    again = RunStore.open(folder, {**SETUP, "facts": {"python": "2"}}, IDENTITY)
    assert again.manifest == {**SETUP, "facts": {"python": "1"}, "identity": IDENTITY}
    assert (folder / MANIFEST).read_bytes() == before
    again.close()


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(st.characters(), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


@steady
@given(st.dictionaries(st.text(max_size=6), plain, max_size=4))
@example({"data": "caf\x85é\u2028\u2029"})
@example({"data": os.fsdecode(b"\xff"), "1": "1", "labels": ["no", "yes", "~", "1e3", "2001-01-01", " a\r\n"]})
def test_any_configuration_is_the_same_when_read_back(
    tmp_path_factory: pytest.TempPathFactory, identity: dict[str, Any]
) -> None:
    folder = tmp_path_factory.mktemp("run")
    RunStore.open(folder, SETUP, identity).close()
    assert read_manifest(folder)["identity"] == identity
    RunStore.open(folder, SETUP, identity).close()


def test_a_second_writer_is_refused(store: RunStore, folder: Path) -> None:
    assert refused(BadInput, start, folder) == (
        f"Another process is writing to the run {folder}; wait for it or choose another --out."
    )
    store.add(0, record("1"))
    store.close()
    store.close()
    again = start(folder)
    assert len(again) == 1
    again.close()


def test_a_lock_that_cannot_be_had(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_locks(*arguments: Any) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", no_locks)
    assert refused(BadInput, start, folder) == (
        f"The run folder {folder} cannot be written (No locks available); make room or choose another --out."
    )


def test_reading_while_another_writes(store: RunStore, folder: Path) -> None:
    store.add(0, record("1"))
    reader = RunStore.read(folder)
    seen = reader.records()
    assert next(seen).example_id == "1"
    store.add(1, record("2"))  # while a read is under way
    store.spend(seconds=1)
    list(seen)
    assert [r.example_id for r in reader.records()] == ["1", "2"]
    assert reader.effort() == {"seconds": 1.0}
    reader.close()
    store.add(2, record("3"))  # and after the reader has gone
    assert len(store) == 3
    assert refused(BadInput, start, folder).startswith("Another process is writing")


def test_reading_needs_no_lock(folder: Path) -> None:
    start(folder).close()
    reader = RunStore.read(folder)
    start(folder).close()
    reader.close()


def test_reading_a_folder_that_may_not_be_written(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = start(folder)
    store.add(0, record("1"))
    plain_connect: Callable[..., sqlite3.Connection] = sqlite3.connect
    asked = []

    def connect(place: str, **options: Any) -> sqlite3.Connection:
        asked.append(place.partition("?")[2])
        if "mode=ro" in place:
            return plain_connect(place, **options)
        error = sqlite3.OperationalError("attempt to write a readonly database")
        error.sqlite_errorcode = sqlite3.SQLITE_READONLY
        raise error

    monkeypatch.setattr(sqlite3, "connect", connect)
    reader = RunStore.read(folder)
    assert list(reader.records()) == [record("1")]  # also what is still in the log
    assert refused(MohsError, reader.add, 1, record("2")).startswith(
        f"The run {folder} cannot be saved (attempt to write"
    )
    reader.close()
    store.close()
    reader = RunStore.read(folder)
    assert list(reader.records()) == [record("1")]
    reader.close()
    assert asked == ["", "mode=ro", "", "mode=ro&immutable=1"]
    assert "cannot be saved (attempt to write" in refused(MohsError, start, folder)


def test_a_full_disk(folder: Path) -> None:
    store = start(folder)
    store.add(0, record("1"))
    pages = store._db.execute("PRAGMA page_count").fetchone()[0]
    store._db.execute(f"PRAGMA max_page_count={pages}")
    large = record("2", error="x" * 100_000)
    assert refused(MohsError, store.add, 1, large) == (
        f"The run {folder} cannot be saved (database or disk is full); everything finished before is kept. "
        "Make room or repair the folder, then run the same command again."
    )
    assert list(store.records()) == [record("1")]
    reader = RunStore.read(folder)
    assert list(reader.records()) == [record("1")]
    reader.close()
    store._db.execute("PRAGMA max_page_count=1000000")  # room again
    store.add(1, large)
    store.close()
    again = start(folder)
    assert list(again.records()) == [record("1"), large]
    again.close()


def test_files_that_may_not_grow(folder: Path) -> None:
    program = """
import resource, sys
from pathlib import Path
from mohs.errors import MohsError
from mohs.records import Outcome, Record, RunStore
store = RunStore.open(Path(sys.argv[1]), {"config": {}}, {"seed": 0})
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    for number in range(100):
        store.add(number, Record("a", str(number), Outcome.FAILED, 0, ("text",), ("a" * 5_000,), 0, 2))
except MohsError as error:
    print(number, len(store), error)
"""
    ended = subprocess.run([sys.executable, "-c", program, str(folder)], capture_output=True, text=True, check=True)
    number, kept, sentence = ended.stdout.split(maxsplit=2)
    assert 0 < int(number) == int(kept) < 100
    assert sentence.startswith(f"The run {folder} cannot be saved (")
    again = RunStore.open(folder, {"config": {}}, {"seed": 0})
    assert [int(r.example_id) for r in again.records()] == list(range(int(kept)))
    again.close()


def test_a_full_disk_at_the_start(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        assert refused(BadInput, start, folder) == (
            f"The run folder {folder} cannot be written (No space left on device); make room or choose another --out."
        )
    assert [p.name for p in folder.iterdir()] == [LOCK]
    start(folder).close()


def test_foreign_files_are_left_alone(folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "thesis.tex").write_text("mine")
    assert refused(BadInput, start, folder) == (
        f"{folder} holds other files (thesis.tex) and no run; choose a new folder with --out."
    )
    assert [p.name for p in folder.iterdir()] == ["thesis.tex"]


def test_an_empty_folder_will_do(folder: Path) -> None:
    folder.mkdir(parents=True)
    start(folder).close()
    assert read_manifest(folder)["identity"] == IDENTITY


def test_a_kill_while_the_manifest_is_written_leaves_a_usable_folder(folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / LOCK).touch()
    (folder / f"{MANIFEST}.new").write_text("config: {att")
    start(folder).close()
    assert sorted(p.name for p in folder.iterdir()) == [JOURNAL, LOCK, MANIFEST]


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    assert refused(BadInput, start, file) == f"{file} is a file; --out names a folder for the run."
    assert refused(BadInput, start, file / "run") == (
        f"The run folder {file / 'run'} cannot be written (Not a directory); make room or choose another --out."
    )


# Seven lines that stand for a million words: nine would fill the memory.
BOMB = b"a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + b"".join(
    b"a%d: &a%d [%s]\n" % (level, level, b", ".join([b"*a%d" % (level - 1)] * 10)) for level in range(1, 6)
)


@pytest.mark.parametrize(
    ("manifest", "fault"),
    [
        (b"", "is not a run's manifest"),
        (b"hello", "is not a run's manifest"),
        (b"[1, 2]", "is not a run's manifest"),
        (b"config: {}", "is not a run's manifest"),
        (b"config: {}\nidentity: 5", "is not a run's manifest"),
        (b"config:\nidentity: {}", "is not a run's manifest"),
        (b"config: {", "cannot be read (while parsing"),
        (b"config: !!python/object:os.system {}", "cannot be read (could not determine a constructor"),
        (b"config: 2001-99-99", "cannot be read (month must be in 1..12"),
        (b"\xff\xfe\xfa", "cannot be read ('utf-8' codec can't decode"),
        (b"a: &a [1, *a]", "cannot be read (it has an alias that stands for itself"),
        (BOMB, "cannot be read (its aliases stand for too much"),
        (b"a: &a {x: 1}\nb: {<<: [*a, *a]}", "cannot be read (it has a merge key (<<); write the values out"),
        (b"a: " + b"[" * 1500, "cannot be read (maximum recursion depth exceeded"),
    ],
)
def test_a_broken_manifest(folder: Path, manifest: bytes, fault: str) -> None:
    start(folder).close()
    (folder / MANIFEST).write_bytes(manifest)
    for call in (lambda: start(folder), lambda: RunStore.read(folder)):
        sentence = refused(BadInput, call)
        assert sentence.startswith(f"{folder / MANIFEST} {fault}")
        assert sentence.endswith("; restore it from a copy or choose another --out.")
    assert (folder / MANIFEST).read_bytes() == manifest


def test_a_pipe_or_device_is_neither_read_nor_written(folder: Path) -> None:
    start(folder).close()
    (folder / MANIFEST).rename(folder / "kept")
    (folder / MANIFEST).symlink_to("/dev/null")  # of /dev/zero there is no end
    for call in (lambda: start(folder), lambda: RunStore.read(folder)):
        assert refused(BadInput, call) == f"{folder / MANIFEST} is a pipe or a device and not a file; delete it."
    (folder / "kept").rename(folder / MANIFEST)
    (folder / LOCK).unlink()
    os.mkfifo(folder / LOCK)
    reader = os.open(folder / LOCK, os.O_RDONLY | os.O_NONBLOCK)  # without it, opening would wait for ever
    assert refused(BadInput, start, folder) == f"{folder / LOCK} is a pipe or a device and not a file; delete it."
    os.close(reader)


def test_yaml_may_have_some_aliases() -> None:
    told = read_yaml("a: &a [x, y]\nb: [*a, *a]\nc: &c one\nd: *c")
    assert told == {"a": ["x", "y"], "b": [["x", "y"]] * 2, "c": "one", "d": "one"}


def test_names_of_values_are_texts() -> None:
    """Plain `on`, `yes` and `no` are flags in YAML; as names they are words like others."""
    assert read_yaml("on: [first]\nno: yes\n1: off") == {"on": ["first"], "no": True, 1: False}


def test_reading_what_is_no_run(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "missing"):
        assert refused(BadInput, RunStore.read, folder) == (
            f"{folder} is not a run: there is no {MANIFEST} in it; `mohs runs` lists runs."
        )
    (tmp_path / MANIFEST).write_text(yaml.safe_dump({"config": {}, "identity": {}}))
    assert refused(BadInput, RunStore.read, tmp_path) == (
        f"{tmp_path} holds a manifest but no journal: the run never started; start it again."
    )
    assert [p.name for p in tmp_path.iterdir()] == [MANIFEST]


def test_a_journal_that_is_none(folder: Path) -> None:
    start(folder).close()
    (folder / JOURNAL).write_bytes(b"junk" * 2000)
    for call in (RunStore.read, start):
        assert refused(MohsError, call, folder) == (
            f"{folder / JOURNAL} is damaged (file is not a database); restore it from a copy or run again with "
            f"another --out (`mohs export {folder} --salvage` writes the 0 records that can still be read)."
        )


def test_a_damaged_journal(folder: Path) -> None:
    store = start(folder)
    for number in range(200):
        store.add(number, record(str(number), error="x" * 200))
    store.close()
    reader = RunStore.read(folder)
    reader.close()
    assert "cannot be read" in refused(MohsError, reader.effort)
    size = (folder / JOURNAL).stat().st_size
    with (folder / JOURNAL).open("r+b") as file:
        file.seek(size - 8192)
        file.write(b"\xff" * 8192)
    for call in (RunStore.read, start):
        sentence = refused(MohsError, call, folder)
        assert sentence.startswith(f"{folder / JOURNAL} is damaged (")
        found = re.search(r"writes the (\d+) records that can still be read", sentence)
        assert found
        assert 100 < int(found[1]) < 200


def test_a_manifest_without_attacks(folder: Path) -> None:
    for config in ({}, {"attacks": None}):
        store = RunStore.open(None, {"config": config}, {})
        store.add(1, record("2", "b"))
        store.add(0, record("1", "a"))
        assert [r.attack for r in store.records()] == ["a", "b"]
        store.close()


def test_of_what_differs_inside_only_the_shared_is_shown(folder: Path) -> None:
    RunStore.open(folder, SETUP, {"attacks": ["a", "b"], "settings": {"a": "A(1)", "b": "B(1)"}}).close()
    asked = {"attacks": ["a", "c"], "settings": {"a": "A(2)", "c": "C(1)"}}
    with pytest.raises(BadInput) as caught:
        RunStore.open(folder, SETUP, asked)
    assert str(caught.value).splitlines()[1:-1] == [
        "  attacks: ['a', 'b'] in the folder, ['a', 'c'] asked for",
        "  settings of a: 'A(1)' in the folder, 'A(2)' asked for",
    ]
    with pytest.raises(BadInput, match=r"settings of b: 'B\(1\)' in the folder, None asked for"):
        RunStore.open(folder, SETUP, {"attacks": ["a", "b"], "settings": {"a": "A(1)"}})


def test_a_folder_of_runs_names_them(tmp_path: Path) -> None:
    for number in range(7):
        start(tmp_path / f"run{number}").close()
        os.utime(tmp_path / f"run{number}" / MANIFEST, (number, number))
    newest = ", ".join(str(tmp_path / f"run{number}") for number in (6, 5, 4, 3, 2))
    assert refused(BadInput, RunStore.read, tmp_path) == (
        f"{tmp_path} is not a run: there is no {MANIFEST} in it; the runs inside are {newest} and 2 more."
    )
