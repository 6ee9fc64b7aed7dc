"""Naive adversarial training: attack the training data of a finished model, then train anew on all of it.

Hauser et al. 2021, Section 8.1.2. The stages, each of which a killed training goes on with:
1. a plain training, in the folder's checkpoint/plain;
2. the attack on its training data, with a journal of finished examples in checkpoint/attack;
3. the training asked for, from the first initial weights, on the originals and the texts that fooled the first model.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

from mohs.errors import BadInput
from mohs.models.load import load_victim
from mohs.records import Outcome
from mohs.records.store import RunStore
from mohs.text import Example, Text
from mohs.training.folder import WORKSHOP, TrainingFolder
from mohs.training.opponent import Opponent, attack_for_training, fooling, refuse_only_errors

ADVERSARIAL = "adversarial.jsonl"  # in the model's folder: the texts learnt besides the originals

ATTACKING = "attacking the training data with"  # what progress says, before the name of the attack

Told = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Naive:
    """Attack the training data of a model trained plainly, and train anew on originals and adversarial examples.

    By default all of the training data is attacked by TextFooler, without a limit of queries, as in the thesis. `n`
    examples are drawn with the training's seed, and `budget` limits the queries on each. Other methods of --harden
    apply to the last training. To learn from a run of another victim, write its texts to a file with `mohs augment
    --run RUN --data DATA` and train on that.
    """

    attack: str = "textfooler"
    n: int = 0  # examples to attack; 0: all
    budget: int = 0  # queries on each; 0: no limit

    def __post_init__(self) -> None:
        if self.n < 0 or self.budget < 0:
            raise BadInput(f"{self} does not fit; n and budget must be at least 0.")
        attack_for_training(self.attack, "naive")

    def chosen(self, examples: Sequence[Example], seed: int) -> list[tuple[int, Example]]:
        """The examples to attack, with their numbers."""
        numbers: Sequence[int] = range(len(examples))
        if 0 < self.n < len(examples):
            numbers = sorted(Random(f"{seed}/naive").sample(numbers, self.n))
        return [(number, examples[number]) for number in numbers]


@dataclass(frozen=True)
class Found:
    """The adversarial examples of the training data, and what they cost."""

    examples: list[Example]
    facts: Mapping[str, Any]


def plain_folder(folder: TrainingFolder) -> TrainingFolder:
    """The folder of the plain training."""
    return TrainingFolder.open(folder.path / WORKSHOP / "plain", {}, {"stage": "plain"})


def attacked(
    naive: Naive,
    folder: TrainingFolder,
    victim: str,
    examples: Sequence[Example],
    seed: int,
    device: str,
    tell: Told | None = None,
) -> Found:
    """Attack the examples, as far as the journal does not hold them yet, and gather the texts that fool the victim."""
    name, attack = attack_for_training(naive.attack, "naive")
    opponent = Opponent(name, attack, load_victim(victim, device=device), naive.budget, device)
    chosen = naive.chosen(examples, seed)
    place = folder.path / WORKSHOP / "attack"
    manifest = {"command": "attack", "config": {}, "tasks": [name]}
    identity = {"victim_fingerprint": opponent.victim.fingerprint, "attack": repr(naive), "services": opponent.identity}
    with closing(RunStore.open(place, manifest, identity)) as store:
        done = {example for _, example in store.done()}
        waiting = [(number, example) for number, example in chosen if example.id not in done]
        told = tell or (lambda what, finished, total: None)
        told(f"{ATTACKING} {name}", len(chosen) - len(waiting), len(chosen))
        began = time.perf_counter()
        for finished, (number, record) in enumerate(opponent.records(waiting, seed, alone=True), 1):
            store.add(number, record)
            store.spend(seconds=time.perf_counter() - began)
            began = time.perf_counter()
            told(f"{ATTACKING} {name}", len(chosen) - len(waiting) + finished, len(chosen))
        originals = {example.id: example for _, example in chosen}
        records = list(store.records())
        errors = [str(record.error) for record in records if record.outcome is Outcome.ERROR]
        refuse_only_errors(name, errors, len(records))
        found = [
            replace(originals[record.example_id], id=f"{record.example_id}+{name}", text=Text(*fields))
            for record in records
            if (fields := fooling(record)) is not None
        ]
        skipped = sum(record.outcome is Outcome.SKIPPED for record in records)
        facts = {"attack": name, "attacked": len(records) - skipped, "texts": len(found), "errors": len(errors)}
        return Found(found, {**facts, "seconds": round(store.effort().get("seconds", 0.0), 3)})


def write_examples(examples: Sequence[Example], beside: Path) -> None:
    """Write the adversarial examples into a folder, as data for `mohs train`."""
    with (beside / ADVERSARIAL).open("w", encoding="utf-8") as file:
        for example in examples:
            row = {"id": example.id, **dict(zip(example.names, example.text.fields, strict=True))}
            file.write(json.dumps({**row, "label": example.label}, ensure_ascii=False) + "\n")
