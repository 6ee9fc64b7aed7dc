"""How long do the neighbours of a dataset's vocabulary take?

    python benchmarks/neighbours.py [--vectors DIR] [--k 50]

For the first 1,000 and 10,000 words and for all of them: the first time, and from the cache in a new run; beside a loop
that sorts all cosines of one word after the other, measured on a sample in the same run. Without --vectors the table is
random, 71,450 rows of 100 numbers: as large as counter-fitted vectors for the words of a few corpora of reviews.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from mohs.text.vectors import Near, Vectors, read_vectors

SAMPLE = 200


def seconds(vectors: Vectors, words: list[str], k: int) -> tuple[float, Near]:
    start = time.perf_counter()
    near = vectors.near(words, k)
    return time.perf_counter() - start, near


def one_by_one(vectors: Vectors, words: list[str], k: int) -> tuple[float, Near]:
    start = time.perf_counter()
    found: Near = []
    for word in words:
        row = vectors.index[word]
        cosines = vectors.unit @ vectors.unit[row]
        order = np.argsort(-cosines, kind="stable")
        best = [other for other in order[: k + 1].tolist() if other != row][:k]
        found.append([(vectors.words[other], float(cosines[other])) for other in best])
    return time.perf_counter() - start, found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vectors", help="a folder or file of word vectors")
    parser.add_argument("--k", type=int, default=50)
    options = parser.parse_args()

    start = time.perf_counter()
    if options.vectors:
        vectors = read_vectors(options.vectors)
    else:
        table = np.random.default_rng(0).normal(size=(71_450, 100)).astype(np.float32)
        vectors = Vectors("random", tuple(f"w{row}" for row in range(len(table))), table)
    _ = vectors.unit, vectors.index, vectors.fingerprint
    rows, width = vectors.table.shape
    print(f"{vectors.name}: {rows} x {width}, read in {time.perf_counter() - start:.2f} s; k = {options.k}")

    sample = [vectors.words[row] for row in np.random.default_rng(1).choice(rows, min(SAMPLE, rows), replace=False)]
    loop, sorted_near = one_by_one(vectors, sample, options.k)
    print(f"one word after the other, {len(sample)} words: {loop / len(sample) * 1000:.2f} ms a word")

    for size in sorted({size for size in (1_000, 10_000, rows) if size <= rows}):
        words = list(vectors.words[:size])
        with tempfile.TemporaryDirectory() as folder:
            first, near = seconds(replace(vectors, cache=Path(folder)), words, options.k)
            again, cached = seconds(replace(vectors, cache=Path(folder)), words, options.k)
            megabytes = sum(file.stat().st_size for file in Path(folder).rglob("*.sqlite")) / 1e6
        assert near == cached
        print(
            f"{size:6} words: first {first:6.2f} s, from the cache {again:5.2f} s ({megabytes:.1f} MB), "
            f"one by one about {loop / len(sample) * size:6.1f} s: {loop / len(sample) * size / first:.1f} times"
        )
    _, together = seconds(replace(vectors, cache=None), sample, options.k)
    same = sum([a for a, _ in one] == [b for b, _ in other] for one, other in zip(together, sorted_near, strict=True))
    print(f"lists with the same words in the same order as the loop's: {same} of {len(sample)}")


if __name__ == "__main__":
    main()
