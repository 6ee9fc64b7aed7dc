"""How much of one CUDA device does TextFooler use?

    python benchmarks/gpu.py [--quick] [--victims base minilm] [--lengths 16 32 64 256] [--workers 1 8] [--n 1000]

Victims of the size of BERT-base and of MiniLM-L6 with random weights: their answers mean nothing, their work is real.
Texts are words of the bundled reviews, cut to that many tokens. For each victim and length one run prints the limit
(forwards a second at the best batch size, nothing else), then for TextFooler with word constraints alone, and as it is
by default (with the bundled tagger and sentence encoder), forwards a second, their share of the limit, how long the
device was busy, host time a candidate (with several workers: their processor time, waiting included) and memory in use.
With one worker a small run goes before; several workers are new processes, whose loading is not counted, but what they
meet for the first time is.
Needs nothing from outside the checkout and its dependencies.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
import threading
import time
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

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

    def _forward(self, laid: Any) -> Any:
        if self._device == "cpu":
            return super()._forward(laid)
        import torch

        event: Any = torch.cuda.Event
        start, end = event(enable_timing=True), event(enable_timing=True)
        start.record()
        answers = super()._forward(laid)
        end.record()
        self.spans.append((start, end))
        self.rows += sum(part.rows for part in laid)
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
        _wait(self._device)
        return sum(float(start.elapsed_time(end)) for start, end in self.spans) / 1e3


def limit(victim: HfVictim, length: int) -> tuple[float, int]:
    """Texts a second through the model alone, rows of random tokens at the best batch size, without a mask."""
    import torch

    best = (0.0, 0)
    model, device = victim._model, victim._device
    with torch.inference_mode():
        for rows in (256, 512, 1024, 2048, 4096) if device != "cpu" else (8, 32):
            if rows * length > 262_144:
                continue
            ids = torch.randint(1000, 8000, (rows, length), device=device)
            times = 3 * max(1, 8192 // rows) if device != "cpu" else max(1, 64 // rows)
            for _ in range(2):
                model(input_ids=ids)
            _wait(device)
            started = time.perf_counter()
            for _ in range(times):
                model(input_ids=ids)
            _wait(device)
            best = max(best, (times * rows / (time.perf_counter() - started), rows))
    return best


def _wait(device: str) -> None:
    if device != "cpu":
        import torch

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


def measure(name: str, victim: Watched, length: int, n: int, workers: list[int], defaults: bool) -> None:
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
    for title, attack in (("words only", plain), ("default", TextFooler()))[: None if defaults else 1]:
        for count in workers:
            if count == 1:
                _attack(victim, examples[: max(8, n // 20)], attack)  # words and shapes that later recur
            victim.clear()
            with Driver(victim._device) as driver:
                run = _attack(victim, examples, attack, workers=count)
            effort = run.effort()
            forwards, seconds = effort["forwards"], effort["seconds"]
            busy = victim.busy / seconds
            host = (seconds - victim.waited if count == 1 else effort["cpu_seconds"]) / forwards * 1e6
            (summary,) = run.summary()
            print(
                f"  TextFooler {title:10}, {count:2} workers: {forwards / seconds:9,.0f} forwards/s, "
                f"{forwards / seconds / top:.2f} of the limit, {len(examples) / seconds:7,.0f} examples/s, device busy "
                f"{busy:.0%}, host {host:.1f} us a candidate, {driver.memory:.1f} GiB in use, {forwards:,.0f} forwards "
                f"in {len(victim.spans):,} batches, {seconds:.1f} s, {summary.success.hits} of "
                f"{summary.success.total} fooled",
                flush=True,
            )


class Driver:
    """The most memory that the device's driver saw in use."""

    def __init__(self, device: str) -> None:
        self.memory = 0.0
        self._asks = device != "cpu"

    def __enter__(self) -> Driver:
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        if self._asks:
            self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._stop.set()
        if self._asks:
            self._thread.join()

    def _watch(self) -> None:
        command = ["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"]
        while not self._stop.wait(0.2):
            said = subprocess.run(command, capture_output=True, text=True).stdout.splitlines()
            self.memory = max(self.memory, float(said[0]) / 1024)


def _attack(victim: Any, examples: list[mohs.Example], attack: Any, workers: int = 1) -> mohs.Run:
    return mohs.attack(victim, examples, [attack], tagger="pocket", vectors="pocket", encoder="pocket", workers=workers)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--victims", nargs="+", default=list(SIZES), choices=SIZES)
    parser.add_argument("--lengths", nargs="+", type=int, default=[16, 32, 64, 256])
    parser.add_argument("--workers", nargs="+", type=int, default=[1, 8])
    parser.add_argument("--n", type=int, default=1000)
    parser.add_argument("--dtype", default="bf16")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--no-defaults", dest="defaults", action="store_false", help="words only")
    parser.add_argument("--quick", action="store_true", help="length 32 alone, 200 examples")
    options = parser.parse_args()
    if options.quick:
        options.lengths, options.n = [32], 200
    for name in options.victims:
        with tempfile.TemporaryDirectory() as folder:
            random_classifier(Path(folder), **SIZES[name])
            victim = Watched(folder, device=options.device, dtype=options.dtype)
            for length in options.lengths:
                n = options.n * 32 // max(32, length)
                measure(name, victim, length, n, options.workers, options.defaults)


if __name__ == "__main__":
    main()
