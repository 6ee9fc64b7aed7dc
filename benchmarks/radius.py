"""How much of proving, and of estimating the share that holds, is the model's own time?

    python benchmarks/radius.py --tokenizer FOLDER --data test.jsonl.gz [--n 20] [--max-r 2] [--draws 5000]

A victim of the size of BERT-base or MiniLM-L6 whose answers are those of a bag of words (see second_order.py), spaces
of the five nearest bundled vectors. Printed: seconds an example and texts a second for the prover at each r and
for the share, and the part of the time spent in forwards (on CUDA: in which the device worked; on a CPU: in the model).
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

from gpu import SIZES

import mohs
from mohs.bounds import Share
from second_order import Clock, WatchedVictim, planted


def measure(title: str, victim: WatchedVictim, options: argparse.Namespace, **settings: Any) -> None:
    """The line of one kind of work."""
    given = {"device": options.device, "workers": options.workers, **settings}
    mohs.radius(victim, options.data, n=2, **given)  # shapes that later recur
    victim.clock.take()
    run = mohs.radius(victim, options.data, n=options.n, **given)
    busy, rows = victim.clock.take()
    seconds = run.effort()["seconds"]
    found = run.radii()
    done = sum(row["lower"] >= settings["max_r"] for row in found)
    print(
        f"{title}: {seconds / max(1, len(found)):.3f} s an example ({len(found)} read right, {done} certified to r), "
        f"{rows / seconds:,.0f} texts/s, {rows / max(1, len(found)):,.0f} texts an example, in forwards "
        f"{busy / seconds:.0%} of the time",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokenizer", required=True, metavar="FOLDER", help="of a BERT, such as a masked model's")
    parser.add_argument("--data", required=True)
    parser.add_argument("--n", type=int, default=20)
    parser.add_argument("--max-r", type=int, default=2)
    parser.add_argument("--draws", type=int, default=5000)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--size", default="base", choices=SIZES)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--dtype", default="bf16")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        planted(Path(folder), options.tokenizer, SIZES[options.size])
        victim = WatchedVictim(folder, Clock(options.device), device=options.device, dtype=options.dtype)
        for r in range(1, options.max_r + 1):
            measure(f"prover, r={r}", victim, options, max_r=r)
        measure(f"share, {options.draws:,} texts", victim, options, max_r=0, share=Share(n=options.draws))


if __name__ == "__main__":
    main()
