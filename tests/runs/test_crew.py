"""A run shared between the machines of a Ray cluster: here two nodes of one processor each on one machine."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import mohs
from mohs.errors import BadInput, ServiceFailed
from mohs.records import Record
from mohs.records.export import export
from mohs.runs import cluster, crew
from tests.cli.conftest import ROOT, started
from tests.runs.test_workers import alive, until
from tests.toys import Wordlike

ray: Any = pytest.importorskip("ray", reason="needs Ray: pip install 'mohs[ray]'")

# At a gloomy text: the first process that sees it, or every one, dies or hangs, as odd.txt says; the others answer.
ODD = """
import os, signal, time
HERE = os.path.dirname(os.path.abspath(__file__))
def odd(what):
    if what != "always":
        own = os.path.join(HERE, str(os.getpid()))
        with open(own, "w") as file:
            file.write(f"{os.getpid()} {os.getppid()}")
        try:
            os.link(own, os.path.join(HERE, "met.txt"))
        except FileExistsError:
            return
    if what == "hang":
        time.sleep(600)
    os.kill(os.getpid(), signal.SIGKILL)
def predict(texts):
    told = os.path.join(HERE, "odd.txt")
    if os.path.exists(told) and any("Gloomy" in text for text in texts):
        with open(told) as file:
            what = file.read()
        odd(what)
    return [[0.7, 0.3] if "film" in text else [0.2, 0.8] for text in texts]
"""
# The odd one is not among the first, which are asked before a run.
TEXTS = [(f"a fine film number {i}", 0) for i in range(24)] + [("Gloomy film", 0)]


class Nodes:
    """A cluster with a head that has no processors, and nodes with one each."""

    def __init__(self, count: int = 2) -> None:
        from ray.cluster_utils import Cluster

        quick = {
            "health_check_initial_delay_ms": 1000,
            "health_check_period_ms": 500,
            "health_check_failure_threshold": 10,
        }
        self._memory = {"object_store_memory": 80_000_000}
        with cluster._loopback():
            head = {"num_cpus": 0, "include_dashboard": False, "_system_config": quick, **self._memory}
            self._cluster = Cluster(initialize_head=True, head_node_args=head)
        self.address = f"ray:{self._cluster.address}"
        self.nodes = [self.added() for _ in range(count)]

    def added(self) -> Any:
        with cluster._loopback():
            return self._cluster.add_node(num_cpus=1, **self._memory)

    def replace_dead(self) -> None:
        for node in [node for node in self.nodes if node.dead_processes()]:
            self.nodes.remove(node)
            self._cluster.remove_node(node)
            self.nodes.append(self.added())

    def end(self) -> None:
        self._cluster.shutdown()


@pytest.fixture(scope="module")
def nodes() -> Iterator[Nodes]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        found = Nodes()
        yield found
        found.end()


@pytest.fixture
def odd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the odd victim, from which it is loaded."""
    (tmp_path / "odd.py").write_text(ODD)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "odd", raising=False)  # that of another test, in another folder
    monkeypatch.chdir(tmp_path)
    return tmp_path


def attacked(**options: Any) -> mohs.Run:
    return mohs.attack("python:odd:predict", TEXTS, ["random"], labels=["n", "p"], at_once=4, **options)


def exported(run: mohs.Run) -> str:
    out = io.StringIO()
    export(run.records(), "jsonl", None, out, run.view().columns)
    return out.getvalue()


WORDS: dict[str, Any] = {"vectors": "pocket", "tagger": "pocket", "encoder": "pocket"}
VERBS: Mapping[str, Callable[..., mohs.Run]] = {
    "attack": lambda **how: mohs.attack("pocket", "pocket", ["textfooler", "hotflip"], n=8, **WORDS, **how),
    "second-order": lambda **how: mohs.second_order_attack("pocket", "pocket", masked_lm=Wordlike(), n=4, k=2, **how),
    "bias": lambda **how: mohs.token_bias("pocket", "pocket", "gender", k=0, n=40, **how),
    "radius": lambda **how: mohs.radius("pocket", "pocket", attacks=["pdp"], share=["25%"], max_r=2, n=6, **how),
    "certify": lambda **how: mohs.certify("safer(pocket)", "pocket", n=4, budget="1", draws=50, alpha=0.1, **how),
}


