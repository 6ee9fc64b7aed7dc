"""Examples a second of a Ray cluster with one node and with two, of one processor each, all on this machine.

    python benchmarks/cluster.py [--n 864] [--attack greedy] [--rounds 3]

Needs Ray (pip install 'mohs[ray]') and two idle cores; on a busy machine the figures say little. The victim is a word
CNN, trained here in seconds. Starting and loading are not counted: a rate is taken from the first record of a run to
its last. One node and two take turns, so that other work on the machine slows both alike. Printed are the rates of each
round, and the ratio of the medians, which should be at least 1.7. The processor's time for an example, that of the
process which writes included, does not depend on other work: it says what sharing costs.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

os.environ |= {"OMP_NUM_THREADS": "1", "RAY_USAGE_STATS_ENABLED": "0"}

import mohs
from mohs.records import Record
from mohs.runs.cluster import _loopback
from mohs.training.train import train

LIMIT = 1.7


class Nodes:
    """A cluster with a head that has no processors, and a number of nodes with one each."""

    def __init__(self, count: int) -> None:
        from ray.cluster_utils import Cluster

        memory: dict[str, Any] = {"object_store_memory": 100_000_000}
        with _loopback():
            self._cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
            for _ in range(count):
                self._cluster.add_node(num_cpus=1, **memory)
        self.address = f"ray:{self._cluster.address}"

    def end(self) -> None:
        self._cluster.shutdown()


def measured(count: int, victim: str, attack: str, n: int, out: Path) -> tuple[float, float]:
    """The examples a second of a run on so many nodes, and the processor's milliseconds for each example."""
    times: list[float] = []

    def note(record: Record | None, finished: int, total: int) -> None:
        if record is not None:
            times.append(time.perf_counter())

    options: dict[str, Any] = {"vectors": "pocket", "tagger": "pocket", "encoder": "pocket", "device": "cpu"}
    nodes = Nodes(count)
    try:
        with mohs.attack(
            victim, "pocket:train", [attack], n=n, on=nodes.address, out=out, progress=note, **options
        ) as run:
            spent = run.effort()["cpu_seconds"]
    finally:
        nodes.end()
    return (len(times) - 1) / (times[-1] - times[0]), 1000 * spent / n


def main() -> None:
    """Train, run, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=864)
    parser.add_argument("--attack", default="greedy")
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    found: dict[int, list[tuple[float, float]]] = {1: [], 2: []}
    with tempfile.TemporaryDirectory() as folder:
        train("cnn", "pocket:train", f"{folder}/cnn", device="cpu", epochs=5)
        for turn in range(asked.rounds):
            for count, seen in found.items():
                seen.append(
                    measured(count, f"mohs:{folder}/cnn", asked.attack, asked.n, Path(folder, f"{turn}-{count}"))
                )
                print(
                    f"{count} node(s): {seen[-1][0]:7.1f} examples/s, {seen[-1][1]:5.1f} ms of a processor an example"
                )
    one, two = (median(speed for speed, _ in found[count]) for count in found)
    print(
        f"two nodes are {two / one:.2f} times as fast as one; it should be {LIMIT} (load now {os.getloadavg()[0]:.1f})"
    )


if __name__ == "__main__":
    main()
