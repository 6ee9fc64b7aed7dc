"""Is the bias of sampled levels that of all texts? And what does weighing cost?

    python benchmarks/sampled_bias.py --assets DIR [--sentences 10] [--seeds 5] [--breadth 8] [--most 1000]

DIR holds data/sst2 and models/minilm-mlm. Used are the first sentences of SST-2's training part with the word *his*,
every other one of 5 to 12 words and of 10 to 12 words, so that neighbourhoods at k = 2 differ in size and can still be
asked completely. Printed: B(his|her, 2) of the bundled classifier over all texts, and over samples that are weighed by
the size of the neighbourhood, or by how many texts were drawn (`--by-sample`), with the questions to the masked
language model.
"""

from __future__ import annotations

import argparse
import gzip
import json
from pathlib import Path
from statistics import mean
from typing import Any

import mohs


def sentences(file: Path, count: int) -> list[tuple[str, int]]:
    """Sentences that fit the pair, every other one of any length and a long one."""
    found: list[tuple[str, int]] = []
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            words = row["text"].lower().split()
            fits = words.count("his") == 1 and "her" not in words
            if fits and 5 + 5 * (len(found) % 2) <= len(words) <= 12 and len(found) < count:
                found.append((row["text"], row["label"]))
    return found


def main() -> None:
    """Print one line a run."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--assets", type=Path, required=True)
    for name, value in (("sentences", 10), ("seeds", 5), ("breadth", 8), ("most", 1000)):
        asked.add_argument(f"--{name}", type=int, default=value)
    given = asked.parse_args()
    data = sentences(given.assets / "data" / "sst2" / "train.jsonl.gz", given.sentences)
    pairs = mohs.bias.Pairs("his", (("his", "her"),), frozenset({"his", "her", "he", "she", "him"}))

    def measured(name: str, **options: Any) -> float:
        model = f"hf:{given.assets / 'models' / 'minilm-mlm'}"
        with mohs.token_bias("pocket", data, pairs, masked_lm=model, k=2, **options) as run:
            (found,) = [one for one in run.biases() if one.k == 2]
            effort = run.effort()
        texts = f"{found.neighbours:,} texts of {found.size:,.0f}"
        cost = f"{effort['masked_lm_asked']:,.0f} masked questions, {effort['cpu_seconds']:.1f} CPU s"
        print(f"{name:12} B = {found.bias:+.4f}, {texts}, {cost}", flush=True)
        return found.bias

    exact = measured("exact", most=10**9)
    for name, by_sample in (("weighed", False), ("by sample", True)):
        sampled = {"most": given.most, "breadth": given.breadth, "by_sample": by_sample}
        values = [measured(f"{name} {seed}", seed=seed, **sampled) for seed in range(given.seeds)]
        print(f"{name}: mean {mean(values):+.4f}, off by {mean(values) - exact:+.4f}", flush=True)


if __name__ == "__main__":
    main()