@pytest.mark.parametrize("verb", VERBS)
def test_records_of_every_verb_do_not_depend_on_the_cluster(verb: str, nodes: Nodes) -> None:
    with VERBS[verb]() as alone, VERBS[verb](on=nodes.address) as shared:
        assert exported(shared) == exported(alone)
        assert list(shared.records()) == list(alone.records())
        assert set(shared.effort()) == set(alone.effort())
        assert (
            shared.effort()["forwards"] >= 0.9 * alone.effort()["forwards"]
        )  # how many are shared is up to the schedule
        assert shared.effort()["seconds"] > 0


@pytest.mark.parametrize("verb", VERBS)
def test_parts_of_a_run_on_the_cluster_are_joined(verb: str, nodes: Nodes, tmp_path: Path) -> None:
    for number in (1, 2):
        VERBS[verb](shard=f"{number}/2", on=nodes.address, out=tmp_path / f"{number}").close()
    with VERBS[verb]() as alone, mohs.merge([tmp_path / "1", tmp_path / "2"], tmp_path / "whole") as whole:
        assert exported(whole) == exported(alone)


def test_a_half_finished_folder_is_resumed_and_a_finished_one_needs_no_cluster(tmp_path: Path, nodes: Nodes) -> None:
    class Enough(Exception):
        pass

    def stop(record: Record | None, finished: int, total: int) -> None:
        if finished == 5:
            raise Enough

    def start(**how: Any) -> mohs.Run:
        return mohs.attack("pocket", "pocket", ["random", "textfooler"], n=8, **WORDS, **how)

    with pytest.raises(Enough):
        start(out=tmp_path / "run", on=nodes.address, progress=stop)
    with mohs.Run.open(tmp_path / "run") as run:
        assert len(run) == 5
    with start(out=tmp_path / "run", on=nodes.address) as run:
        assert exported(run) == exported(start())
    start(out=tmp_path / "run", on="ray:127.0.0.1:1").close()


def test_another_worker_takes_what_a_dead_one_held(odd: Path, nodes: Nodes) -> None:
    (odd / "odd.txt").write_text("die")
    with attacked(on=nodes.address) as shared:
        assert (odd / "met.txt").exists()
        (odd / "odd.txt").unlink()
        assert exported(shared) == exported(attacked())


def test_another_node_takes_what_a_lost_one_held(odd: Path, nodes: Nodes) -> None:
    """A worker hangs, until its node is killed: so the run cannot end without the other node."""
    (odd / "odd.txt").write_text("hang")

    def kill() -> None:
        until((odd / "met.txt").exists)
        os.kill(
            int((odd / "met.txt").read_text().split()[1]), signal.SIGKILL
        )  # the process that has the node's workers

    killer = threading.Thread(target=kill)
    killer.start()
    with attacked(on=nodes.address) as shared:
        killer.join()
        (odd / "odd.txt").unlink()
        assert exported(shared) == exported(attacked())
    nodes.replace_dead()


def test_an_example_that_kills_every_worker_ends_the_run_and_loses_nothing(odd: Path, nodes: Nodes) -> None:
    (odd / "odd.txt").write_text("always")
    with pytest.raises(ServiceFailed, match=r"died 3 times, .*; if memory ran out, use fewer workers"):
        attacked(on=nodes.address, out=odd / "run")
    with mohs.Run.open(odd / "run") as run:
        assert len(run) == 24
    (odd / "odd.txt").unlink()
    with attacked(on=nodes.address, out=odd / "run") as run:
        assert exported(run) == exported(attacked())


def test_a_killed_driver_loses_nothing_and_leaves_no_worker(odd: Path, nodes: Nodes) -> None:
    (odd / "odd.txt").write_text("hang")
    (odd / "d.jsonl").write_text("".join(json.dumps({"text": text, "label": label}) + "\n" for text, label in TEXTS))
    command = ["attack", "--victim", "python:odd:predict", "--labels", "n,p", "--data", "d.jsonl", "--attack", "random"]
    program = "import sys; from mohs.cli import main; sys.argv[1:1] = %r; main()" % [*command, "--out", "run"]
    with subprocess.Popen([sys.executable, "-c", program, "--on", nodes.address], cwd=odd) as driver:
        until((odd / "met.txt").exists)
        driver.kill()
    worker = int((odd / "met.txt").read_text().split()[0])
    until(lambda: not alive(worker))
    (odd / "odd.txt").unlink()
    assert started(odd, *command, "--out", "run", "--on", nodes.address).returncode == 0
    with mohs.Run.open(odd / "run") as run:
        assert len(run) == len(TEXTS)


