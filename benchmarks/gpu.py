"""How much of one CUDA device does TextFooler use?

    python benchmarks/gpu.py [--quick] [--victims base minilm] [--lengths 16 32 64 256] [--n 1000] [--dtype bf16]

Victims of the size of BERT-base and of MiniLM-L6 with random weights: their answers mean nothing, their work is real.
Texts are words of the bundled reviews, cut to that many tokens. For each victim and length one run prints the limit
(forwards a second at the best batch size, nothing else), then for TextFooler with word constraints alone, and as it is
by default (with the bundled tagger and sentence encoder), forwards a second, their share of the limit, how long the
device was busy, host time a candidate and peak memory. Needs nothing from outside the checkout and its dependencies.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import torch

import mohs
from engine import random_classifier
from mohs.attacks.textfooler import TextFooler
from mohs.models.hf import HfVictim
from mohs.text.dataset import Dataset

SIZES = {
    "base": {"hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 3072},
    "minilm": {"hidden_size": 384, "num_hidden_layers": 6, "num_attention_heads": 12, "intermediate_size": 1536},
}


class Watched(HfVictim):
    """A victim that notes when the device works for it, and how long the host waits for that."""

    def __init__(self, *args: Any, **options: Any) -> None:
        self.waited = 0.0
        self.rows = 0
        self.spans: list[tuple[Any, Any]] = []
        super().__init__(*args, **options)

    def _forward(self, rows: Any) -> Any:
        if self._device == "cpu":
            return super()._forward(rows)
        event: Any = torch.cuda.Event
        start, end = event(enable_timing=True), event(enable_timing=True)
        start.record()
        answers = super()._forward(rows)
        end.record()
        self.spans.append((start, end))
        self.rows += len(rows)
        return answers

    def answers(self, ticket: Any) -> Any:
        started = time.perf_counter()
        found = super().answers(ticket)
        self.waited += time.perf_counter() - started
        return found

    def clear(self) -> None:
        self.waited, self.rows = 0.0, 0
        self.spans.clear()

    @property
    def busy(self) -> float:
        """Seconds in which the device worked on batches."""
        if not self.spans:
            return 0.0
        torch.cuda.synchronize()
        return sum(float(start.elapsed_time(end)) for start, end in self.spans) / 1e3


def limit(victim: HfVictim, length: int) -> tuple[float, int]:
    """Texts a second through the model alone, rows of random tokens at the best batch size, without a mask."""
    best = (0.0, 0)
    model, device = victim._model, victim._device
    with torch.inference_mode():
        for rows in (256, 512, 1024, 2048, 4096) if device != "cpu" else (8, 32):
            if rows * length > 262_144:
                continue
            ids = torch.randint(1000, 8000, (rows, length), device=device)
            times = 3 if device != "cpu" else 1
            for _ in range(2):
                model(input_ids=ids)
            _wait(device)
            started = time.perf_counter()
            for _ in range(times * max(1, 8192 // rows)):
                model(input_ids=ids)
            _wait(device)
            best = max(best, (times * max(1, 8192 // rows) * rows / (time.perf_counter() - started), rows))
    return best


def _wait(device: str) -> None:
    if device != "cpu":
        torch.cuda.synchronize()


def texts(victim: HfVictim, length: int, n: int) -> list[str]:
    """Distinct texts of exactly so many tokens, special ones included."""
    words = [word for example in Dataset("pocket:train") for word in example.text.words if word.isalpha()]
    chance = Random(length)
    found: dict[str, None] = {}
    room = length - 2
    while len(found) < n:
        start = chance.randrange(len(words) - room)
        taken = words[start : start + room]
        while len(victim.composer.ids([" ".join(taken)])[0]) > room:
            taken.pop()
        while taken and len(victim.composer.ids([" ".join(taken)])[0]) < room:
            taken.append("a")
        found[" ".join(taken)] = None
    return list(found)


def measure(name: str, victim: Watched, length: int, n: int) -> None:
    """The lines of one victim and length."""
    top, rows = limit(victim, length)
    print(f"\n{name}, {length} tokens: limit {top:,.0f} texts/s at {rows} rows", flush=True)
    originals = texts(victim, length, n)
    batches = victim.plan([(text,) for text in originals])
    labels = {
        item[0]: int(scores[1] > scores[0])
        for batch in batches
        for item, scores in zip(batch, victim.collect(victim.launch(batch)), strict=True)
    }
    examples = [mohs.Example.of(text, labels[text], id=str(i)) for i, text in enumerate(originals)]
    plain = replace(TextFooler(), constraints=(), similarity=None)
    for title, attack in (("words only", plain), ("default", TextFooler())):
        _attack(victim, examples[: max(8, n // 20)], attack)  # words and shapes that later recur
        victim.clear()
        if victim._device != "cpu":
            torch.cuda.reset_peak_memory_stats()
        run, seconds = _attack(victim, examples, attack)
        forwards = run.effort()["forwards"]
        (summary,) = run.summary()
        memory = torch.cuda.max_memory_allocated() / 2**30 if victim._device != "cpu" else 0.0
        busy = victim.busy
        print(
            f"  TextFooler {title:10}: {forwards / seconds:9,.0f} forwards/s, {forwards / seconds / top:.2f} of the "
            f"limit, {len(examples) / seconds:7,.0f} examples/s, device busy {busy / seconds:.0%}, "
            f"host {(seconds - victim.waited) / forwards * 1e6:.1f} us a candidate, peak {memory:.1f} GiB, "
            f"{forwards:,.0f} forwards in {len(victim.spans)} batches, {summary.success.hits} of "
            f"{summary.success.total} fooled",
            flush=True,
        )


def _attack(victim: Any, examples: list[mohs.Example], attack: Any) -> tuple[mohs.Run, float]:
    run = mohs.attack(victim, examples, [attack], tagger="pocket", vectors="pocket", encoder="pocket")
    return run, run.effort()["seconds"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--victims", nargs="+", default=list(SIZES), choices=SIZES)
    parser.add_argument("--lengths", nargs="+", type=int, default=[16, 32, 64, 256])
    parser.add_argument("--n", type=int, default=1000)
    parser.add_argument("--dtype", default="bf16")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--quick", action="store_true", help="length 32 alone, 200 examples")
    options = parser.parse_args()
    if options.quick:
        options.lengths, options.n = [32], 200
    for name in options.victims:
        with tempfile.TemporaryDirectory() as folder:
            random_classifier(Path(folder), **SIZES[name])
            victim = Watched(folder, device=options.device, dtype=options.dtype)
            for length in options.lengths:
                measure(name, victim, length, options.n * 32 // max(32, length))


if __name__ == "__main__":
    main()
