"""How quick is a study with many people at once, and what is lost when its server is killed?

    python benchmarks/studies.py [--quick] [--people N] [--judgements N] [--judges N] [--kills N] [--pause SECONDS]

People judge over HTTP on this machine, each with a connection of their own, until there is nothing left: first without
a pause, so that the server is asked as much as it can answer; then again while it is killed (-9) and started again at
random moments. They send some answers twice, and again whatever was not acknowledged before a kill. Printed for each
database: judgements a second, the seconds until an answer is acknowledged and until the next item is shown (median,
99th percentile, most), and what was lost, added or different. The exit code is 1 if anything was.

SQLite is always tried, and PostgreSQL if MOHS_POSTGRES has the address of a database. --pause: how long people think
about each answer, which shows what they notice when the server is not busy. The people are simulated by
tests/studies/annotating.py, in one process of their own beside the server's.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
from tests.studies.annotating import Crowd, Server, faults

from mohs.studies.design import read_design
from mohs.studies.item import Item
from mohs.studies.study import Study

TEXT = "The film was good and its story was funny, but the actors took a long time to say what they had to say."


@dataclass(frozen=True)
class Load:
    """How much of everything. pause: seconds before an answer, on average."""

    people: int = 200
    judgements: int = 20_000
    judges: int = 10
    kills: int = 20
    pause: float = 0.0


QUICK = Load(people=50, judgements=1500, kills=3)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="half a minute instead of many")
    parser.add_argument("--people", type=int)
    parser.add_argument("--judgements", type=int, help="of all people together")
    parser.add_argument("--judges", type=int, help="for each item")
    parser.add_argument("--kills", type=int, help="0: only the first part")
    parser.add_argument(
        "--pause", type=float, metavar="SECONDS", help="before an answer, on average; the default is none"
    )
    asked = vars(parser.parse_args())
    quick = asked.pop("quick")
    load = replace(QUICK if quick else Load(), **{name: value for name, value in asked.items() if value is not None})
    wrong = 0
    for name, address in (("SQLite", ""), ("PostgreSQL", os.environ.get("MOHS_POSTGRES", ""))):
        if name == "PostgreSQL" and not address:
            print("PostgreSQL: not tried; MOHS_POSTGRES names no database")
            continue
        wrong += tried(f"{name}, undisturbed", address, replace(load, kills=0))
        if load.kills:
            wrong += tried(f"{name}, killed {load.kills} times", address, load)
    return int(wrong > 0)


def tried(name: str, address: str, load: Load) -> int:
    """Let everybody judge, and say what was seen. Returns how many things were wrong."""
    chance = Random(load.judgements)
    kills = sorted(chance.sample(range(load.judgements // 50, load.judgements * 95 // 100), load.kills))
    with study_at(address, load) as (study, place), Server(place) as server:
        crowd = Crowd(server, kills)
        invited = study.invite(n=load.people)
        began = time.perf_counter()
        people = asyncio.run(crowd.judge(invited, load.pause))
        seconds = time.perf_counter() - began
        found = faults(study, crowd, people)
        if crowd.killed != load.kills:
            found.append(f"the server was killed {crowd.killed} times instead of {load.kills}")
        if crowd.limited:
            found.append(f"{crowd.limited} requests were told to wait")
        if said := server.said():
            found.append(f"the server said: {said[-500:]}")
    speed = crowd.acknowledged / seconds
    print(f"{name}: {load.people} people, {crowd.acknowledged:,} judgements, {seconds:.0f} s, {speed:,.0f} a second")
    if not load.kills:  # otherwise they are times of starting the server
        for what, told in (("answer", "an answer is acknowledged"), ("look", "the next item is shown")):
            print(f"  {told}: {quantiles(crowd.seconds[what])}")
    print(f"  wrong: {len(found)}", *found[:10], sep="\n    ", flush=True)
    return len(found)


def quantiles(seconds: Sequence[float]) -> str:
    """The median, the 99th percentile and the most, in milliseconds."""
    half, nearly, most = np.quantile(seconds, [0.5, 0.99, 1.0]) * 1000
    return f"p50 {half:,.0f} ms, p99 {nearly:,.0f} ms, most {most:,.0f} ms"


@contextmanager
def study_at(address: str, load: Load) -> Iterator[tuple[Study, str]]:
    """A study of pairs of sentences in a folder or on a server, removed at the end; and where to find it."""
    design = replace(read_design("meaning"), judges=load.judges, controls=())
    count = load.judgements // load.judges
    rows = [Item(f"{n}", "meaning", (f"{n} {TEXT}", f"{n} {TEXT.replace('good', 'fine')}"), "a") for n in range(count)]
    if not address:
        with tempfile.TemporaryDirectory() as folder, Study.create(f"{folder}/study", design, rows) as study:
            yield study, study.place
        return
    import psycopg

    name = f"load_{os.getpid()}"
    place = f"{address}{'&' if '?' in address else '?'}study={name}"
    try:
        with Study.create(place, design, rows) as study:
            yield study, place
    finally:
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute(f"DROP SCHEMA IF EXISTS mohs_{name} CASCADE")


if __name__ == "__main__":
    sys.exit(main())
