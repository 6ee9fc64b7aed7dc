"""What the judge costs: as a constraint for each candidate, and at the end of a TextFooler run with a word CNN.

    python benchmarks/judge.py [--n 100]

The CNN is trained on the bundled reviews. CPU seconds, one process; the second of two rounds for the candidates, with
words met before, as a search meets them.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import torch

import mohs
from mohs.models.tagger import PocketTagger
from mohs.report.verdicts import Verdicts
from mohs.text import judge
from mohs.text.dataset import Dataset
from mohs.text.judge import Place
from mohs.text.questions import Spot
from mohs.text.vectors import read_vectors
from mohs.training.train import train


def candidates() -> float:
    """Microseconds a candidate: for each word of 200 reviews its 50 nearest words."""
    book = judge.bundled()
    asked = []
    tagger, vectors = PocketTagger(), read_vectors("pocket")
    for example in Dataset("pocket", n=200):
        text = example.text
        found = vectors.near([word.lower() for word in text.words], 50, -1.0)
        for position, near in enumerate([[word for word, _ in words] for words in found]):
            if near:
                (tag,) = tagger.collect([Spot(*text.stretch(position, 4, 3))])
                asked.append((Place(text.words, position, tag.tag), near))
    count = sum(len(words) for _, words in asked)
    spent = 0.0
    for _ in range(2):
        started = time.process_time()
        for place, words in asked:
            book(place, words)
        spent = time.process_time() - started
    print(f"as a constraint: {1e6 * spent / count:.1f} µs a candidate ({count:,} candidates, {len(asked):,} places)")
    return 1e6 * spent / count


def final_texts(n: int) -> float:
    """The share of a run's time that judging its successes takes."""
    with tempfile.TemporaryDirectory() as folder:
        victim = train("cnn", Dataset("pocket:train"), Path(folder) / "cnn", epochs=5).victim
        started = time.process_time()
        with mohs.attack(victim, Dataset("pocket", n=n), "textfooler", no_judge=True) as run:
            searched = time.process_time() - started
            records = list(run.records())
            rounds = []
            for _ in range(2):
                started = time.process_time()
                Verdicts(records)
                rounds.append(time.process_time() - started)
            started = time.process_time()
            (summary,) = run.view(judge="pocket").summary()
            shown = time.process_time() - started
    print(f"TextFooler, a word CNN, {n} examples: {searched:.2f} s, {summary.success.hits} successes")
    print(f"judging them: {rounds[0]:.2f} s first, {rounds[1]:.2f} s again; all figures with intervals {shown:.2f} s")
    print(f"share: {rounds[0] / searched:.1%} first, {rounds[1] / searched:.1%} again")
    return rounds[0] / searched


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=100)
    options = parser.parse_args()
    torch.set_num_threads(1)
    candidates()
    final_texts(options.n)


if __name__ == "__main__":
    main()
