"""Does memory stay flat over many examples?

    python benchmarks/memory.py [--examples 50000]

Attacks a generated file of examples with the pocket victim and the random baseline, into a real run folder, and prints
the resident memory of the process at the start, in the middle and at the end.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import tempfile
import time
from pathlib import Path

import mohs
from mohs.text import pocket


def resident() -> float:
    """Resident memory of this process, in MB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--examples", type=int, default=50_000)
    total = parser.parse_args().examples
    words = pocket.lexicon().words[:5000]
    chance = random.Random(0)
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "many.jsonl"
        with data.open("w") as file:
            for number in range(total):
                row = {"id": number, "text": " ".join(chance.choices(words, k=12)), "label": number % 2}
                file.write(json.dumps(row) + "\n")
        marks = {round(total * share): f"{share:.0%}" for share in (0.02, 0.25, 0.5, 0.75, 1.0)}
        started = time.perf_counter()

        def watch(record: object, finished: int, of: int) -> None:
            if finished in marks:
                spent = time.perf_counter() - started
                print(f"{marks[finished]:>5}  {finished:7} examples  {resident():7.1f} MB  {spent:6.1f} s")

        print(f"start  {0:7} examples  {resident():7.1f} MB")
        mohs.attack("pocket", str(data), ["random"], out=Path(folder) / "run", progress=watch).close()


if __name__ == "__main__":
    main()
