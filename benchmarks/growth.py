"""How does the cost grow: with the number of examples, the length of a text, the candidates a word?

    python benchmarks/growth.py [--quick]

Prints three tables, and under each the exponents that fit its columns best (the slope of a line through the
logarithms; 1 is linear, 0 is flat). Every row runs in a process of its own, so that its peak of memory is its own; MB
is that peak above what the process held when a first small run was over. Seconds are CPU seconds.

Examples: a victim that answers at once, one random walk over the neighbours of each word without further models, data
read from a file, a run folder on disk, records read back one by one.
Words: TextFooler with the bundled victim, encoder and tagger, and a goal that cannot be reached, so that every word is
tried. The questions grow with the words, and each is as long as the text: the characters put to the victim grow with
the square of the words whatever is done, and so does the time inside the victim, which reads them. The rest should
not: its exponent stands apart.
Candidates: the same with texts of 20 words, and so many nearest words for each.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random
from statistics import linear_regression
from typing import Any

import mohs
from engine import Instant
from mohs.attacks.random_words import RandomWords
from mohs.attacks.textfooler import TextFooler
from mohs.models.load import load_victim
from mohs.space import Constraint, Neighbours, SamePos
from mohs.text import pocket

NEVER = "below:0.000000001"
Row = dict[str, float]


class Watched:
    """A victim with a stop-watch around its work and a count of the characters put to it."""

    def __init__(self, victim: Any) -> None:
        self._victim = victim
        self.seconds, self.characters = 0.0, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._victim, name)

    def launch(self, batch: list[Any]) -> Any:
        self.characters += sum(len(field) for fields in batch for field in fields)
        return self._victim.launch(batch)

    def collect(self, ticket: Any) -> Any:
        started = time.process_time()
        answers = self._victim.collect(ticket)
        self.seconds += time.process_time() - started
        return answers


class Positive(Instant):
    """A victim that finds every text positive, at once."""

    hard, exact = False, True
    labels: tuple[str, ...] = ("negative", "positive")

    def visible(self, fields: Any) -> None:
        return None


def resident() -> float:
    """Memory of this process now, in MB, from where the peak is counted anew."""
    Path("/proc/self/clear_refs").write_text("5")
    return _status("VmRSS")


def peak() -> float:
    """The most since then."""
    return _status("VmHWM")


def _status(name: str) -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:")) / 1e3


def examples(count: int) -> Row:
    """So many texts of 12 words from a file, with records kept on disk."""

    attack = RandomWords(walks=1, constraints=())

    def go(folder: Path, count: int) -> float:
        chance, words = Random(0), pocket.lexicon().words[:1000]
        with (folder / "data.jsonl").open("w") as file:
            for number in range(count):
                row = {"id": number, "text": " ".join(chance.choices(words, k=12)), "label": 1}
                file.write(json.dumps(row) + "\n")
        started = time.process_time()
        with mohs.attack(Positive(), str(folder / "data.jsonl"), [attack], out=folder / "run") as run:
            assert sum(1 for _ in run.records()) == count
        return time.process_time() - started

    with tempfile.TemporaryDirectory() as warm, tempfile.TemporaryDirectory() as folder:
        go(Path(warm), 500)
        before = resident()
        spent = go(Path(folder), count)
        size = sum(file.stat().st_size for file in (Path(folder) / "run").iterdir())
    return {
        "seconds": spent,
        "disk MB": size / 1e6,
        "µs an example": spent / count * 1e6,
        "MB": max(peak() - before, 0.0),
    }


def sentences() -> Iterator[str]:
    """The words of the bundled reviews, over and over."""
    while True:
        for row in pocket.reviews("train"):
            yield from row["text"].split()


def attacked(attack: Any, texts: Sequence[str]) -> Row:
    """TextFooler on texts that it cannot win."""
    victim = load_victim("pocket")
    watched = Watched(victim)

    def go(texts: Sequence[str]) -> tuple[float, float]:
        scores = victim.collect(victim.launch([(text,) for text in texts]))
        rows = [(text, int(chances[1] > chances[0])) for text, chances in zip(texts, scores, strict=True)]
        watched.seconds, watched.characters = 0.0, 0
        with mohs.attack(watched, rows, [attack], goal=NEVER, encoder="pocket", tagger="pocket") as run:
            found = run.effort()
            assert all(record.error is None for record in run.records())
            return found["cpu_seconds"], found["forwards"]

    go(["a good film and a fine story"])
    before = resident()
    spent, forwards = go(texts)
    return {
        "questions": forwards,
        "characters": float(watched.characters),
        "seconds": spent,
        "in the victim": watched.seconds,
        "the rest": spent - watched.seconds,
        "µs a question": spent / forwards * 1e6,
        "MB": max(peak() - before, 0.0),
    }


def words(count: int) -> Row:
    """One text of so many words; of short ones as many as make 200, and the numbers are for one."""
    source = sentences()
    texts = [" ".join(next(source) for _ in range(count)) for _ in range(max(1, 200 // count))]
    found = attacked("textfooler", texts)
    shared = ("questions", "characters", "seconds", "in the victim", "the rest")
    return {key: value / len(texts) if key in shared else value for key, value in found.items()}


def candidates(count: int) -> Row:
    """Forty texts of 20 words."""
    source = sentences()
    texts = [" ".join(next(source) for _ in range(20)) for _ in range(40)]
    constraints = (Constraint(SamePos(), at_least=1),)
    return attacked(TextFooler(source=Neighbours(k=count, min_cosine=-1.0), constraints=constraints), texts)


TABLES: dict[str, tuple[Callable[[int], Row], Sequence[int], Sequence[int], Sequence[str]]] = {
    "examples": (examples, (100, 1_000, 10_000, 100_000), (100, 1_000, 10_000), ("seconds", "MB")),
    "words": (
        words,
        (10, 20, 50, 100, 200, 500, 1_000, 2_000),
        (10, 50, 200, 1_000, 2_000),
        ("questions", "characters", "seconds", "in the victim", "the rest"),
    ),
    "candidates": (candidates, (5, 10, 20, 50, 100, 200), (5, 20, 100, 200), ("questions", "seconds")),
}


def slope(points: Sequence[tuple[float, float]]) -> float:
    """The exponent that fits best."""
    x, y = zip(*((math.log(one), math.log(max(other, 1e-9))) for one, other in points), strict=True)
    return linear_regression(x, y).slope


def measured(name: str, size: int) -> Row:
    """One row, in a process of its own."""
    here = [sys.executable, __file__, "--row", name, str(size)]
    answer = subprocess.run(here, check=True, stdout=subprocess.PIPE, text=True).stdout
    found: Row = json.loads(answer.splitlines()[-1])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer and smaller sizes, within two minutes")
    parser.add_argument("--only", choices=TABLES, help="one table")
    parser.add_argument("--row", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.row:
        print(json.dumps(TABLES[options.row[0]][0](int(options.row[1]))))
        return
    for name, (_, all_sizes, few, fitted) in TABLES.items():
        if options.only not in (None, name):
            continue
        rows: dict[int, Row] = {}
        for size in few if options.quick else all_sizes:
            rows[size] = row = measured(name, size)
            if len(rows) == 1:
                print(f"\n{name:>10} " + " ".join(f"{key:>15}" for key in row))
            print(f"{size:10,} " + " ".join(f"{shown(value):>15}" for value in row.values()), flush=True)
        for key in fitted:
            print(f"exponent of {key}: {slope([(size, row[key]) for size, row in rows.items()]):.2f}", end="   ")
        print(flush=True)


def shown(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


if __name__ == "__main__":
    main()
