"""What is lost when commands are killed, disks are full, files are damaged and endpoints are hostile?

    python benchmarks/faults.py [--short] [--only kills,writes,journals,damages,endpoint,fuzz] [--seed S]
                                [--kills N] [--writes N] [--every-write] [--journals N] [--damages N] [--fuzz N]
                                [--commands "attack workers,..."] [--processes N]

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
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
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

DEFAULT = {"kills": 1000, "writes": 400, "journals": 500, "damages": 400, "endpoint": len(all_cases()), "fuzz": 4000}
SHORT = {"kills": 20, "writes": 20, "journals": 30, "damages": 18, "endpoint": 12, "fuzz": 400}


@dataclass(frozen=True)
class Part:
    """The share of one process in all cases."""

    wanted: dict[str, int]  # cases of all processes, by kind
    number: int
    processes: int
    seed: int
    every_write: bool
    commands: tuple[str, ...]  # all if empty

    def run(self) -> list[Tally]:
        """Try the cases, the kinds in the order of the table; all commands run in one folder."""
        seed, found = self.seed * self.processes + self.number, []
        if count := self.share("journals"):
            start = self.seed * self.wanted["journals"] + sum(self.share("journals", n) for n in range(self.number))
            found += self.told(journals(range(start, start + count)))
        if count := self.share("fuzz"):
            found += self.told(fuzz(count, seed))
        if not any(self.share(kind) for kind in ("kills", "writes", "damages", "endpoint")):
            return found
        with stage(*self.commands) as (nurse, commands):
            if count := self.share("endpoint"):
                cases = all_cases()
                chosen = cases[:: max(1, len(cases) // self.wanted["endpoint"])]
                found += self.told(endpoints(nurse, chosen[self.number :: self.processes][:count]))
            if count := self.share("damages"):
                found += self.told(damages(commands, count, seed))
            if count := self.share("writes"):
                found += self.told(writes(commands, count, seed, every=self.every_write))
            if count := self.share("kills"):
                found += self.told(kills(commands, count, seed))
        return found

    def share(self, kind: str, number: int | None = None) -> int:
        """The number of cases for this process, or for another."""
        count = self.wanted.get(kind, 0)
        own = self.number if number is None else number
        return count // self.processes + (own < count % self.processes)

    def told(self, tallies: list[Tally]) -> list[Tally]:
        """Say what was tried, and what was wrong."""
        kinds = f"{tallies[0].kind} ... {tallies[-1].kind}" if len(tallies) > 1 else tallies[0].kind
        lines = [f"process {self.number}: {kinds}: {sum(tally.cases for tally in tallies)} cases"]
        print(*lines, *(note for tally in tallies for note in tally.notes), sep="\n", file=sys.stderr, flush=True)
        return tallies


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--short", action="store_true", help="a minute instead of many")
    parser.add_argument("--only", help="kinds, separated by commas")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--every-write", action="store_true")
    parser.add_argument("--commands", default="", help="for kills and writes: some commands, separated by commas")
    for kind, count in DEFAULT.items():
        parser.add_argument(f"--{kind}", type=int, metavar="N", help=f"cases; default {count}")
    asked = parser.parse_args()
    usual = SHORT if asked.short else DEFAULT
    wanted = {kind: count if (own := getattr(asked, kind)) is None else own for kind, count in usual.items()}
    if asked.only:
        wanted = {kind: wanted[kind] for kind in asked.only.split(",")}
    began, found = time.monotonic(), []
    with ProcessPoolExecutor(asked.processes, get_context("spawn")) as pool:
        settings = asked.processes, asked.seed, asked.every_write, tuple(filter(None, asked.commands.split(",")))
        parts = [Part(wanted, number, *settings) for number in range(asked.processes)]
        for tallies in pool.map(Part.run, parts):
            found += tallies
    tallies = sorted(added(found), key=lambda tally: tally.kind)
    total = added([Tally("all", t.cases, t.lost, t.wrong, t.tracebacks, t.hangs, t.notes) for t in tallies])
    print(table([*tallies, *total]))
    print(f"{time.monotonic() - began:.0f} s, seed {asked.seed}")
    return int(total[0].faults > 0)


if __name__ == "__main__":
    sys.exit(main())
