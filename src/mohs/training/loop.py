"""The training loop: mini-batches of texts of similar length, early stopping, and checkpoints to resume from.

No random state is carried from step to step. The order of an epoch and the dropout of a step depend only on the seed
and the number of the epoch or step. So a training that was killed and resumed ends with the same weights as one that
was not. On one CPU with a fixed number of threads the weights are bit-identical. CUDA kernels may add in another
order, so there they are close but not equal.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from random import Random
from typing import Any, NamedTuple

import torch
from torch.nn.functional import cross_entropy

from mohs.errors import BadInput
from mohs.text import Example
from mohs.training.folder import TrainingFolder
from mohs.training.hardening import Batch, Hardening, Made, Trainer, hard_step
from mohs.training.learner import Learner
from mohs.training.recipe import Recipe

_POOL = 50  # batches sorted by length together: little padding, but still a random order
_DEV_BATCH = 128


class Progress(NamedTuple):
    """The progress of a training after each step; after each epoch also `right`."""

    epoch: int  # from 1
    epochs: int  # the maximum
    step: int  # over all epochs
    steps: int
    loss: float  # the mean over the epoch so far
    right: int | None = None  # dev examples classified correctly
    of: int | None = None
    best: bool = False  # better than every epoch before


Report = Callable[[Progress], None]
Check = Callable[["Learner", "Set"], tuple[int, float]]


class Set(NamedTuple):
    """Encoded examples with their labels: numbers of classes, or a probability for each class."""

    rows: list[Any]
    labels: list[Any]
    texts: Sequence[tuple[str, ...]] = ()  # for methods that write other texts
    examples: Sequence[Example] = ()  # for those that attack


@dataclass(frozen=True)
class Place:
    """The position in a training. The rest is in the weights and the optimizer, or is drawn again from the seed."""

    epoch: int = 0
    batch: int = 0  # batches finished in this epoch
    loss: float = 0.0  # summed over the examples of this epoch
    seen: int = 0
    best_epoch: int = -1
    best_right: int = -1
    history: tuple[tuple[float, int], ...] = ()  # for each epoch: mean loss, correct dev examples
    seconds: tuple[float, ...] = ()  # for each epoch: how long its steps took, without dev data and checkpoints
    spent: float = 0.0  # seconds of the steps of this epoch so far
    made: tuple[int, ...] = ()  # for each epoch: texts made before it, by methods that do so

    def stale(self, patience: int) -> bool:
        """Whether dev accuracy has not improved for `patience` epochs."""
        return self.best_epoch >= 0 and self.epoch - 1 - self.best_epoch >= patience


def fit(
    learner: Learner,
    recipe: Recipe,
    train: Set,
    dev: Set,
    folder: TrainingFolder,
    *,
    save_every: int,
    report: Report | None = None,
    check: Check | None = None,
    of: int | None = None,
    harden: Sequence[Hardening] = (),
    trainer: Trainer | None = None,
) -> Place:
    """Train from the start or from the folder's checkpoint. The module ends with the weights of the best epoch.

    The best is the one with most right on dev. `check` counts them, by default as `evaluate` does, of at most `of`.
    `harden` are methods that make the model harder to fool. `trainer` trains bounds instead, and counts what is
    certified; epochs before its first are never the best.
    """
    module = learner.module
    optimizer = _optimizer(module, recipe)
    place = _restore(folder, module, optimizer)
    batches = math.ceil(len(train.rows) / recipe.batch)
    steps = recipe.epochs * batches
    tell = report or (lambda progress: None)
    while place.epoch < recipe.epochs and not place.stale(recipe.patience):
        order = batches_of([len(row) for row in train.rows], recipe.batch, f"{recipe.seed}/{place.epoch}")
        began = time.perf_counter()
        others = _made(learner, recipe, train, place.epoch, folder, harden)
        made = (*place.made[: place.epoch], sum(map(len, others.values())))
        place = replace(place, spent=place.spent + time.perf_counter() - began, made=made)
        for batch in order[place.batch :]:
            step = place.epoch * batches + place.batch
            for group in optimizer.param_groups:
                group["lr"] = recipe.rate(step, steps)
            began = time.perf_counter()
            if trainer is None:
                loss = _step(learner, optimizer, recipe, train, batch, step, harden, others)
            else:
                when = place.epoch + place.batch / batches
                loss = _bounds_step(trainer, learner, optimizer, recipe, train, batch, step, when)
            spent = place.spent + time.perf_counter() - began
            if not math.isfinite(loss):
                raise _diverged(place.epoch, recipe, folder)
            seen, total = place.seen + len(batch), place.loss + loss * len(batch)
            place = replace(place, batch=place.batch + 1, loss=total, seen=seen, spent=spent)
            tell(Progress(place.epoch + 1, recipe.epochs, step + 1, steps, place.loss / place.seen))
            if (step + 1) % save_every == 0 and place.batch < batches:
                folder.save(_state(module, optimizer), asdict(place))
        right, dev_loss = (check or (evaluate if trainer is None else trainer.check))(learner, dev)
        if not math.isfinite(dev_loss):
            raise _diverged(place.epoch, recipe, folder)
        mean, epoch = place.loss / place.seen, place.epoch
        better = right > place.best_right and (trainer is None or epoch >= trainer.first(recipe.epochs))
        seconds, history = (*place.seconds, place.spent), (*place.history, (mean, right))
        place = replace(place, epoch=epoch + 1, batch=0, loss=0.0, seen=0, history=history, seconds=seconds, spent=0.0)
        if better:
            place = replace(place, best_epoch=epoch, best_right=right)
            folder.save_best(epoch, _learned(module))
        folder.save(_state(module, optimizer), asdict(place))
        most = len(dev.rows) if of is None else of
        tell(Progress(epoch + 1, recipe.epochs, place.epoch * batches, steps, mean, right, most, better))
    module.load_state_dict(folder.saved_best(place.best_epoch), strict=False)
    return place


def batches_of(sizes: Sequence[int], batch: int, seed: str) -> list[list[int]]:
    """All example numbers in random order, in batches of similar length. Deterministic for a seed."""
    chance = Random(seed)
    order = list(range(len(sizes)))
    chance.shuffle(order)
    batches = []
    for start in range(0, len(order), batch * _POOL):
        pool = sorted(order[start : start + batch * _POOL], key=sizes.__getitem__)
        batches += [pool[at : at + batch] for at in range(0, len(pool), batch)]
    chance.shuffle(batches)
    return batches


def evaluate(learner: Learner, data: Set) -> tuple[int, float]:
    """The number of correct examples, and the mean loss."""
    learner.module.eval()
    order = sorted(range(len(data.rows)), key=lambda number: len(data.rows[number]))
    right, loss = 0, 0.0
    with torch.inference_mode():
        for start in range(0, len(order), _DEV_BATCH):
            part = order[start : start + _DEV_BATCH]
            logits = learner.logits([data.rows[number] for number in part]).cpu()
            labels = torch.tensor([data.labels[number] for number in part])
            right += int((logits.argmax(1) == labels).sum())
            loss += float(cross_entropy(logits, labels, reduction="sum"))
    return right, loss / len(order)


def drawn(*parts: object) -> int:
    """A torch seed from the parts that identify a draw."""
    return int.from_bytes(hashlib.sha256("/".join(map(str, parts)).encode()).digest()[:8], "big") >> 1


def _made(
    learner: Learner,
    recipe: Recipe,
    train: Set,
    epoch: int,
    folder: TrainingFolder,
    harden: Sequence[Any],
) -> dict[int, list[tuple[str, ...]]]:
    """The texts that methods make before an epoch, by the number of their original. They are kept to resume from."""
    found = folder.made(epoch)
    if found is None:
        methods = [method for method in harden if hasattr(method, "of_epoch")]
        if not methods:
            return {}
        seed = drawn(recipe.seed, "made", epoch)
        found = [made for method in methods for made in method.of_epoch(learner, train.examples, epoch, seed)]
        folder.save_made(epoch, found)
    texts: dict[int, list[tuple[str, ...]]] = {}
    for number, text in found:
        texts.setdefault(number, []).append(text)
    return texts


def _step(
    learner: Learner,
    optimizer: torch.optim.Optimizer,
    recipe: Recipe,
    train: Set,
    batch: list[int],
    step: int,
    harden: Sequence[Hardening],
    others: Mapping[int, Sequence[tuple[str, ...]]],
) -> float:
    torch.manual_seed(drawn(recipe.seed, "step", step))
    learner.module.train()
    if harden:
        made = [(place, text) for place, number in enumerate(batch) for text in others.get(number, ())]
        optimizer.zero_grad()
        found = hard_step(learner, _batch(train, batch, made), harden, drawn(recipe.seed, "harden", step))
        torch.nn.utils.clip_grad_norm_(learner.module.parameters(), recipe.clip)
        optimizer.step()
        return found
    logits = learner.logits([train.rows[number] for number in batch])
    loss = cross_entropy(logits, torch.tensor([train.labels[number] for number in batch]).to(logits.device))
    optimizer.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    torch.nn.utils.clip_grad_norm_(learner.module.parameters(), recipe.clip)
    optimizer.step()
    return float(loss.detach())


def _bounds_step(
    trainer: Trainer,
    learner: Learner,
    optimizer: torch.optim.Optimizer,
    recipe: Recipe,
    train: Set,
    batch: list[int],
    step: int,
    epoch: float,
) -> float:
    torch.manual_seed(drawn(recipe.seed, "step", step))
    learner.module.train()
    optimizer.zero_grad()
    loss = trainer.backward(_batch(train, batch), epoch, recipe.epochs)
    torch.nn.utils.clip_grad_norm_(learner.module.parameters(), recipe.clip)
    optimizer.step()
    return loss


def _batch(train: Set, numbers: list[int], made: Sequence[Made] = ()) -> Batch:
    parts: list[list[Any]] = [[part[number] for number in numbers] for part in train]
    return Batch(parts[0], parts[1], parts[2], parts[3], made)


def _diverged(epoch: int, recipe: Recipe, folder: TrainingFolder) -> BadInput:
    return BadInput(
        f"The loss became infinite or NaN in epoch {epoch + 1} with --lr {recipe.lr:g}; "
        f"use a lower rate, such as --lr {recipe.lr / 10:g}, and another --out than {folder.path}."
    )


def _optimizer(module: torch.nn.Module, recipe: Recipe) -> torch.optim.Optimizer:
    learned = [parameter for parameter in module.parameters() if parameter.requires_grad]
    groups = [
        {"params": [p for p in learned if p.ndim > 1], "weight_decay": recipe.decay},
        {"params": [p for p in learned if p.ndim <= 1], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=recipe.lr)


def _learned(module: torch.nn.Module) -> dict[str, Any]:
    """Copies of all weights except the frozen ones, which never change."""
    frozen = {name for name, parameter in module.named_parameters() if not parameter.requires_grad}
    state = module.state_dict()
    return {name: tensor.detach().cpu().clone().contiguous() for name, tensor in state.items() if name not in frozen}


def _state(module: torch.nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, Any]:
    tensors = {f"model/{name}": tensor for name, tensor in _learned(module).items()}
    for number, entries in optimizer.state_dict()["state"].items():
        for name, value in entries.items():
            tensors[f"optimizer/{number}/{name}"] = value.detach().cpu().clone().contiguous()
    return tensors


def _restore(folder: TrainingFolder, module: torch.nn.Module, optimizer: torch.optim.Optimizer) -> Place:
    found = folder.saved()
    if found is None:
        return Place()
    tensors, place = found
    state: dict[int, dict[str, Any]] = {}
    model: dict[str, Any] = {}
    for key, tensor in tensors.items():
        kind, _, rest = key.partition("/")
        if kind == "model":
            model[rest] = tensor
        else:
            number, _, name = rest.partition("/")
            state.setdefault(int(number), {})[name] = tensor
    module.load_state_dict(model, strict=False)
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})
    history = tuple((float(loss), int(right)) for loss, right in place["history"])
    seconds, made = tuple(map(float, place.get("seconds", ()))), tuple(map(int, place.get("made", ())))
    return Place(**{**place, "history": history, "seconds": seconds, "made": made})