def test_a_ray_of_its_own_ends_with_the_command(tmp_path: Path) -> None:
    """Modules of the current folder take no place of others in its workers, and nothing is written into one's home."""
    before = set(Path("/tmp").glob("mohs-ray-*"))
    for name in ("json", "csv", "sqlite3", "selectors", "numpy", "yaml", "lazy_loader"):
        (tmp_path / f"{name}.py").write_text(f"open('sprung-{name}', 'w')\nraise SystemExit(77)\n")
    ended = subprocess.run(
        [sys.executable, "-m", "mohs", "attack", "--n", "4", "--attack", "random", "--on", "ray", "--json"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "HOME": str(tmp_path / "home")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout)["finished"] == 4
    assert list(tmp_path.glob("sprung*")) == []
    assert not (tmp_path / "home").exists()
    assert set(Path("/tmp").glob("mohs-ray-*")) == before
    assert not [line for line in Path("/proc").glob("[0-9]*/cmdline") if b"/mohs-ray-" in line.read_bytes()]


@pytest.mark.parametrize("address", ["127.0.0.1:1", "127.0.0.1:99999"])
def test_nobody_answers(address: str) -> None:
    told = f"^No Ray cluster answers at {address}; `ray status --address {address}` shows one that does\\.$"
    with pytest.raises(ServiceFailed, match=told):
        mohs.attack("pocket", "pocket", ["random"], n=2, on=f"ray:{address}")


def test_a_cluster_that_asks_for_a_token() -> None:
    key = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": "0" * 64, "RAY_USAGE_STATS_ENABLED": "0"}
    with cluster._tokens(key):
        found = Nodes(0)
        try:
            with cluster.joined(found.address, None) as joined:
                assert joined.is_initialized()
            with pytest.MonkeyPatch.context() as patch:
                for name in key:
                    patch.delenv(name)
                with (
                    cluster._tokens({}),
                    pytest.raises(ServiceFailed, match=r"asks for a token; .* RAY_AUTH_MODE=token"),
                ):
                    mohs.attack("pocket", "pocket", ["random"], n=2, on=found.address)
        finally:
            found.end()


def test_what_the_workers_cannot_load_is_refused(nodes: Nodes) -> None:
    def flat(texts: list[str]) -> list[list[float]]:
        return [[0.5, 0.5] for _ in texts]

    with pytest.raises(BadInput, match="Several workers need a victim that each can load by name"):
        mohs.attack(flat, [("a good film", 0)], ["random"], on=nodes.address)
    with pytest.raises(BadInput, match="No machine of the Ray cluster offers a GPU; use --device cpu"):
        mohs.attack("pocket", "pocket", ["random"], n=2, device="cuda", on=nodes.address)


def test_a_workers_refusal_is_the_commands(odd: Path, nodes: Nodes) -> None:
    """The module can be read here, and not by the workers."""
    (odd / "shy.py").write_text(
        "import os\n"
        "if 'RAY_RAYLET_PID' in os.environ:\n    raise ValueError('not here')\n"
        "def predict(texts):\n    return [[0.5, 0.5] for _ in texts]\n"
    )
    with pytest.raises(BadInput, match=r"^python:shy:predict: importing shy failed with ValueError: not here$"):
        mohs.attack("python:shy:predict", TEXTS[:2], ["random"], on=nodes.address)


def test_a_machine_with_other_files_is_refused(odd: Path, nodes: Nodes) -> None:
    (odd / "two.py").write_text("predict = lambda texts: [[0.5, 0.5] for _ in texts]\n")
    (odd / "fickle.py").write_text(
        "import two\nwith open('two.py', 'a') as file:\n    file.write('#')\nfrom odd import predict\n"
    )
    with pytest.raises(
        BadInput, match=r"has another victim_origin than this machine \(.* there, .* here\); give every"
    ):
        mohs.attack("python:fickle:predict", TEXTS[:2], ["random"], on=nodes.address, workers=1)


def test_no_worker_finds_a_place(nodes: Nodes, monkeypatch: pytest.MonkeyPatch) -> None:
    class Taker:
        def ready(self) -> bool:
            return True

    monkeypatch.setattr(crew, "_SECONDS_TO_START", 1.0)
    with cluster.joined(nodes.address, None) as joined:
        takes = joined.remote(num_cpus=1)(Taker)
        others = [takes.remote() for _ in range(2)]
        joined.get([other.ready.remote() for other in others])
        with pytest.raises(ServiceFailed, match="No worker found a place within 1 s on the Ray cluster"):
            mohs.attack("pocket", "pocket", ["random"], n=2, on=nodes.address)
