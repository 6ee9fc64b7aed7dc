"""How much of proving, and of estimating the share that holds, is the model's own time?

    python benchmarks/radius.py --tokenizer FOLDER --data test.jsonl.gz [--n 20] [--max-r 2] [--draws 5000]

A victim of the size of BERT-base or MiniLM-L6 whose answers are those of a bag of words (see second_order.py), spaces
of the five nearest bundled vectors. Printed, for the prover at each r and for the share: seconds an example, texts a
second, and what part that is of the limit: the same number of rows of each length through the model alone, at the best
batch size and without a mask.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

from gpu import SIZES, limit

import mohs
from mohs.bounds import Share
from mohs.models.hf import HfVictim
from second_order import planted


class Counted(HfVictim):
    """A victim that notes how many rows of which length it was given."""

    def __init__(self, folder: str, **options: Any) -> None:
        self.seen: Counter[int] = Counter()
        super().__init__(folder, **options)

    def send(self, laid: Any) -> Any:
        for part in laid:
            self.seen[part.length] += part.rows
        return super().send(laid)


def measure(title: str, victim: Counted, options: argparse.Namespace, **settings: Any) -> None:
    """The line of one kind of work."""
    given = {"device": options.device, "workers": options.workers, "at_once": options.at_once, **settings}
    if options.warm:
        mohs.radius(victim, options.data, n=options.warm, **given)  # shapes that later recur
    victim.seen.clear()
    run = mohs.radius(victim, options.data, n=options.n, **given)
    seen = Counter(victim.seen)
    seconds, rows = run.effort()["seconds"], sum(seen.values())
    alone = sum(count / _limit(victim, length) for length, count in seen.items())
    found = run.radii()
    done = sum(row["lower"] >= settings["max_r"] for row in found)
    lengths = sum(length * count for length, count in seen.items()) / max(1, rows)
    print(
        f"{title}: {seconds / max(1, len(found)):.4f} s an example ({len(found)} read right, {done} certified to r), "
        f"{rows:,} texts ({lengths:.0f} tokens) at {rows / seconds:,.0f}/s, model alone "
        f"{rows / max(alone, 1e-9):,.0f}/s: {alone / seconds:.2f} of the limit",
        flush=True,
    )


@cache
def _limit(victim: Counted, length: int) -> float:
    return limit(victim, length)[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokenizer", required=True, metavar="FOLDER", help="of a BERT, such as a masked model's")
    parser.add_argument("--data", required=True)
    parser.add_argument("--n", type=int, default=20)
    parser.add_argument("--warm", type=int, default=2, help="examples that go before, uncounted")
    parser.add_argument("--max-r", type=int, default=2)
    parser.add_argument("--draws", type=int, default=5000)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--at-once", type=int, default=None)
    parser.add_argument("--size", default="base", choices=SIZES)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--dtype", default="bf16")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        planted(Path(folder), options.tokenizer, SIZES[options.size])
        victim = Counted(folder, device=options.device, dtype=options.dtype)
        for r in range(1, options.max_r + 1):
            measure(f"prover, r={r}", victim, options, max_r=r)
        if options.draws:
            measure(f"share, {options.draws:,} texts", victim, options, max_r=0, share=Share(n=options.draws))


if __name__ == "__main__":
    main()
