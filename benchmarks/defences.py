"""What a defence costs beyond the forward passes of its versions, with a MiniLM-size victim of random weights.

    OMP_NUM_THREADS=1 python benchmarks/defences.py [--n 64] [--rounds 5] [--device auto]

The bundled reviews are answered twice: by the defended victim, and by the victim inside asked about the very versions
that the defence makes, which are made beforehand. Both see them in the same cohorts, as a search would send them, and
both find the pieces of all words in the tokenizer's memory. The defended victim looks up neighbours in word vectors of
its own, which were asked nothing before. In turns; the medians of the rounds, each of which has texts of its own.
On a CPU these are processor seconds, which other work on the machine does not count into.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from engine import minilm_size
from mohs.defences import defended
from mohs.models.victim import Fields, answers_of
from mohs.tasks.services import load_books
from mohs.text import Text
from mohs.text.dataset import Dataset

PATTERNS = ("ensemble({}, n=8)", "masking({}, n=8)", "safer({}, n=32)", "ranmask({}, n=32)", "encoding({})")


def candidates(n: int) -> list[Fields]:
    """Reviews, and as many texts of a search: every second one with a word left out."""
    texts = [example.text for example in Dataset("pocket", n=n)]
    return [text.drop(number % len(text)).fields if number % 2 else text.fields for number, text in enumerate(texts)]


def seconds(work: Callable[[], Any], clock: Callable[[], float]) -> float:
    """How long it takes."""
    started = clock()
    work()
    return clock() - started


def compare(pattern: str, inside: Any, texts: list[Fields], cohort: int, rounds: int) -> tuple[float, float, float]:
    """Seconds of the plain forwards, of the defended victim, and of making known versions, for a round's texts."""
    clock = time.perf_counter if inside._device.startswith("cuda") else time.process_time
    before: Any = defended(pattern, lambda name: inside, load_books)
    victim: Any = defended(pattern, lambda name: inside, load_books)
    size = len(texts) // rounds
    plain, whole, making = [], [], []
    for number in range(rounds):
        mine = texts[number * size : (number + 1) * size]
        cohorts = [mine[at : at + cohort] for at in range(0, len(mine), cohort)]
        made = [list(dict.fromkeys(v for fields in some for v in before.versions(fields))) for some in cohorts]
        for versions in made:
            inside.plan(versions)

        def forwards(made: list[list[Fields]] = made) -> None:
            for versions in made:
                answers_of(inside, versions)

        def defence(cohorts: list[list[Fields]] = cohorts) -> None:
            for some in cohorts:
                answers_of(victim, some)

        spent = {work: seconds(work, clock) for work in ((forwards, defence) if number % 2 else (defence, forwards))}
        plain.append(spent[forwards])
        whole.append(spent[defence])
        making.append(seconds(lambda mine=mine: [victim.versions(fields) for fields in mine], clock))
    return median(plain), median(whole), median(making)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=80, help="texts for each defence")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--cohort", type=int, default=16, help="texts that a search asks at a time")
    parser.add_argument("--device", default="auto")
    asked = parser.parse_args()
    texts = candidates(asked.n)
    words = sum(len(Text(*fields)) for fields in texts) / len(texts)
    with tempfile.TemporaryDirectory() as folder:
        inside = minilm_size(Path(folder), asked.device)
        list(answers_of(inside, texts))  # the first batches of a network are slow
        print(f"{len(texts)} texts of {words:.0f} words on average, {asked.cohort} at a time, {asked.rounds} rounds")
        print(f"{'defence':24} {'plain forwards':>14} {'defended':>9} {'ratio':>6} {'versions':>9}")
        for pattern in PATTERNS:
            name = pattern.format("V")
            plain, whole, making = compare(name, inside, texts, asked.cohort, asked.rounds)
            print(f"{name:24} {plain:13.3f}s {whole:8.3f}s {whole / plain:6.2f} {making:8.3f}s")


if __name__ == "__main__":
    main()
