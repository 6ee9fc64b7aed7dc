"""Workers as many as help: what is found does not depend on them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import mohs
from mohs.errors import BadInput
from mohs.models.http import HttpVictim
from mohs.models.victim import traits_of
from mohs.models.wrapper import Wrapper
from mohs.runs import headcount, sharing
from mohs.runs.carry_out import Unnamed
from mohs.runs.headcount import Choice
from mohs.runs.settings import Settings, head_count
from mohs.runs.sharing import wanted
from mohs.runs.verbs import verb_of
from mohs.tasks import memory
from tests.cli.conftest import Mohs


def test_what_workers_may_be() -> None:
    assert [head_count(one) for one in (2, "2", "auto", "auto:4", " 3 ")] == [2, 2, "auto", "auto:4", 3]
    for one in (0, -1, "0", "auto:0"):
        with pytest.raises(BadInput, match=f"workers is {one}; it must be at least 1"):
            head_count(one)
    for bad in ("many", "auto:", "auto:x", "2.5", "", True):
        with pytest.raises(BadInput, match="it is a whole number, auto, or auto:N for at most N"):
            head_count(bad)


def test_several_devices_are_shared_without_being_told() -> None:
    one, two = ("cuda:0",), ("cuda:0", "cuda:1")
    assert [wanted(None, one), wanted(None, two), wanted("auto:3", two), wanted(4, two)] == [1, "auto", "auto:3", 4]
    with pytest.raises(BadInput, match="workers is 1, but there are 2 devices"):
        wanted(1, two)


def test_a_list_of_devices_has_the_folder_of_its_first() -> None:
    verb = verb_of("attack")()
    paths = {Unnamed.of(Settings(device=one), verb).path for one in ("cuda:0", "cuda:0,1", "cuda:0,cuda:3", "cuda:all")}
    assert len(paths) == 1
    assert Unnamed.of(Settings(device="cuda:1,0"), verb).path not in paths


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two workers pay after one search alone, however fast that is."""
    monkeypatch.setattr(headcount, "cores", lambda: 2)
    monkeypatch.setattr(memory, "room", lambda: None)
    monkeypatch.setattr(headcount, "_ALONE", 0.0)
    monkeypatch.setattr(sharing, "chosen", lambda *_: Choice(2, "for a test"))


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize("verb", ["attack", "radius"])
def test_records_do_not_depend_on_auto(verb: str, tmp_path: Path) -> None:
    call: Any = {"attack": mohs.attack, "radius": mohs.radius}[verb]
    how: dict[str, Any] = {"attacks": ["textfooler", "random"]} if verb == "attack" else {"max_r": 1}
    said: list[str] = []
    alone = call("pocket", "pocket", n=6, **how)
    with call("pocket", "pocket", n=6, workers="auto", at_once=1, said=said.append, out=tmp_path / "run", **how) as run:
        assert list(run.records()) == list(alone.records())
        assert run.effort()["workers"] == 2
        assert run.effort()["seconds"] > 0
    assert said[-1] == "Workers: 2 (for a test)."
    with call("pocket", "pocket", n=6, out=tmp_path / "run", **how) as resumed:  # the number is no part of the run
        assert len(resumed) == len(alone)


@pytest.mark.usefixtures("eager")
def test_a_run_that_goes_on_shares_what_is_left(tmp_path: Path) -> None:
    class Enough(Exception):
        pass

    def stop(record: Any, finished: int, total: int) -> None:
        if finished == 3:
            raise Enough

    def start(**more: Any) -> mohs.Run:
        return mohs.attack("pocket", "pocket", ["random"], n=8, at_once=1, out=tmp_path / "run", **more)

    with pytest.raises(Enough):
        start(progress=stop)
    with start(workers="auto") as run:
        assert list(run.records()) == list(mohs.attack("pocket", "pocket", ["random"], n=8).records())


@pytest.fixture
def no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    def started(*_: Any) -> None:
        raise AssertionError("a worker was started")

    monkeypatch.setattr(sharing, "spread", started)


@pytest.mark.usefixtures("no_others")
def test_a_short_run_starts_no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(headcount, "cores", lambda: 16)
    monkeypatch.setattr(memory, "room", lambda: None)
    monkeypatch.setattr(headcount, "_IMPORTS", 1e6)
    said: list[str] = []
    run = mohs.attack("pocket", "pocket", ["random"], n=10, workers="auto", said=said.append)
    assert len(run) == 10
    assert "workers" not in run.effort()
    assert said[-1] == "Workers: 1 (all was done before others could have started)."


@pytest.mark.usefixtures("no_others")
def test_an_object_stays_in_its_process() -> None:
    def flat(texts: list[str]) -> list[list[float]]:
        return [[0.5, 0.5] for _ in texts]

    said: list[str] = []
    run = mohs.attack(flat, [(f"a good film {i}", 0) for i in range(3)], ["random"], workers="auto", said=said.append)
    assert len(run) == 3
    assert said[-1].startswith("Workers: 1 (another process cannot load the victim or a model")


@pytest.mark.usefixtures("no_others")
def test_a_victim_elsewhere_has_one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    class Elsewhere(mohs.FunctionVictim):
        remote = True

    said: list[str] = []
    victim = Elsewhere(lambda texts: [[0.5, 0.5] for _ in texts], labels=["a", "b"])
    assert len(mohs.attack(victim, [("a good film", 0)], ["random"], workers="auto", said=said.append)) == 1
    assert said[-1] == "Workers: 1 (the victim answers from elsewhere, which more processes here do not speed up)."
    endpoint = HttpVictim("http://127.0.0.1:9/")
    assert traits_of(endpoint).remote
    assert traits_of(Wrapper(endpoint)).remote


def test_auto_on_the_command_line(mohs: Mohs, tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text("workers: auto\nn: 4\nattacks: [random]\n")
    for given in (["--workers", "auto", "--n", 4, "--attack", "random"], ["--config", "c.yaml"]):
        ended = mohs("attack", *given, "--json")
        assert ended.returncode == 0, ended.stderr
        assert json.loads(ended.stdout)["finished"] == 4
    ended = mohs("attack", "--workers", "some")
    assert ended.returncode == 2
    assert "workers is 'some'; it is a whole number, auto, or auto:N" in ended.stderr
    ended = mohs("attack", "--device", "tpu")
    assert ended.returncode == 2
    assert "Unknown device 'tpu'" in ended.stderr
