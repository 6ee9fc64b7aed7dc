"""What hardening costs: the seconds of a step with each method, beside those of a plain step.

    python benchmarks/hardening.py [--quick] [--device cuda] [--data pocket:train]

Trains a word CNN and a MiniLM-size encoder (random weights, six layers of 384) on some batches, plainly and with each
method, one after the other in each round, so that a busy machine slows all alike. Printed is the time relative to a
plain step on the same batch. Augmentation is also compared with a plain step on the doubled batch (the texts and
their augmented copies, made before): how much more than learning twice the texts it costs to make them. That ratio
should be at most 1.6.

The first round is not counted: it fills the caches of candidates. On a data set, that happens in the first epoch.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

import torch

from engine import random_classifier
from mohs.text.dataset import Dataset
from mohs.training.hardening import Batch, hard_step, hardenings
from mohs.training.hf_learner import HfLearner
from mohs.training.learner import Learner, WordLearner
from mohs.training.recipe import recipe_for

FOR_WORDS = ("augment", "random", "freelb", "smart", "geometry:words=neighbours")
FOR_ENCODERS = ("augment", "random", "freelb", "smart", "infobert")  # an attack in each step would take minutes
LIMIT = 1.6  # of augmentation over plain training on the doubled batch


def measured(learner: Learner, batches: list[Batch], methods: list[str], rounds: int) -> dict[str, float]:
    """The median seconds over the rounds, for all batches together: of the processor, or of the clock on CUDA."""
    optimizer = torch.optim.AdamW([p for p in learner.module.parameters() if p.requires_grad], lr=1e-6)
    ready = {name: hardenings([name]) for name in methods}
    for (method,) in ready.values():
        if hasattr(method, "attach"):
            method.attach(learner, batches[0].texts[0], 0)
    learner.module.train()
    copies = [doubled(learner, batch, ready["augment"][0]) for batch in batches]

    def stepping(given: list[Batch], harden: Any) -> Callable[[], None]:
        def run() -> None:
            for number, batch in enumerate(given):
                optimizer.zero_grad()
                if harden:
                    hard_step(learner, batch, harden, number)
                else:
                    logits = learner.logits(batch.rows)
                    labels = torch.tensor(batch.labels).to(logits.device)
                    torch.nn.functional.cross_entropy(logits, labels).backward()  # type: ignore[no-untyped-call]
                torch.nn.utils.clip_grad_norm_(learner.module.parameters(), 1.0)
                optimizer.step()

        return run

    work = {"plain": stepping(batches, None), "doubled": stepping(copies, None)}
    work |= {name: stepping(batches, harden) for name, harden in ready.items()}
    cuda = str(next(learner.module.parameters()).device) != "cpu"
    clock = time.perf_counter if cuda else time.process_time
    seconds: dict[str, list[float]] = {name: [] for name in work}
    for turn in range(rounds + 1):
        for name, run in work.items():
            began = clock()
            run()
            if cuda:
                torch.cuda.synchronize()
            if turn:
                seconds[name].append(clock() - began)
    return {name: median(found) for name, found in seconds.items()}


def doubled(learner: Learner, batch: Batch, method: Any) -> Batch:
    """The texts with copies of them, already made."""
    importance = [[0.0] * len(text) for text in batch.parsed()]
    texts = method.texts(learner, batch, importance, Random(0))
    return Batch([*batch.rows, *learner.rows(texts)], batch.labels * 2, [*batch.texts, *texts])


def batches_of(learner: Learner, data: Dataset, size: int, count: int) -> list[Batch]:
    """Batches of texts of similar length, spread over the data, as training has them."""
    found = sorted(data, key=lambda example: len(example.text))
    starts = [round(place * (len(found) - size) / max(count - 1, 1)) for place in range(count)]
    batches = []
    for start in starts:
        part = found[start : start + size]
        texts = [example.text.fields for example in part]
        batches.append(Batch(learner.rows(texts), [example.label for example in part], texts, part))
    return batches


def report(name: str, found: dict[str, float], batches: int) -> None:
    """The lines of one learner."""
    plain = found["plain"]
    twice = found["doubled"] / plain
    print(f"{name}: a plain step takes {plain / batches * 1e3:.1f} ms, on the doubled batch {twice:.2f} x")
    for method, seconds in found.items():
        if method not in ("plain", "doubled"):
            print(f"  {method:26} {seconds / plain:6.2f} x plain")
    for method in ("augment", "augment:words=wordnet", "random"):
        if method in found:
            ratio = found[method] / found["doubled"]
            verdict = f"at most {LIMIT}: {'yes' if ratio <= LIMIT else 'NO'}"
            print(f"  {method:26} {ratio:6.2f} x plain on the doubled batch ({verdict})")


def chosen(given: list[str] | None, usual: tuple[str, ...]) -> list[str]:
    """The methods to measure; augmentation first."""
    return list(dict.fromkeys(["augment", *(given or usual)]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer batches and rounds")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--data", default="pocket:train")
    parser.add_argument("--methods", nargs="*", help="these; default: all that need nothing downloaded")
    options = parser.parse_args()
    torch.manual_seed(0)
    data = Dataset(options.data)
    texts = [example.text.fields for example in data]
    classes = tuple(str(number) for number in range(max(example.label for example in data) + 1))
    with tempfile.TemporaryDirectory() as folder:
        word: Learner = WordLearner(recipe_for("cnn", {}), texts, classes)
        word.module.to(options.device)
        count = 6 if options.quick else 24
        found = measured(word, batches_of(word, data, 32, count), chosen(options.methods, FOR_WORDS), 3)
        report("word CNN, batches of 32", found, count)
        random_classifier(
            Path(folder), hidden_size=384, num_hidden_layers=6, num_attention_heads=12, intermediate_size=1536
        )
        encoder = HfLearner(recipe_for(f"hf:{folder}", {"max_words": 128}), texts, classes)
        encoder.module.to(options.device)
        size, count = (8, 2) if options.quick else (32, 4)
        batches = batches_of(encoder, data, size, count)
        found = measured(encoder, batches, chosen(options.methods, FOR_ENCODERS), 2 if options.quick else 3)
        report(f"MiniLM size, batches of {size}", found, count)


if __name__ == "__main__":
    main()
