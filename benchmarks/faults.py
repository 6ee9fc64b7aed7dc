"""What is lost when commands are killed, disks are full, files are damaged and endpoints are hostile?

    python benchmarks/faults.py [--short] [--only kills,writes,journals,damages,endpoint,fuzz] [--seed S]
                                [--kills N] [--writes N] [--every-write] [--journals N] [--damages N] [--fuzz N]
                                [--processes N]

Each kind of fault is tried on small commands of every verb, with toy victims, and the results are compared with those
of the same commands undisturbed. Printed for each kind: the number of cases; how often something finished was lost; how
often results were wrong or a failure was not told in one sentence; tracebacks; commands that hung or left processes
behind. The exit code is 1 if any of these is not 0. The faults themselves are in tests/faults.

--every-write lets every single write of every command fail with every error, which takes hours.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.faults.damaged import damages, journals
from tests.faults.endpoint import all_cases, endpoints
from tests.faults.fuzz import fuzz
from tests.faults.kills import kills
from tests.faults.tally import Tally, added, table
from tests.faults.undisturbed import stage
from tests.faults.writes import writes

Part = Callable[[int, int], list[Tally]]  # from a number of cases and a seed

DEFAULT = {"kills": 1000, "writes": 400, "journals": 500, "damages": 400, "endpoint": len(all_cases()), "fuzz": 4000}
SHORT = {"kills": 20, "writes": 20, "journals": 30, "damages": 18, "endpoint": 12, "fuzz": 400}
_CASES_OF_A_PART = {"kills": 50, "writes": 50, "journals": 100, "damages": 50, "endpoint": 30, "fuzz": 500}


def part(kind: str, count: int, seed: int, every: bool) -> list[Tally]:
    """Some cases of one kind, in a folder of their own."""
    if kind == "journals":
        return journals(count, seed)
    if kind == "fuzz":
        return fuzz(count, seed)
    with stage() as (nurse, commands):
        if kind == "kills":
            return kills(commands, count, seed)
        if kind == "writes":
            return writes(commands, count, seed, every=every)
        if kind == "damages":
            return damages(commands, count, seed)
        cases = all_cases()
        step = max(1, len(cases) // count)  # in a short run, some of each time
        return endpoints(nurse, cases[seed * count :: step][:count])


def parts(wanted: dict[str, int], seed: int, short: bool) -> list[tuple[str, int, int]]:
    """The kinds in parts that processes can take: kind, cases, seed."""
    found = []
    for kind, count in wanted.items():
        size = count if short or kind == "endpoint" else _CASES_OF_A_PART[kind]
        for number, start in enumerate(range(0, count, size)):
            found.append((kind, min(size, count - start), 0 if kind == "endpoint" else 1000 * seed + number))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--short", action="store_true", help="a minute instead of many")
    parser.add_argument("--only", help="kinds, separated by commas")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--every-write", action="store_true")
    for kind, count in DEFAULT.items():
        parser.add_argument(f"--{kind}", type=int, metavar="N", help=f"cases; default {count}")
    asked = parser.parse_args()
    usual = SHORT if asked.short else DEFAULT
    wanted = {kind: count if (own := getattr(asked, kind)) is None else own for kind, count in usual.items()}
    if asked.only:
        wanted = {kind: wanted[kind] for kind in asked.only.split(",")}
    began, found = time.monotonic(), []
    with ProcessPoolExecutor(asked.processes, get_context("spawn")) as pool:
        jobs = [pool.submit(part, *job, asked.every_write) for job in parts(wanted, asked.seed, asked.short)]
        for job in as_completed(jobs):
            found += job.result()
            print(f"{time.monotonic() - began:7.0f} s: {sum(tally.cases for tally in found):,} cases", file=sys.stderr)
    tallies = sorted(added(found), key=lambda tally: tally.kind)
    total = added([Tally("all", t.cases, t.lost, t.wrong, t.tracebacks, t.hangs, t.notes) for t in tallies])
    for note in total[0].notes:
        print(note, file=sys.stderr)
    print(table([*tallies, *total]))
    print(f"{time.monotonic() - began:.0f} s, seed {asked.seed}")
    return int(total[0].faults > 0)


if __name__ == "__main__":
    sys.exit(main())
