"""What does the host do for a candidate, if the model answers at once?

    python benchmarks/host.py [--n 1000] [--tokens 32]

TextFooler with word constraints alone, on texts of exactly so many tokens, against a transformer whose layers are left
out: its rows are made and batched as for a CUDA device, and any answer will do. Prints microseconds of processor time a
candidate, in one run, for a victim that is asked with strings and for one that is asked with sweeps (a text with each
of some words at a place, see mohs.text.sweep). Needs nothing from outside the checkout and its dependencies.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from gpu import texts

import mohs
from engine import random_classifier
from mohs.attacks.textfooler import TextFooler
from mohs.models.hf import HfVictim


class Instant(HfVictim):
    """Never fooled, at no cost: the score of the other class depends on the row."""

    instant = False

    def as_on_cuda(self) -> None:
        """Batch as for a CUDA device, and answer at once from now on."""
        self._padded, self._tokens = True, 65_536
        self.exact, self.crowd, self.few, self.together, self.in_flight = True, 1024, 1, 8, 4
        self.instant, self.seconds = True, 0.0

    def _forward(self, laid: Sequence[Any]) -> Any:
        if not self.instant:
            return super()._forward(laid)
        began = time.process_time()
        ids = torch.frombuffer(bytearray(b"".join(part.ids for part in laid)), dtype=torch.int32)
        ids = ids.view(sum(part.rows for part in laid), -1)
        other = (ids * torch.arange(1, ids.shape[1] + 1)).sum(1) % 1000
        answers = torch.stack([torch.full_like(other, 5.0, dtype=torch.float32), other / 1000], 1)
        self.seconds += time.process_time() - began
        return answers


class WithStrings(Instant):
    """The same, asked with strings."""

    inside = None


def measured(kind: type[Instant], folder: str, n: int, tokens: int) -> tuple[float, int]:
    """Microseconds of the host a candidate, and how many candidates there were."""
    victim = kind(folder, device="cpu")
    examples = [mohs.Example.of(text, 0, id=str(i)) for i, text in enumerate(texts(victim, tokens, n))]
    victim.as_on_cuda()
    attack = replace(TextFooler(), constraints=(), similarity=None)

    def run(some: list[mohs.Example]) -> dict[str, float]:
        with mohs.attack(victim, some, [attack], tagger="pocket", vectors="pocket", fair=False) as found:
            return found.effort()

    run(examples[: max(8, n // 20)])
    victim.seconds = 0.0
    effort = run(examples)
    return (effort["cpu_seconds"] - victim.seconds) / effort["forwards"] * 1e6, int(effort["forwards"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=1000)
    parser.add_argument("--tokens", type=int, default=32)
    options = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        sizes = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 64}
        random_classifier(Path(folder), **sizes)
        found = {}
        for turn in range(2):
            for kind in (WithStrings, Instant):
                cost, candidates = measured(kind, folder, options.n, options.tokens)
                found[kind] = min(cost, found.get(kind, cost))
                print(
                    f"turn {turn + 1}, {kind.__name__}: {cost:.1f} us a candidate, {candidates:,} candidates",
                    flush=True,
                )
    ratio = found[WithStrings] / found[Instant]
    print(f"best of two: {found[WithStrings]:.1f} us with strings, {found[Instant]:.1f} with sweeps, {ratio:.2f} times")


if __name__ == "__main__":
    main()
