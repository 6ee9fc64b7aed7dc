"""How many workers `--workers auto` takes, and why."""

from __future__ import annotations

from itertools import count
from types import SimpleNamespace

import pytest

from mohs.attacks.verb import AttackVerb
from mohs.engine import Service
from mohs.runs import headcount
from mohs.runs.headcount import Choice, Measured, Trial, ceiling, chosen, device_of, divided, most_of, timed
from mohs.runs.job import Job, job_of
from mohs.runs.settings import Settings
from mohs.tasks import memory
from tests.toys import WordCount

MOST = Choice(16, "one for each core")


def seconds(each: float, device: float = 0.0, idle: float = 0.0) -> Measured:
    """What a hundred examples took."""
    return Measured(seconds=100 * each, finished=100, on_device=device * 100 * each, idle=idle)


@pytest.mark.parametrize(
    ("seen", "left", "shared", "workers", "why"),
    [
        (seconds(8.0), 1000, False, 16, "one for each core"),  # a slow model on a CPU
        (seconds(8.0), 6, False, 4, "about 48 s of work, and 5 s to start each"),  # ... and few examples
        (seconds(0.01), 400, False, 1, "about 4 s of work, and 5 s to start each"),  # a fast model
        (seconds(2.0, idle=0.9), 1000, False, 1, "for 90% of the time it did nothing"),  # a function that asks others
        (seconds(2.0, idle=0.9), 1000, True, 16, "one for each core"),  # which a device may cause
        (seconds(2.0, device=0.9), 1000, True, 1, "alone, 90% of the time went by with waiting for the device"),
        (seconds(2.0, device=0.5), 1000, True, 3, "alone, 50% of the time went by with waiting for the device"),
        (seconds(2.0, device=0.1), 1000, True, 16, "one for each core"),
        (seconds(8.0), 0, False, 1, "all was done before others could have started"),
    ],
)
def test_what_is_measured_decides(seen: Measured, left: int, shared: bool, workers: int, why: str) -> None:
    found = chosen(seen, left, 3.0, MOST, 1, shared)
    assert found.workers == workers
    assert found.why.startswith(why)
    assert found.note == f"Workers: {workers} ({found.why})."


def test_each_device_wants_workers_of_its_own() -> None:
    assert chosen(seconds(2.0, device=0.5), 1000, 3.0, MOST, 3, True).workers == 9


def test_cores_and_memory_and_the_user_set_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    job = job_of(Settings(n=4), AttackVerb(attacks=("random",)))
    monkeypatch.setattr(headcount, "cores", lambda: 8)
    monkeypatch.setattr(memory, "room", lambda: None)
    assert ceiling(job, 1000, None, 1) == Choice(8, "one for each core")
    assert ceiling(job, 1000, 3, 1) == Choice(3, "no more were asked for")
    assert ceiling(job, 5, None, 1) == Choice(5, "one for each attempt")
    monkeypatch.setattr(memory, "room", lambda: 2)
    assert ceiling(job, 1000, None, 1) == Choice(3, "free memory has room for 2 more processes like the first")
    monkeypatch.setattr(memory, "room", lambda: 0)
    assert ceiling(job, 1000, None, 1).workers == 1


def test_copies_on_a_device_need_room_there(monkeypatch: pytest.MonkeyPatch) -> None:
    job = job_of(Settings(n=4), AttackVerb(attacks=("random",)))
    monkeypatch.setattr(headcount, "cores", lambda: 64)
    monkeypatch.setattr(memory, "room", lambda: None)
    monkeypatch.setattr(headcount, "device_of", lambda service: "cuda:0")
    monkeypatch.setattr(headcount, "room_on", {"cuda:0": 4}.get)
    assert ceiling(job, 1000, None, 1) == Choice(4, "cuda:0 has room for 4 more copies of the models")
    assert ceiling(job, 1000, None, 3).workers == 12


def test_memory_has_room_for_so_many_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "_free", lambda: 1 << 50)
    many = memory.room()
    assert many is not None
    assert many > 1000
    monkeypatch.setattr(memory, "_free", lambda: 1)
    assert memory.room() == 0
    monkeypatch.setattr(memory, "_free", lambda: None)
    assert memory.room() is None


def test_runs_at_once_share_the_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(headcount, "cores", lambda: 16)
    assert [divided(workers, 3) for workers in (None, 2, "auto", "auto:2", "auto:9")] == [
        None,
        2,
        "auto:5",
        "auto:2",
        "auto:5",
    ]
    assert divided("auto", 99) == "auto:1"
    assert [most_of(workers) for workers in (None, 4, "auto:7", "auto")] == [1, 4, 7, None]


def test_what_waiting_for_answers_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = count()
    monkeypatch.setattr(headcount, "time", SimpleNamespace(perf_counter=clock.__next__))
    model = WordCount({})
    service: Service[tuple[str, ...], tuple[float, ...]] = Service(model)
    with timed([service]) as (one,):
        assert service.again([("a",), ("b",)]) == model.collect([("a",), ("b",)])
    assert one.seconds == 1
    assert service.model is model


def test_a_model_says_where_it_is() -> None:
    class On:
        device = "cuda:1"

    class Around:
        victim = On()

    def at(model: object) -> str:
        service: Service[str, str] = Service.__new__(Service)
        service.model = model  # type: ignore[assignment]
        return device_of(service)

    assert [at(model) for model in (On(), Around(), WordCount({}))] == ["cuda:1", "cuda:1", "cpu"]


def tried(job: Job) -> tuple[Trial, int]:
    trial = Trial()
    return trial, len(list(trial.records(job, set())))


def test_the_first_searches_are_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    job = job_of(Settings(n=6, at_once=1), AttackVerb(attacks=("random",)))
    monkeypatch.setattr(headcount, "_IMPORTS", 1e6)  # time enough for all
    trial, found = tried(job)
    assert found == trial.finished == 6
    assert trial.seconds > 0
    assert trial.on_device == 0
    monkeypatch.setattr(headcount, "_ALONE", 0.0)  # time for none, and one is tried all the same
    trial, found = tried(job)
    assert found == trial.finished == 1
