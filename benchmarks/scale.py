"""What would a billion examples need, and where would it break?

    python benchmarks/scale.py [--quick] [--only costs schedule paper journal]

Three parts, all from one run. Seconds are CPU seconds of one thread where nothing else is said.

costs: what one question, example, record, process costs here, with the bundled victim. Rows whose memory counts have a
process of their own.
schedule: the same run with one worker, with two and in two parts side by side, next to what `benchmarks/schedule.py`
says from the seconds of the single examples; then, on paper alone, sixteen machines with stragglers and deaths.
journal: bytes and time of a record by its length and the pages of the database, as the journal is and as it might be.
paper: the costs and the forward passes a second printed in docs/performance.md, put together by `benchmarks/costs.py`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from random import Random
from statistics import fmean, median
from typing import Any

import numpy as np
from costs import Costs, Machine, Need, Network, best_parts, need
from growth import NEVER, attacked, peak, resident, sentences
from schedule import Timetable, Worker, ideal, shared, static

import mohs
from mohs.attacks.textfooler import TextFooler
from mohs.models.load import load_victim
from mohs.records import RunStore
from mohs.records.integrity import checksum_of
from mohs.records.store import _TABLES
from mohs.runs.merge import merge
from mohs.space import Constraint, Neighbours, SamePos
from mohs.tasks.shard import Shard
from mohs.text.dataset import Dataset

Row = dict[str, Any]
WORDS = 20  # of the texts in the tables of costs

# docs/performance.md, one H200, bf16, `python benchmarks/gpu.py`: the limit of the network, and what TextFooler (words
# only) reached with 12 or 14 workers once the shapes were known.
BASE, MINILM = Network(12, 768), Network(6, 384)
PRINTED = [  # network, its name, tokens, limit, share of the limit
    (BASE, "BERT-base size", 16, 119_204, 0.40),
    (BASE, "BERT-base size", 32, 67_600, 0.59),
    (BASE, "BERT-base size", 64, 35_374, 0.63),
    (MINILM, "MiniLM size", 16, 400_267, 0.28),
    (MINILM, "MiniLM size", 32, 274_200, 0.36),
    (MINILM, "MiniLM size", 64, 164_780, 0.39),
]


def words_of(count: int, chance: Random | None = None) -> str:
    """A text of so many words of the bundled reviews."""
    source = sentences()
    for _ in range(chance.randrange(20_000) if chance else 0):
        next(source)
    return " ".join(next(source) for _ in range(count))


def data_file(place: Path, lengths: Sequence[int]) -> Path:
    """Texts of such lengths, each with the label that the victim gives it."""
    victim, source = load_victim("pocket"), sentences()
    texts = [" ".join(next(source) for _ in range(length)) for length in lengths]
    scores = [answer for text in texts for answer in victim.collect(victim.launch([(text,)]))]
    with place.open("w") as file:
        for number, (text, chances) in enumerate(zip(texts, scores, strict=True)):
            row = {"id": str(number), "text": text, "label": int(chances[1] > chances[0])}
            file.write(json.dumps(row) + "\n")
    return place


# ---- costs, a process each ----


def asking(words: int, candidates: int) -> Row:
    """Questions an example if every word is tried, and the time outside the victim."""
    source = sentences()
    texts = [" ".join(next(source) for _ in range(words)) for _ in range(max(2, 400 // words))]
    constraints = (Constraint(SamePos(), at_least=1),)
    found = attacked(TextFooler(source=Neighbours(k=candidates, min_cosine=-1.0), constraints=constraints), texts)
    return {"questions": found["questions"] / len(texts), "rest": found["the rest"] / found["questions"]}


def usual(count: int) -> Row:
    """Questions an example of TextFooler as it is, which stops when the victim is fooled."""
    with tempfile.TemporaryDirectory() as folder:
        data = data_file(Path(folder) / "data.jsonl", [WORDS] * count)
        with mohs.attack("pocket", str(data), ["textfooler"]) as run:
            effort = run.effort()
    return {"questions": effort["forwards"] / count, "seconds": effort["cpu_seconds"] / effort["forwards"]}


def loading() -> Row:
    """The whole command for one short text."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "data.jsonl").write_text('{"text": "good", "label": 1}\n')
        command = [sys.executable, "-m", "mohs", "attack", "--data", "data.jsonl", "--no-judge", "--json"]
        times = []
        for _ in range(3):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(command, check=True, cwd=folder, capture_output=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return {"seconds": min(times)}


def surveying(count: int) -> Row:
    """Reading, checking and hashing a file."""
    with tempfile.TemporaryDirectory() as folder:
        chance, vocabulary = Random(0), words_of(2_000).split()
        place = Path(folder) / "data.jsonl"
        with place.open("w") as file:
            for number in range(count):
                row = {"id": number, "text": " ".join(chance.choices(vocabulary, k=WORDS)), "label": 1}
                file.write(json.dumps(row) + "\n")
        Dataset(str(place), n=1_000).survey()
        before, began = resident(), time.process_time()
        Dataset(str(place)).survey()
        survey, most = time.process_time() - began, peak() - before
        began, part = time.process_time(), Shard(1, 16)
        assert sum(part.holds(example.id) for example in Dataset(str(place))) < count
        read = time.process_time() - began
    return {"survey": survey / count, "read": read / count, "MB": most}


def keeping(count: int) -> Row:
    """Records of TextFooler saved one by one in four parts, the parts joined, and the page of the whole."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        data = data_file(folder / "data.jsonl", [WORDS] * 200)
        with mohs.attack("pocket", str(data), ["textfooler"], shard="1/1") as run:
            known, manifest = list(run.records()), run.manifest
        identity = {**manifest["identity"], "examples": count}
        parts, saving = [], 0.0
        for number in range(1, 5):
            shard = Shard(number, 4)
            mine = [n for n in range(count) if shard.holds(f"e{n}")]
            parts.append(folder / f"part-{number}")
            told = {
                **manifest,
                "config": {**manifest["config"], "shard": str(shard)},
                "facts": {**manifest["facts"], "shard_examples": len(mine)},
            }
            store = RunStore.open(parts[-1], told, {**identity, "shard": str(shard)})
            records = [replace(known[n % len(known)], example_id=f"e{n}") for n in mine]
            began = time.process_time()
            for n, record in zip(mine, records, strict=True):
                store.add(n, record)
            saving += time.process_time() - began
            store.close()
        del records
        size = sum(file.stat().st_size for part in parts for file in part.iterdir())
        wall, began = time.perf_counter(), time.process_time()
        merge(parts, folder / "joined").close()
        merging, merging_wall = time.process_time() - began, time.perf_counter() - wall
        began = time.process_time()
        run = mohs.Run.open(folder / "joined")
        opened = time.process_time() - began
        length = fmean(len(line[3].encode()) for line in run.lines())
        with mohs.Run.open(parts[0]) as first:
            first.report(folder / "warm.html")
        before, began = resident(), time.process_time()
        page = run.report(folder / "page.html")
        reported, most = time.process_time() - began, peak() - before
        run.close()
        store = RunStore.read(folder / "joined")
        tracemalloc.start()
        done = store.done()
        remembered, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        store.close()
        assert len(done) == count
        return {
            "remembered": remembered / count,
            "record": saving / count,
            "bytes": size / count,
            "json": length,
            "merged": merging / count,
            "merged_wall": merging_wall / count,
            "opened": opened / count,
            "reported": reported / count,
            "MB": most,
            "page": page.stat().st_size,
        }


def costs_of(quick: bool) -> Costs:
    """All of them, printed."""
    grid = [(words, k) for words in (10, 20, 50, 100) for k in (5, 20, 50)]
    asked = {size: measured("asking", *size) for size in grid}
    print("\nTextFooler on a goal that cannot be reached, questions an example (µs a question outside the victim):")
    print(f"{'words':>8}" + "".join(f"{f'k = {k}':>16}" for k in (5, 20, 50)))
    for words in (10, 20, 50, 100):
        cells = [asked[words, k] for k in (5, 20, 50)]
        print(f"{words:8}" + "".join(f"{cell['questions']:9.0f} ({cell['rest'] * 1e6:4.0f})" for cell in cells))
    table = np.array([(words, words * k) for words, k in grid], float)
    wanted = np.array([asked[size]["questions"] for size in grid])
    weights = 1 / wanted  # relative errors
    (per_word, per_candidate), *_ = np.linalg.lstsq(table * weights[:, None], wanted * weights, rcond=None)
    odd = max(abs(table @ (per_word, per_candidate) / wanted - 1))
    print(f"questions = words x ({per_word:.2f} + {per_candidate:.3f} k), at most {odd:.0%} off in this table")
    real = measured("usual", 100 if quick else 400)
    print(
        f"TextFooler as it is, {WORDS} words: {real['questions']:.0f} questions an example, "
        f"{real['seconds'] * 1e6:.0f} µs a question"
    )
    load = measured("loading")["seconds"]
    print(f"a process that loads everything and attacks one word: {load:.1f} s")
    few, many = (20_000, 100_000) if quick else (50_000, 400_000)
    small, survey = measured("surveying", few), measured("surveying", many)
    survey_bytes = (survey["MB"] - small["MB"]) * 1e6 / (many - few)
    print(
        f"{many:,} examples of {WORDS} words: {survey['survey'] * 1e6:.1f} µs to survey one, "
        f"{survey['read'] * 1e6:.1f} to read one and see in which part it is; {survey_bytes:.1f} bytes of memory for "
        "each more"
    )
    few, many = (2_000, 8_000) if quick else (5_000, 20_000)
    small, large = measured("keeping", few), measured("keeping", many)
    reported_bytes = (large["MB"] - small["MB"]) * 1e6 / (many - few)
    print(
        f"{many:,} records of TextFooler, {large['json']:.0f} bytes of JSON each: {large['record'] * 1e6:.0f} µs to "
        f"save one alone, {large['bytes']:.0f} bytes of journal; {large['opened'] * 1e6:.1f} µs to check one, "
        f"{large['merged'] * 1e6:.1f} to join one ({large['merged_wall'] * 1e6:.1f} of wall time), "
        f"{large['reported'] * 1e6:.0f} for the page, {reported_bytes:.0f} bytes of memory for each more; the page has "
        f"{large['page'] / 1e6:.1f} MB"
    )
    print(f"a run that goes on remembers each finished record in {large['remembered']:.0f} bytes")
    return Costs(
        per_word=float(per_word),
        per_candidate=float(per_candidate),
        host=real["seconds"],
        load=load,
        read=survey["read"],
        survey=survey["survey"],
        survey_bytes=survey_bytes,
        record=large["record"],
        record_bytes=large["bytes"],
        opened=large["opened"],
        merged=large["merged"],
        reported=large["reported"],
        reported_bytes=reported_bytes,
    )


# ---- the journal ----


def paging(length: int, page: int, rows: bool, each: int) -> Row:
    """Records of so many bytes, in a journal with pages of that size. rows: with a table of rows beside its key."""
    with tempfile.TemporaryDirectory() as folder:
        place, count, chance = Path(folder) / "journal.sqlite", 5_000, Random(0)
        db = sqlite3.connect(place, isolation_level=None)
        db.execute(f"PRAGMA page_size={page}")
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("PRAGMA synchronous=NORMAL")
        for statement in _TABLES:
            db.execute(statement.replace(" WITHOUT ROWID", "") if rows else statement)
        lines = [("textfooler:paper", f"e{n}", n, "x" * length) for n in range(count)]
        chance.shuffle(lines)
        began = time.process_time()
        for first in range(0, count, each):
            db.execute("BEGIN IMMEDIATE")
            for line in lines[first : first + each]:
                db.execute("INSERT OR REPLACE INTO records VALUES (?, ?, ?, ?, ?)", (*line, checksum_of(*line)))
            db.execute("INSERT OR REPLACE INTO tally VALUES ('records', '0 0')")
            db.execute("COMMIT")
        spent = time.process_time() - began
        db.close()
        return {"bytes": place.stat().st_size / count, "seconds": spent / count}


def on_pages() -> None:
    """The journal as it is, with other pages, and with a table of rows."""
    lengths = (800, 1_400, 5_000)
    print("\nbytes of journal a record (µs to save one alone; one of a thousand), by the bytes of its JSON:")
    print(f"{'':36}" + "".join(f"{f'{length:,}':>20}" for length in lengths))
    kinds = [(4096, False), (16_384, False), (65_536, False), (4096, True)]
    for page, rows in kinds:
        title = f"pages of {page:,}" + (", a table of rows" if rows else ", as now" if page == 4096 else "")
        cells = []
        for length in lengths:
            alone, many = measured("paging", length, page, rows, 1), measured("paging", length, page, rows, 1_000)
            cells.append(f"{alone['bytes']:,.0f} ({alone['seconds'] * 1e6:.0f}; {many['seconds'] * 1e6:.0f})")
        print(f"{title:36}" + "".join(f"{cell:>20}" for cell in cells), flush=True)


# ---- the schedule ----


def running(data: str, folder: str, workers: int, at_once: int, part: str) -> Row:
    """One run, with the seconds between its records."""
    gaps: list[float] = []
    of_cpu: list[float] = []
    last = (0.0, 0.0)

    def note(record: object, finished: int, total: int) -> None:
        nonlocal last
        now = time.perf_counter(), time.process_time()
        if record is not None:
            gaps.append(now[0] - last[0])
            of_cpu.append(now[1] - last[1])
        last = now

    plan = {"goal": NEVER, "workers": workers, "at_once": at_once or None, "shard": part or None}
    with mohs.attack("pocket", data, ["textfooler"], out=folder, progress=note, **plan) as run:
        effort = run.effort()
    return {"seconds": effort["seconds"], "cpu": effort["cpu_seconds"], "gaps": gaps, "of_cpu": of_cpu}


def check_schedule(quick: bool) -> list[float]:
    """Measured and simulated runs side by side. Gives the seconds of single examples."""
    chance, count = Random(0), 150 if quick else 500
    lengths = [min(200, max(5, round(chance.lognormvariate(math.log(25), 0.8)))) for _ in range(count)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        data = str(data_file(folder / "data.jsonl", lengths))

        def one(turn: int, workers: int, at_once: int, part: str = "") -> list[str]:
            out = folder / f"run-{turn}-{workers}-{at_once}{part[:1]}"
            return command("running", data, str(out), workers, at_once, part)

        turns = [  # others use the machine as well: the quickest turn of each is shown
            [
                side_by_side(one(turn, 1, 1)),
                side_by_side(one(turn, 2, 2)),
                side_by_side(one(turn, 1, 1, "1/2"), one(turn, 1, 1, "2/2")),
                side_by_side(one(turn, 1, 0)),
                side_by_side(one(turn, 2, 0)),
            ]
            for turn in range(1 if quick else 3)
        ]
    alone, both, halves, crowd_alone, crowd_both = (min(each, key=longest) for each in zip(*turns, strict=True))
    seconds, of_cpu = alone[0]["gaps"], alone[0]["of_cpu"]
    faster = longest(crowd_alone) / sum(seconds)
    crowd, pair, parts = load_crowd(), [Worker()] * 2, by_hash(count, 2)
    print(
        f"\n{count} texts of {min(lengths)} to {max(lengths)} words (median {median(lengths):.0f}), TextFooler on a "
        f"goal that cannot be reached; seconds an example: median {median(seconds):.4f}, most {max(seconds):.3f}"
    )
    print(f"{'':44}{'measured s':>12}{'simulated s':>13}{'error':>8}{'of the ideal':>14}{'CPU s':>8}")
    rows = [
        ("one worker, one example at a time", alone, shared(seconds, [Worker()]), ideal(seconds, [Worker()])),
        ("two workers, one example each at a time", both, shared(seconds, pair), ideal(seconds, pair)),
        ("two parts side by side", halves, static(seconds, parts, pair), ideal(seconds, pair)),
        (
            f"two workers, {crowd // 2} examples each at a time",
            crowd_both,
            shared(scaled(seconds, faster), pair, hold=crowd // 2),
            ideal(scaled(seconds, faster), pair),
        ),
    ]
    for title, found, told, best in rows:
        wall = longest(found)
        print(
            f"{title:44}{wall:12.2f}{told.makespan:13.2f}{told.makespan / wall - 1:8.0%}{told.makespan / best:14.2f}"
            f"{sum(row['cpu'] for row in found):8.2f}"
        )
    told = static(of_cpu, parts, pair).makespan
    most = max(row["cpu"] for row in halves)
    print(
        f"the longer of the two parts in CPU seconds: {most:.2f} measured, {told:.2f} simulated ({told / most - 1:.0%})"
    )
    print(
        f"one worker with {crowd} examples at a time: {longest(crowd_alone):.2f} s, {crowd_alone[0]['cpu']:.2f} CPU s; "
        f"the load of the machine was {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores at the end"
    )
    return seconds


def longest(found: Sequence[Row]) -> float:
    """When the last of the processes was done."""
    return max(row["seconds"] for row in found)


def load_crowd() -> int:
    """How many examples a run with the bundled victim searches at once."""
    from mohs.models.victim import traits_of

    return traits_of(load_victim("pocket")).crowd


def scaled(seconds: Sequence[float], factor: float) -> list[float]:
    return [factor * each for each in seconds]


def by_hash(count: int, of: int) -> list[list[int]]:
    """The parts that --shard makes of the ids 0, 1, 2 ..."""
    parts: list[list[int]] = [[] for _ in range(of)]
    for number in range(count):  # as Shard.holds does, but each digest once for all parts
        digest = hashlib.sha256(str(number).encode()).digest()
        parts[int.from_bytes(digest[:8], "big") % of].append(number)
    return parts


def on_paper(seconds: Sequence[float], quick: bool) -> None:
    """Sixteen machines, examples drawn from those measured."""
    machines, draws, count = 16, 3 if quick else 10, 16_000
    print(
        f"\nOn paper: {count:,} examples with the seconds measured above, {machines} machines, loading takes a 20th of "
        f"the ideal time of one; makespan / ideal of the same machines, mean of {draws} draws"
    )
    plans: list[tuple[str, Callable[[list[float], list[Worker], float], Timetable]]] = [
        ("counter, one each", lambda s, w, load: shared(s, w, load=load, again=load)),
        ("counter, 256 each", lambda s, w, load: shared(s, w, hold=256, load=load, again=load)),
        ("counter that survives", lambda s, w, load: shared(s, w, load=load, survives=True)),
        *(
            (f"{of} parts", lambda s, w, load, of=of: static(s, by_hash(count, of), w, load=load, again=load))
            for of in (16, 32, 64, 256)
        ),
    ]
    crews: list[tuple[str, Callable[[Random, float], list[Worker]]]] = [
        ("equal", lambda chance, end: [Worker()] * machines),
        ("one 2 x slower", lambda chance, end: [Worker(0.5)] + [Worker()] * (machines - 1)),
        ("one 4 x slower", lambda chance, end: [Worker(0.25)] + [Worker()] * (machines - 1)),
        ("one dies", lambda chance, end: [Worker(dies=(chance.uniform(0, end),))] + [Worker()] * (machines - 1)),
        ("each may die", lambda chance, end: [Worker(dies=(chance.expovariate(1 / end),)) for _ in range(machines)]),
    ]
    print(f"{'':24}" + "".join(f"{title:>16}" for title, _ in crews))
    for title, plan in plans:
        cells = []
        for _, crew in crews:
            shares = []
            for draw in range(draws):
                chance = Random(draw)
                texts = chance.choices(seconds, k=count)
                end = sum(texts) / machines
                workers = crew(chance, end)
                load = end / 20
                shares.append(plan(texts, workers, load).makespan / ideal(texts, workers, load))
            cells.append(fmean(shares))
        print(f"{title:24}" + "".join(f"{cell:16.2f}" for cell in cells), flush=True)


# ---- a billion ----


def on_hardware(costs: Costs) -> None:
    """What the figures of one H200 and of this core say of large runs."""
    print("\nFloating-point operations a second at the limits of docs/performance.md (one H200, bf16):")
    for network, name, tokens, limit, part in PRINTED:
        flops = network.flops(tokens)
        print(
            f"  {name}, {tokens} tokens: {flops / 1e9:.2f} GFLOP a forward x {limit:,}/s = {flops * limit / 1e12:.0f} "
            f"TFLOP/s; the search reaches {part * limit:,.0f} forwards/s"
        )
    machines = [
        Machine("BERT-base size, H200", 0.59 * 67_600, workers=14, slower=2.0),
        Machine("MiniLM size, H200", 0.36 * 274_200, workers=14, slower=2.0),
        Machine("bundled victim, one core", 1 / costs.host),
    ]
    questions = costs.questions(25, 20)
    print(
        f"\n10^9 examples of 25 words (32 tokens), at most 20 candidates a word: {questions:.0f} questions each if "
        "every word is tried"
    )
    titles = ("parts", "searching h", "reading h", "wall h", "machine h", "wasted", "journal GB", "survey GB")
    for machine in machines:
        top = best_parts(costs, machine, 1e9, questions)
        print(
            f"\n{machine.name}: {machine.forwards:,.0f} forwards/s; the search is half of the time at {top:,.0f} parts"
        )
        print("".join(f"{title:>14}" for title in titles))
        for parts in (16, 100, 1_000, 10_000):
            print(shown(need(costs, machine, 1e9, questions, parts)))
    whole = need(costs, machines[0], 1e9, questions, 1)
    print(
        f"\nThe whole: a journal of {whole.whole / 1e12:.1f} TB, merged in {whole.merging / 3600:.0f} h; its page "
        f"takes {whole.page / 3600:.0f} h and {whole.page_memory / 1e9:.0f} GB of memory"
    )


def shown(found: Need) -> str:
    cells = (
        f"{found.parts:,}",
        f"{found.searching / 3600:,.1f}",
        f"{found.surveying / 3600:,.1f}",
        f"{found.wall / 3600:,.1f}",
        f"{found.machine_hours:,.0f}",
        f"{found.wasted:.0%}",
        f"{found.journal / 1e9:,.1f}",
        f"{found.survey_memory / 1e9:,.0f}",
    )
    return "".join(f"{cell:>14}" for cell in cells)


# ---- processes ----

ROWS: dict[str, Callable[..., Row]] = {
    each.__name__: each for each in (asking, usual, loading, surveying, keeping, paging, running)
}


def command(name: str, *arguments: object) -> list[str]:
    return [sys.executable, __file__, "--row", json.dumps([name, *arguments])]


def side_by_side(*commands: list[str]) -> list[Row]:
    """What rows say that run at the same time."""
    started = [subprocess.Popen(each, stdout=subprocess.PIPE, text=True) for each in commands]
    said = [process.communicate()[0] for process in started]
    assert not any(process.returncode for process in started)
    return [json.loads(each.splitlines()[-1]) for each in said]


def measured(name: str, *arguments: object) -> Row:
    """One row, in a process of its own."""
    (found,) = side_by_side(command(name, *arguments))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer and smaller sizes, within three minutes")
    parser.add_argument("--only", nargs="+", choices=("costs", "schedule", "paper", "journal"), default=())
    parser.add_argument("--row", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.row:
        name, *arguments = json.loads(options.row)
        print(json.dumps(ROWS[name](*arguments)))
        return
    wanted = set(options.only or ("costs", "schedule", "paper", "journal"))
    if wanted & {"costs", "paper"}:
        costs = costs_of(options.quick)
        print(json.dumps(asdict(costs)))
        if "paper" in wanted:
            on_hardware(costs)
    if "journal" in wanted:
        on_pages()
    if "schedule" in wanted:
        on_paper(check_schedule(options.quick), options.quick)


if __name__ == "__main__":
    main()
